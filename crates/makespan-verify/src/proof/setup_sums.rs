//! Bounds on the makespan from run times and setup times.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::error::unproved;
use super::{CertificateError, Kind, Scope, Value};
use makespan_core::{Instance, Objective, ResourceId, ResourceKind, SetupMachine, TaskId, Time};

/// Maximum number of setup times that the check examines: machines times the square of the number of families.
const MAX_SETUPS: usize = 1 << 22;
/// Maximum number of tasks.
const MAX_TASKS: u64 = 1 << 16;

/// A bound on the makespan from the run times of all tasks that hold a machine, and from the smallest setup time before
/// each of these tasks.
///
/// The machine is a licence with the amount 1, or all k processors together if each task runs on one processor. Let `t_j`
/// be the shortest time of task j, and `s_j` its smallest setup time after another of these tasks on any machine. Each
/// task except the first one of each machine waits for a setup. So the machines are busy or idle for setups for at least
/// the sum of all `t_j + s_j` minus the k largest `s_j` (k = 1 for a licence). No task starts before the earliest release
/// of these tasks. The bound is this release plus the sum divided by k, rounded up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupSums {
    /// Name of the licence. If it is missing, the bound is for the processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
}

impl Kind for SetupSums {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, _objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if instance.tasks() > MAX_TASKS {
            return unproved("the instance has too many tasks for sums of setup times");
        }
        let (machines, tasks) = match &self.licence {
            None => (processors(instance), instance.task_ids().collect()),
            Some(name) => held(instance, name)?,
        };
        let count = if self.licence.is_some() { 1 } else { i128::from(instance.processors()) };
        let tasks: Vec<TaskId> = tasks;
        let times = tasks.iter().map(|&task| shortest(instance, task, self.licence.is_none()));
        let times: i128 = times.sum::<Result<i128, CertificateError>>()?;
        let mut setups = smallest_setups(instance, &machines, &tasks)?;
        setups.sort_unstable();
        setups.truncate(setups.len().saturating_sub(count as usize));
        let total = times + setups.into_iter().sum::<i128>();
        let first = tasks.iter().map(|&task| instance.release(task).ticks()).min().unwrap_or(0);
        Ok(Value::Integer(i128::from(first) + total.div_euclid(count) + i128::from(total.rem_euclid(count) > 0)))
    }
}

/// Returns one machine for each node with processors.
fn processors(instance: &Instance) -> Vec<SetupMachine> {
    let nodes = instance.platform().nodes().iter().enumerate();
    nodes.filter(|(_, node)| node.processors > 0).map(|(at, _)| SetupMachine::Node(at)).collect()
}

/// Returns a licence as a machine, and the tasks that hold it on every allotment.
fn held(instance: &Instance, name: &str) -> Result<(Vec<SetupMachine>, Vec<TaskId>), CertificateError> {
    let platform = instance.platform();
    let is_machine =
        |id: &ResourceId| platform.resource_of(*id).kind == ResourceKind::Licence && platform.total(*id) == 1;
    let Some(id) = platform.resource(name).filter(is_machine) else {
        return unproved("the certificate names no licence with the amount 1");
    };
    let holds = |&task: &TaskId| {
        let demands = instance.demands(task).iter().filter(|demand| demand.resource == id);
        let mut allotments = instance.profile(task).allotments();
        demands.clone().next().is_some()
            && allotments.all(|width| demands.clone().all(|demand| demand.need.total(width) > 0))
    };
    let may_hold = |task: &TaskId| instance.demands(*task).iter().any(|demand| demand.resource == id);
    if instance.task_ids().any(|task| may_hold(&task) && !holds(&task)) {
        // Such a task may stand between two others and avoid the setup between them.
        return unproved("a task holds the licence only on some allotments");
    }
    Ok((vec![SetupMachine::Licence(id.0)], instance.task_ids().filter(holds).collect()))
}

