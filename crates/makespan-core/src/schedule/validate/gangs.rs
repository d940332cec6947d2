//! The check that the tasks of each gang start together.

use super::{Violation, name};
use crate::model::Instance;
use crate::schedule::{Placement, Schedule};

/// Returns a violation for each task that starts later than the first task of its gang. Every task must be placed exactly
/// once.
pub(super) fn check(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    if !instance.has_gangs() {
        return Vec::new();
    }
    let mut placed: Vec<&Placement> = schedule.placements().iter().collect();
    placed.sort_unstable_by_key(|placement| placement.task);
    let broken = |&at: &&Placement| {
        let mates = instance.gang_mates(at.task);
        let first = mates.iter().map(|mate| placed[mate.index()]).min_by_key(|mate| (mate.start, mate.task))?;
        (first.start < at.start).then(|| Violation::Gang {
            first: name(instance, first),
            second: name(instance, at),
            from: first.start,
            later: at.start,
        })
    };
    placed.iter().filter_map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Graph, Job, NamedTask, Platform, ProcSet, Profile, TaskId, Time};
    use crate::schedule::validate;

    #[test]
    fn tasks_of_a_gang_start_together() {
        let second = Time::from_seconds;
        let task = |(name, seconds): (&str, i64)| {
            let mut named = NamedTask::new(name, Profile::rigid(1, second(seconds)).unwrap());
            named.task.gang = Some("g".into());
            named
        };
        let graph = Graph::new([("a", 3), ("b", 5)].map(task).to_vec(), vec![]).unwrap();
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![Job::compound("j", graph)], vec![]).unwrap();
        let planned = |starts: [i64; 2]| {
            let place = |task: usize| Placement {
                task: TaskId::at(task),
                start: second(starts[task]),
                end: second(starts[task]) + instance.profile(TaskId::at(task)).shortest(),
                processors: ProcSet::range(task as u32, task as u32),
            };
            validate(&instance, &Schedule::new(vec![place(0), place(1)]))
        };
        assert_eq!(planned([4, 4]), Ok(()));
        let (first, later) = ("j/b".to_owned(), "j/a".to_owned());
        let wrong = Violation::Gang { first, second: later, from: second(4), later: second(5) };
        assert_eq!(planned([5, 4]), Err(vec![wrong]));
    }
}
