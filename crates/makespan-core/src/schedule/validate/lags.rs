//! The check that tasks keep their time lags.

use super::{Violation, name};
use crate::model::{Instance, Time};
use crate::schedule::{Placement, Schedule};

/// Returns a violation for each time lag that the schedule violates. Every task must be placed exactly once.
pub(super) fn check(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    if !instance.has_lags() {
        return Vec::new();
    }
    let mut placed: Vec<&Placement> = schedule.placements().iter().collect();
    placed.sort_unstable_by_key(|placement| placement.task);
    let pairs = placed.iter().flat_map(|&at| {
        let lags = instance.lags_to(at.task);
        lags.map(move |(other, least)| (other, at, least))
    });
    let broken = pairs.filter_map(|(other, at, least)| {
        let other = placed[other.index()];
        (at.start - other.start < least).then(|| violation(instance, other, at, least))
    });
    broken.collect()
}

/// Returns the violation of a lag from `other` to `at`. A negative lag limits the start of `other`.
fn violation(instance: &Instance, other: &Placement, at: &Placement, least: Time) -> Violation {
    if least < Time::ZERO {
        let (first, second) = (name(instance, at), name(instance, other));
        return Violation::LateLag { first, second, from: at.start, later: other.start, most: Time::ZERO - least };
    }
    let (first, second) = (name(instance, other), name(instance, at));
    Violation::EarlyLag { first, second, from: other.start, later: at.start, least }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Graph, Job, Lag, NamedTask, Platform, ProcSet, Profile, TaskId};
    use crate::schedule::validate;

    #[test]
    fn starts_keep_minimal_and_maximal_lags() {
        let second = Time::from_seconds;
        let task = |(name, lag): (&str, Lag)| {
            let mut named = NamedTask::new(name, Profile::rigid(1, second(3)).unwrap());
            named.task.lags = vec![lag];
            named
        };
        // Task b starts 2 to 6 s after task a.
        let lags = [("a", Lag { from: 1, least: second(-6) }), ("b", Lag { from: 0, least: second(2) })];
        let graph = Graph::new(lags.map(task).to_vec(), vec![]).unwrap();
        let instance = Instance::new(Platform::flat(2).unwrap(), vec![Job::compound("j", graph)], vec![]).unwrap();
        let planned = |start: i64| {
            let place = |(task, start): (usize, i64)| Placement {
                task: TaskId::at(task),
                start: second(start),
                end: second(start + 3),
                processors: ProcSet::range(task as u32, task as u32),
            };
            validate(&instance, &Schedule::new([(0, 10), (1, start)].map(place).to_vec()))
        };
        assert_eq!([12, 14, 16].map(planned), [Ok(()), Ok(()), Ok(())]);
        let (first, later) = ("j/a".to_owned(), "j/b".to_owned());
        let early = Violation::EarlyLag {
            first: first.clone(),
            second: later.clone(),
            from: second(10),
            later: second(11),
            least: second(2),
        };
        assert_eq!(planned(11), Err(vec![early]));
        let late = Violation::LateLag { first, second: later, from: second(10), later: second(17), most: second(6) };
        assert_eq!(planned(17), Err(vec![late]));
    }
}