/// Returns the shortest time of a task on any processors, in ticks. If `on_one` is set, the task must run on one
/// processor.
fn shortest(instance: &Instance, task: TaskId, on_one: bool) -> Result<i128, CertificateError> {
    let (profile, platform) = (instance.profile(task), instance.platform());
    if on_one && !profile.is_sequential() {
        return unproved("a task can use several processors");
    }
    if instance.has_equal_processors() {
        return Ok(profile.shortest().ticks().into());
    }
    if !profile.is_sequential() {
        return unproved("a task can use several processors that differ");
    }
    let times = (0..platform.node_count()).filter_map(|node| platform.time_on(profile, node)).min();
    Ok(times.unwrap_or(Time::ZERO).ticks().into())
}

/// Returns the smallest setup time before each task, after another of the tasks and on any of the machines, in ticks.
fn smallest_setups(
    instance: &Instance,
    machines: &[SetupMachine],
    tasks: &[TaskId],
) -> Result<Vec<i128>, CertificateError> {
    let mut families: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for &task in tasks {
        *families.entry(instance.task(task).family.as_deref()).or_default() += 1;
    }
    if machines.len().saturating_mul(families.len() * families.len()) > MAX_SETUPS {
        return unproved("there are too many families of tasks for sums of setup times");
    }
    let setup = |from: Option<&str>, to: Option<&str>| {
        let each = machines.iter().map(|&machine| instance.platform().setup(machine, from, to).ticks());
        each.min().unwrap_or(0)
    };
    let before = |to: Option<&str>| {
        let others = families.iter().filter(|(from, count)| **from != to || **count > 1);
        i128::from(others.map(|(from, _)| setup(*from, to)).min().unwrap_or(0))
    };
    let smallest: BTreeMap<Option<&str>, i128> = families.keys().map(|family| (*family, before(*family))).collect();
    Ok(tasks.iter().map(|&task| smallest[&instance.task(task).family.as_deref()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, Proof};
    use makespan_core::{Job, Platform, Profile, Setup, Work};

    #[test]
    fn setups_between_all_but_the_first_tasks_are_added() {
        let second = Time::from_seconds;
        let job = |(name, time): (&str, i64)| {
            let mut job = Job::new(name, Profile::rigid(1, second(time)).unwrap());
            if let Work::Task(task) = &mut job.work {
                task.family = Some(name.into());
            }
            job
        };
        let setup = |(from, to, millis): (&str, &str, i64)| {
            let time = Time::from_ticks(millis * 1_000_000);
            Setup { on: None, from: from.into(), to: to.into(), time }
        };
        let matrix = [
            ("a", "b", 1500),
            ("b", "a", 4000),
            ("a", "c", 3000),
            ("c", "a", 2500),
            ("b", "c", 5000),
            ("c", "b", 2000),
        ];
        let on = |processors: u32| {
            let platform = Platform::flat(processors).unwrap().with_setups(matrix.map(setup).to_vec()).unwrap();
            Instance::new(platform, [("a", 3), ("b", 4), ("c", 5)].map(job).to_vec(), vec![]).unwrap()
        };
        let bound = |processors: u32| {
            let proof = Proof::SetupSums(SetupSums { licence: None });
            let bound = Bound::proved_by(Objective::Makespan, proof, &on(processors)).unwrap();
            assert_eq!(bound.verify(&on(processors)), Ok(()));
            bound.ticks()
        };
        // The smallest setups are 2.5 s, 1.5 s and 3 s, and the largest of them is not needed. All times are multiples of
        // 0.5 s.
        assert_eq!(bound(1), second(12 + 4));
        assert_eq!(bound(2), Time::from_ticks(7_000_000_000), "6.75 s, rounded up");
        let wrong = Proof::SetupSums(SetupSums { licence: Some("x".into()) });
        assert!(Bound::proved_by(Objective::Makespan, wrong, &on(1)).is_err());
    }
}
