//! Adapts a schedule for nodes of k processors to nodes with more processors.

use makespan_core::{ProcSet, Profile};

use super::{Cluster, PlacedTask, fastest_within};

/// Moves a placement from nodes of `cluster.each` processors to nodes of `each` processors. If the task holds all
/// processors of a node, it may also use the additional processors. The new placement is a best placement with the old
/// start, and ends no later.
pub fn widened(placed: &PlacedTask, profile: &Profile, cluster: Cluster, each: u32) -> PlacedTask {
    let mut whole = Vec::new();
    let mut rest = Vec::new();
    let ids: Vec<u32> = placed.processors.iter().collect();
    for node in ids.chunk_by(|a, b| a / cluster.each == b / cluster.each) {
        let first = node[0] / cluster.each * each;
        if node.len() == cluster.each as usize {
            whole.push(first);
        } else {
            rest.extend(node.iter().map(|id| first + id % cluster.each));
        }
    }
    let most = whole.len() as u32 * each + rest.len() as u32;
    let count = fastest_within(profile, most).unwrap_or(ids.len() as u32);
    let (full, left) = ((count / each) as usize, count % each);
    let mut intervals: Vec<(u32, u32)> = whole[..full].iter().map(|&first| (first, first + each - 1)).collect();
    match whole.get(full) {
        _ if left == 0 => {}
        Some(&first) => intervals.push((first, first + left - 1)),
        None => intervals.extend(rest[..left as usize].iter().map(|&id| (id, id))),
    }
    let end = placed.start + profile.time(count);
    PlacedTask { processors: ProcSet::from_intervals(intervals), end, ..*placed }
}
