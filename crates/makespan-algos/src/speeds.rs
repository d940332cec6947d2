//! The speeds of processors.

use makespan_core::{Instance, ProcSet};

/// Returns the distinct speeds in decreasing order, each with the processors that are at least as fast.
pub(crate) fn speeds(instance: &Instance) -> Vec<(f64, ProcSet)> {
    let platform = instance.platform();
    let nodes = (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0);
    let mut nodes: Vec<(f64, usize)> = nodes.map(|node| (platform.nodes()[node].speed, node)).collect();
    nodes.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut speeds: Vec<(f64, ProcSet)> = Vec::new();
    let mut intervals = Vec::new();
    for (index, &(speed, node)) in nodes.iter().enumerate() {
        intervals.extend_from_slice(platform.processors_of(node).intervals());
        if nodes.get(index + 1).is_none_or(|next| next.0 < speed) {
            speeds.push((speed, ProcSet::from_intervals(intervals.clone())));
        }
    }
    speeds
}
