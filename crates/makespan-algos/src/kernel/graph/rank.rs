//! The ranks of tasks: their distances from the beginning and from the end of their graph.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{GraphProblem, NEVER};

/// Returns the mean time of each task over the processors that can run it.
pub fn mean_times(problem: &GraphProblem) -> Vec<f64> {
    let mean = |task: u32| {
        let (mut sum, mut count) = (0.0, 0.0);
        for (node, &time) in problem.node_ids().zip(problem.times(task)).filter(|&(_, &time)| time != NEVER) {
            let processors = problem.processors_of(node).len() as f64;
            sum += time as f64 * processors;
            count += processors;
        }
        sum / count
    };
    (0..problem.tasks() as u32).map(mean).collect()
}

/// Returns the upward rank of each task: the longest path from the beginning of the task to the end of its graph, with
/// mean times and mean transfers. Source: Topcuoglu, Hariri and Wu (DOI 10.1109/71.993206), equation 8.
pub fn upward(problem: &GraphProblem, times: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; problem.tasks()];
    for &task in problem.order().iter().rev() {
        let after = problem.outgoing(task).iter().map(|to| problem.transfers().mean(to.edge) + ranks[to.task as usize]);
        ranks[task as usize] = times[task as usize] + after.fold(0.0, f64::max);
    }
    ranks
}

/// Returns the downward rank of each task: the longest path from the beginning of the graph to the beginning of the
/// task. Source: Topcuoglu, Hariri and Wu (DOI 10.1109/71.993206), equation 10.
pub fn downward(problem: &GraphProblem, times: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; problem.tasks()];
    for &task in problem.order() {
        let before = problem.incoming(task).iter().map(|from| {
            let at = from.task as usize;
            ranks[at] + times[at] + problem.transfers().mean(from.edge)
        });
        ranks[task as usize] = before.fold(0.0, f64::max);
    }
    ranks
}

/// Returns the position of each task in [`GraphProblem::order`].
pub fn positions(problem: &GraphProblem) -> Vec<u32> {
    let mut positions = vec![0; problem.tasks()];
    for (position, &task) in problem.order().iter().enumerate() {
        positions[task as usize] = position as u32;
    }
    positions
}

/// Returns a topological order of the tasks. A task is ready if all its predecessors are in the order. The ready task
/// with the highest rank comes next. The tasks of a gang are treated as one task, so they are consecutive in the order.
pub fn ready_first(problem: &GraphProblem, ranks: &[f64]) -> Vec<u32> {
    let positions = positions(problem);
    let alone: Vec<u32> = (0..problem.tasks() as u32).collect();
    let unit = |task: u32| problem.gang_of(task).unwrap_or(&alone[task as usize..=task as usize]);
    let entry = |task: u32| {
        let rank = unit(task).iter().map(|&task| ranks[task as usize]).fold(f64::NEG_INFINITY, f64::max);
        Ready { rank, position: positions[task as usize], task }
    };
    let mut missing = vec![0; problem.tasks()];
    alone.iter().for_each(|&task| missing[unit(task)[0] as usize] += problem.incoming(task).len());
    let is_first = |&&task: &&u32| unit(task)[0] == task;
    let first = alone.iter().filter(is_first).filter(|&&task| missing[task as usize] == 0);
    let mut ready: BinaryHeap<Ready> = first.map(|&task| entry(task)).collect();
    let mut order = Vec::with_capacity(problem.tasks());
    while let Some(Ready { task, .. }) = ready.pop() {
        for &task in unit(task) {
            order.push(task);
            for to in problem.outgoing(task) {
                let next = unit(to.task)[0];
                let missing = &mut missing[next as usize];
                *missing -= 1;
                if *missing == 0 {
                    ready.push(entry(next));
                }
            }
        }
    }
    order
}

/// A ready task: all its predecessors are in the order. Ready tasks are compared by rank, and the task with the highest
/// rank comes next.
struct Ready {
    rank: f64,
    position: u32,
    task: u32,
}

impl Ord for Ready {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.total_cmp(&other.rank).then(other.position.cmp(&self.position))
    }
}

impl PartialOrd for Ready {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ready {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ready {}
