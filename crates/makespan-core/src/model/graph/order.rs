//! An order in which no task comes before one that it waits for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Graph;

/// The tasks in such an order, the first in file order first where there is a choice (Kahn, "Topological sorting of
/// large networks", Commun. ACM 5(11), 1962, DOI 10.1145/368996.369025). O((tasks + edges) log tasks).
///
/// # Errors
/// The tasks of a cycle, in its direction.
pub(super) fn topological(graph: &Graph) -> Result<Vec<u32>, Vec<u32>> {
    let tasks = graph.len() as u32;
    let mut missing: Vec<u32> = (0..tasks).map(|task| graph.incoming_edges(task).len() as u32).collect();
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..tasks).filter(|&task| missing[task as usize] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(tasks as usize);
    while let Some(Reverse(task)) = ready.pop() {
        order.push(task);
        for edge in graph.outgoing(task) {
            let missing = &mut missing[edge.to as usize];
            *missing -= 1;
            if *missing == 0 {
                ready.push(Reverse(edge.to));
            }
        }
    }
    if order.len() == graph.len() { Ok(order) } else { Err(cycle(graph, &missing)) }
}

/// Every task that still waits does so for another such task: walked backwards, one of them comes again. The first in
/// file order is the first of the cycle.
fn cycle(graph: &Graph, missing: &[u32]) -> Vec<u32> {
    let waits = |task: u32| missing[task as usize] > 0;
    let mut seen_at = vec![usize::MAX; graph.len()];
    let mut path: Vec<u32> = (0..graph.len() as u32).filter(|&task| waits(task)).take(1).collect();
    while let Some(&task) = path.last() {
        let first = &mut seen_at[task as usize];
        if *first != usize::MAX {
            let begin = *first;
            path.pop();
            path.drain(..begin);
            break;
        }
        *first = path.len() - 1;
        path.extend(graph.incoming(task).map(|edge| edge.from).find(|&from| waits(from)));
    }
    path.reverse();
    let first = (0..path.len()).min_by_key(|&at| path[at]).unwrap_or(0);
    path.rotate_left(first);
    path
}
