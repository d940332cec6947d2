//! Chooses the number of processors that a job gets on each node.

use makespan_core::ResourceKind;

use super::asked::JobRequest;
use super::nodes::CountedFeatures;

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

/// Chooses nodes, and the number of processors on each node, given the room of each node. If one node is enough,
/// chooses the node with the least room that suffices. Otherwise, chooses as few nodes as possible, beginning with the
/// largest room.
pub(super) fn choose(
    asked: &JobRequest,
    counted: Option<&CountedFeatures>,
    mut rooms: Vec<(u32, u32)>,
) -> Option<Vec<(u32, u32)>> {
    let (mut least, most) = asked.nodes;
    let (wanted, on_each) = (asked.processors, asked.least_per_node);
    if least <= 1 && counted.is_none() {
        let enough = rooms.iter().filter(|one| one.1 >= wanted);
        if let Some(&(number, _)) = enough.min_by_key(|one| (one.1, one.0)) {
            return Some(vec![(number, wanted)]);
        }
    }
    rooms.retain(|one| one.1 >= on_each);
    rooms.sort_by_key(|one| (std::cmp::Reverse(one.1), one.0));
    if let Some(counted) = counted {
        least = least.max(counted.put_first(&mut rooms)? as u32);
    }
    let (mut sum, mut count) = (0_u64, 0);
    while (sum < wanted.into() || count < least as usize) && count < rooms.len() && count < most as usize {
        sum += u64::from(rooms[count].1);
        count += 1;
    }
    if sum < wanted.into() || count < least as usize || u64::from(wanted) < count as u64 * u64::from(on_each) {
        return None;
    }
    rooms.truncate(count);
    if least > 1 {
        // Distribute the processors evenly. If some nodes are full, nodes with a larger room get more processors.
        rooms.reverse();
    }
    // Each node gets the minimum. The remaining processors go to nodes with enough room.
    let mut left = wanted - count as u32 * on_each;
    for (at, one) in rooms.iter_mut().enumerate() {
        let share = left.div_ceil((count - at) as u32);
        let more = (one.1 - on_each).min(if least > 1 { share } else { left });
        one.1 = on_each + more;
        left -= more;
    }
    if left > 0 {
        return None;
    }
    rooms.sort_unstable();
    Some(rooms)
}
