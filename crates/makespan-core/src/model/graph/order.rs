//! Topological order of the tasks of a graph.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Adjacency, Edge};

/// Returns the tasks in topological order. If several tasks may come next, the earliest one in file order comes next
/// (Kahn, "Topological sorting of large networks", Commun. ACM 5(11), 1962, DOI 10.1145/368996.369025). Takes
/// O((tasks + edges) log tasks).
///
/// # Errors
/// If the edges form a cycle, returns the tasks of a cycle, in the direction of its edges.
pub(super) fn topological(tasks: usize, edges: &[Edge]) -> Result<Vec<u32>, Vec<u32>> {
    let mut missing = vec![0_u32; tasks];
    edges.iter().for_each(|edge| missing[edge.to as usize] += 1);
    let outgoing = Adjacency::of(tasks, edges, |edge| edge.from);
    let tasks = tasks as u32;
    let mut ready: BinaryHeap<Reverse<u32>> =
        (0..tasks).filter(|&task| missing[task as usize] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(tasks as usize);
    while let Some(Reverse(task)) = ready.pop() {
        order.push(task);
        for &edge in outgoing.of_row(task as usize) {
            let next = edges[edge as usize].to;
            let missing = &mut missing[next as usize];
            *missing -= 1;
            if *missing == 0 {
                ready.push(Reverse(next));
            }
        }
    }
    if order.len() == missing.len() { Ok(order) } else { Err(cycle(edges, &missing)) }
}

/// Returns the tasks of a cycle of arcs that lead to each task from the task in `through`, in the direction of the arcs,
/// from the earliest task in file order. `u32::MAX` stands for no arc. Returns `None` if there is no cycle.
pub(super) fn cycle_of(through: &[u32]) -> Option<Vec<u32>> {
    // The number of the walk that has visited each task.
    let mut visited = vec![u32::MAX; through.len()];
    for first in 0..through.len() as u32 {
        let mut at = first;
        while at != u32::MAX && visited[at as usize] == u32::MAX {
            visited[at as usize] = first;
            at = through[at as usize];
        }
        if at != u32::MAX && visited[at as usize] == first {
            let mut cycle = vec![at];
            let mut before = through[at as usize];
            while before != at {
                cycle.push(before);
                before = through[before as usize];
            }
            cycle.reverse();
            let least = (0..cycle.len()).min_by_key(|&position| cycle[position]).unwrap_or(0);
            cycle.rotate_left(least);
            return Some(cycle);
        }
    }
    None
}

/// Returns the tasks of a cycle, from the earliest one in file order. Every task that could not be ordered waits for
/// another task that could not be ordered. So a walk from task to predecessor must visit some task twice.
fn cycle(edges: &[Edge], missing: &[u32]) -> Vec<u32> {
    let incoming = Adjacency::of(missing.len(), edges, |edge| edge.to);
    let waits = |task: u32| missing[task as usize] > 0;
    let mut seen_at = vec![usize::MAX; missing.len()];
    let mut path: Vec<u32> = (0..missing.len() as u32).filter(|&task| waits(task)).take(1).collect();
    while let Some(&task) = path.last() {
        let first = &mut seen_at[task as usize];
        if *first != usize::MAX {
            let begin = *first;
            path.pop();
            path.drain(..begin);
            break;
        }
        *first = path.len() - 1;
        let mut before = incoming.of_row(task as usize).iter().map(|&edge| edges[edge as usize].from);
        path.extend(before.find(|&from| waits(from)));
    }
    path.reverse();
    let first = (0..path.len()).min_by_key(|&at| path[at]).unwrap_or(0);
    path.rotate_left(first);
    path
}
