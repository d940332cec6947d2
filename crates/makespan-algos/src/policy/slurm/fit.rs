//! Chooses the number of processors that a job gets on each node.

use makespan_core::{NodeRequest, ResourceKind};

use super::asked::JobRequest;
use super::nodes::JobNodes;

/// Returns the room of a node: the number of processors that a job may have, given the remaining amounts `row`.
pub(super) fn room(asked: &JobRequest, row: &[i64], cells: usize, all: u32) -> u32 {
    let free: i64 = row[..cells].iter().map(|&count| count.max(0)).sum();
    if asked.exclusive && free < i64::from(all) {
        return 0;
    }
    let most = (free as u32).min(asked.per_node).min(asked.processors);
    let fits = |here: u32| {
        let of_node = asked.demands.iter().filter(|demand| demand.kind == ResourceKind::OfNodes);
        of_node.into_iter().all(|demand| {
            i64::try_from(demand.need.share(here, asked.processors))
                .is_ok_and(|share| share <= row[cells + demand.resource.index()])
        })
    };
    if most == 0 || asked.demands.is_empty() || fits(most) {
        return most;
    }
    // The needed amounts increase with the number of processors, so bisection finds the maximum.
    let (mut low, mut high) = (0, most);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if fits(middle) { low = middle } else { high = middle }
    }
    low
}

/// Chooses nodes, and the number of processors on each node, given the room of each node in the order of allocation. If
/// `takes_all` is true and the job accepts a range of nodes, the job gets as many nodes as possible.
pub(super) fn choose(
    asked: &JobRequest,
    nodes: JobNodes<'_>,
    takes_all: bool,
    rooms: impl Iterator<Item = (u32, u32)>,
) -> Option<Vec<(u32, u32)>> {
    let on_each = asked.least_per_node;
    let (least, most) = (asked.nodes.0, asked.nodes.1.min(nodes.most).min(asked.processors / on_each));
    let request = NodeRequest {
        nodes: (least as usize, most as usize),
        takes_all: takes_all && least < asked.nodes.1 && asked.nodes.1 < u32::MAX,
        processors: asked.processors.into(),
        per_node: on_each,
    };
    let rooms = rooms.filter(|one| one.1 >= on_each);
    match nodes.counted {
        None => request.choose(rooms, None),
        Some(counted) => request.choose(rooms, Some(&|rooms| counted.put_first(rooms))),
    }
}
