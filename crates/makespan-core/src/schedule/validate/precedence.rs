//! The check that tasks wait for their predecessors and for the predecessors' data.

use super::{Violation, name};
use crate::model::{Dependence, Instance};
use crate::schedule::{Placement, Schedule};

/// Returns a violation for each edge that the schedule violates. Every task must be placed exactly once.
pub(super) fn check(instance: &Instance, schedule: &Schedule) -> Vec<Violation> {
    if instance.edges().is_empty() {
        return Vec::new();
    }
    let mut placed: Vec<&Placement> = schedule.placements().iter().collect();
    placed.sort_unstable_by_key(|placement| placement.task);
    // An edge from or to a bag applies to all tasks of the bag. So the predecessor has ended when the last of its equal
    // tasks has ended.
    let last = |task| instance.equal_tasks(task).filter_map(|one| placed.get(one.index())).max_by_key(|one| one.end);
    let first = |task| instance.equal_tasks(task).filter_map(|one| placed.get(one.index())).min_by_key(|one| one.start);
    let broken = |edge: &Dependence| {
        let (from, to) = (last(edge.from)?, first(edge.to)?);
        let arrival = from.end + instance.platform().transfer_between(&from.processors, &to.processors, edge.payload);
        (to.start < arrival).then(|| Violation::Precedence {
            job: name(instance, to),
            start: to.start,
            after: name(instance, from),
            end: from.end,
            arrival,
        })
    };
    instance.edges().iter().filter_map(broken).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Edge, Graph, Job, Link, NamedTask, Payload, Platform, ProcSet, Profile, TaskId, Time};
    use crate::schedule::validate;

    fn ticks(t: i64) -> Time {
        Time::from_ticks(t)
    }

    /// Validates placements of two tasks of 5 and 3 ticks on two nodes with two processors each. The first task sends
    /// 2 bytes to the second. A byte takes 4 ticks.
    fn check(placements: &[(u64, i64, i64, u32)], local: bool, expect: &str) {
        let task = |name, time| NamedTask::new(name, Profile::rigid(1, ticks(time)).unwrap());
        let edge = Edge { from: 0, to: 1, payload: Payload::Bytes(2) };
        let graph = Graph::new(vec![task("a", 5), task("b", 3)], vec![edge]).unwrap();
        let link = Link { bandwidth: 250_000_000.0, latency: ticks(1) };
        let platform = Platform::cluster(2, 2).unwrap().with_interconnect(link).unwrap();
        let platform = if local { platform.with_local_transfers() } else { platform };
        let instance = Instance::new(platform, vec![Job::compound("j", graph)], vec![]).unwrap();
        let one = |&(task, start, end, processor): &(u64, i64, i64, u32)| Placement {
            task: TaskId(task),
            start: ticks(start),
            end: ticks(end),
            processors: ProcSet::range(processor, processor),
        };
        match validate(&instance, &Schedule::new(placements.iter().map(one).collect())) {
            Ok(()) => assert!(expect.is_empty(), "accepted, expected: {expect}"),
            Err(violations) => {
                assert_eq!(violations.len(), 1, "{violations:?}");
                assert!(!expect.is_empty() && violations[0].to_string().contains(expect), "{violations:?}");
            }
        }
    }

    #[test]
    fn data_between_nodes_take_their_time() {
        check(&[(0, 0, 5, 0), (1, 5, 8, 0)], false, "");
        check(&[(0, 0, 5, 0), (1, 5, 8, 1)], false, "");
        check(&[(0, 0, 5, 0), (1, 14, 17, 2)], false, "");
        check(&[(0, 0, 5, 0), (1, 14, 17, 1)], true, "");
        let arrival = "`j/a` ends at 0.000000005 s and its data arrive at 0.000000014 s";
        check(&[(0, 0, 5, 0), (1, 13, 16, 2)], false, arrival);
        check(&[(0, 0, 5, 0), (1, 13, 16, 0)], true, arrival);
        check(&[(0, 0, 5, 0), (1, 4, 7, 1)], false, "job `j/b` starts at 0.000000004 s");
        check(&[(0, 0, 5, 0)], false, "job `j`: 1 of 2 tasks have no placement, the first of these is b");
        check(&[(0, 0, 5, 0), (1, 5, 9, 0)], false, "lasts 0.000000004 s");
        check(&[(0, 0, 5, 0), (1, 5, 8, 0), (2, 9, 10, 0)], false, "task number 2 does not exist");
    }
}
