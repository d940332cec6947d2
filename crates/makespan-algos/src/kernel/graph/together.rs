//! Places for tasks that start together.

use makespan_core::FreeTime;

use super::{GraphProblem, NEVER, NodeId, ProcessorId, TaskPlace};
use crate::free_time::Calendar;

/// Returns the earliest places on which tasks start together, each on its own processor. Returns `None` if there are no
/// such places. `arrival` returns the instant at which the data of a task, given by its position in `tasks`, have arrived
/// on a node.
///
/// At each instant, the processors on which each task could start form a bipartite graph. The tasks can start together
/// if this graph has a matching of all tasks. A matching can become possible only at an instant from which some task
/// can start on another processor. So only these instants are tried. If a task can start on several processors, it
/// prefers the processor on which it ends first. Longer tasks choose first.
///
/// Source: J. K. Ousterhout, "Scheduling techniques for concurrent systems", ICDCS 1982 (gangs); H. W. Kuhn, "The
/// Hungarian method for the assignment problem", Naval Res. Logist. Quart. 2, 1955, DOI 10.1002/nav.3800020109 (augmenting
/// paths). Complexity: O(i k m (log b + k)) for i instants, k tasks, m processors and b busy periods of a processor.
pub fn earliest_together(
    problem: &GraphProblem,
    tasks: &[u32],
    calendars: &[Calendar],
    arrival: impl Fn(usize, NodeId) -> i64,
) -> Option<Vec<TaskPlace>> {
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    let shortest = |at: usize| problem.times(tasks[at]).iter().copied().min();
    order.sort_by_key(|&at| (std::cmp::Reverse(shortest(at)), at));
    let mut start = tasks.iter().map(|&task| problem.release(task)).max()?;
    loop {
        let soonest = |at: usize, processor: ProcessorId| {
            let node = problem.node_of(processor);
            let time = problem.time(tasks[at], node);
            let after = arrival(at, node).max(start);
            let found = (time != NEVER).then(|| calendars[processor.index()].earliest_fit(1, time, after));
            found.filter(|&found| found < i64::MAX).map(|found| (found, time))
        };
        let (mut possible, mut next) = (vec![Vec::new(); tasks.len()], None);
        for (at, possible) in possible.iter_mut().enumerate() {
            for processor in problem.processor_ids() {
                match soonest(at, processor) {
                    Some((found, time)) if found == start => possible.push((time, processor)),
                    Some((found, _)) => next = next.into_iter().chain([found]).min(),
                    None => {}
                }
            }
            possible.sort_unstable();
        }
        if let Some(chosen) = matched(&possible, &order, problem.processors()) {
            return Some(chosen.into_iter().map(|processor| TaskPlace { processor, start }).collect());
        }
        start = next?;
    }
}

/// Returns a processor for each task, each processor at most once, or `None` if this is impossible. `possible` contains the
/// times and processors of each task. Tasks choose in this `order`.
fn matched(possible: &[Vec<(i64, ProcessorId)>], order: &[usize], processors: usize) -> Option<Vec<ProcessorId>> {
    let mut taker: Vec<Option<usize>> = vec![None; processors];
    for &task in order {
        let mut seen = vec![false; processors];
        if !assign(task, possible, &mut taker, &mut seen) {
            return None;
        }
    }
    let mut chosen = vec![ProcessorId(0); possible.len()];
    for (processor, task) in taker.into_iter().enumerate() {
        if let Some(task) = task {
            chosen[task] = ProcessorId::at(processor);
        }
    }
    Some(chosen)
}

/// Assigns a processor to a task. If all its processors are taken, tries to move one of the tasks that hold them to another
/// processor. Returns false if this is impossible. `seen` marks the processors that were tried.
fn assign(task: usize, possible: &[Vec<(i64, ProcessorId)>], taker: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &(_, processor) in &possible[task] {
        let at = processor.index();
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        if taker[at].is_none_or(|other| assign(other, possible, taker, seen)) {
            taker[at] = Some(task);
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use makespan_core::{Graph, Instance, Job, NamedTask, Node, Platform, Profile, Time};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares with a search over all instants and all pairs of processors.
        #[test]
        fn two_tasks_start_as_early_as_possible(
            times in prop::array::uniform2(1_i64..8),
            busy in prop::collection::vec((0_usize..3, 0_i64..30, 1_i64..10), 0..8),
            arrivals in prop::array::uniform2(prop::array::uniform3(0_i64..20)),
        ) {
            let task = |(name, ticks)| NamedTask::new(name, Profile::rigid(1, Time::from_ticks(ticks)).unwrap());
            let graph = Graph::new(["a", "b"].into_iter().zip(times).map(task).collect(), vec![]).unwrap();
            let platform = Platform::new(["x", "y", "z"].map(|name| Node::new(name, 1)).to_vec()).unwrap();
            let instance = Instance::new(platform, vec![Job::compound("j", graph)], vec![]).unwrap();
            let problem = GraphProblem::new(&instance);
            let calendar = |id: usize| {
                let own = busy.iter().filter(|period| period.0 == id);
                Calendar::new(&own.map(|&(_, start, length)| (start, start + length)).collect::<Vec<_>>())
            };
            let calendars: Vec<Calendar> = (0..3).map(calendar).collect();
            let arrival = |task: usize, node: NodeId| arrivals[task][node.index()];
            let found = earliest_together(&problem, &[0, 1], &calendars, arrival).unwrap();
            let fits = |task: usize, on: usize, start: i64| {
                arrivals[task][on] <= start && calendars[on].fits(1, start, times[task])
            };
            let pairs = || (0..3).flat_map(|one| (0..3).map(move |other| (one, other))).filter(|pair| pair.0 != pair.1);
            let first = (0..).find(|&start| pairs().any(|(one, other)| fits(0, one, start) && fits(1, other, start)));
            prop_assert_eq!(Some(found[0].start), first);
            prop_assert_eq!(found[0].start, found[1].start);
            prop_assert!(found[0].processor != found[1].processor);
            prop_assert!((0..2).all(|task| fits(task, found[task].processor.index(), found[task].start)));
        }
    }
}
