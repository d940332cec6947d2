//! The check of setup times between consecutive tasks on each machine.

use std::collections::BTreeMap;

use super::{Violation, name};
use crate::model::{Instance, ResourceId, ResourceKind, SetupMachine};
use crate::schedule::{Placement, Schedule};

/// Returns a violation for each task that starts before the setup after the previous task on a machine has ended. Tasks
/// must not overlap on a machine.
pub(super) fn check(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    if !instance.has_setups() {
        return Vec::new();
    }
    // The placements are sorted by their starts.
    let (mut on_processors, mut on_licences) = (BTreeMap::new(), BTreeMap::new());
    let mut violations = Vec::new();
    for placement in schedule.placements() {
        let mut check = |last: Option<&Placement>, machine| {
            violations.extend(last.and_then(|last| too_early(instance, last, placement, machine)))
        };
        for id in placement.processors.iter() {
            let node = SetupMachine::Node(instance.platform().node_of(id));
            check(on_processors.insert(id, placement), node);
        }
        for demand in instance.demands(placement.task) {
            if demand.kind == ResourceKind::Licence && demand.need.total(placement.processors.len()) > 0 {
                let ResourceId(id) = demand.resource;
                check(on_licences.insert(id, placement), SetupMachine::Licence(id));
            }
        }
    }
    violations
}

fn too_early(instance: &Instance, last: &Placement, next: &Placement, on: SetupMachine) -> Option<Violation> {
    let family = |placement: &Placement| instance.task(placement.task).family.as_deref();
    let setup = instance.platform().setup(on, family(last), family(next));
    let machine = match on {
        SetupMachine::Licence(id) => instance.platform().resource_of(ResourceId(id)).name.to_string(),
        SetupMachine::Node(node) => instance.platform().nodes()[node].name.clone(),
        SetupMachine::Processors => String::new(),
    };
    (next.start < last.end + setup).then(|| Violation::Setup {
        job: name(instance, next),
        after: name(instance, last),
        machine,
        start: next.start,
        end: last.end,
        setup,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Job, Platform, ProcSet, Profile, Setup, TaskId, Time, Work};
    use crate::schedule::validate;

    #[test]
    fn consecutive_tasks_wait_for_the_setup() {
        let second = Time::from_seconds;
        let job = |name: &str, family: &str| {
            let mut job = Job::new(name, Profile::rigid(1, second(3)).unwrap());
            if let Work::Task(task) = &mut job.work {
                task.family = Some(family.into());
            }
            job
        };
        let setup = |on: Option<&str>, from: &str, to: &str, time| Setup {
            on: on.map(Into::into),
            from: from.into(),
            to: to.into(),
            time: second(time),
        };
        let setups = vec![setup(None, "x", "y", 2), setup(Some("n1"), "x", "y", 4)];
        let platform = Platform::cluster(2, 1).unwrap().with_setups(setups).unwrap();
        let instance = Instance::new(platform, vec![job("a", "x"), job("b", "y")], vec![]).unwrap();
        let planned = |starts: [i64; 2], processor: u32| {
            let place = |task: usize| Placement {
                task: TaskId::at(task),
                start: second(starts[task]),
                end: second(starts[task] + 3),
                processors: ProcSet::range(processor, processor),
            };
            validate(&instance, &Schedule::new(vec![place(0), place(1)])).map_err(|errors| errors[0].to_string())
        };
        assert_eq!(planned([0, 5], 0), Ok(()));
        assert_eq!(planned([3, 0], 0), Ok(()), "no setup from y to x");
        let message = "job `b` starts at 6 s on `n1`, but the setup after `a`, which ends at 3 s, takes 4 s";
        assert_eq!(planned([0, 6], 1), Err(message.into()));
    }
}
