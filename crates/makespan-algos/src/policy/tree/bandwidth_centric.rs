//! Bandwidth-centric scheduling serves the child with the fastest link first.

use makespan_core::network::{NodeDecision, NodeEvent, NodePolicy, NodeView};

/// Bandwidth-centric scheduling serves the request of the child with the largest bandwidth first. The node's own
/// processor is treated as a child with infinite bandwidth. The bandwidth is the effective bandwidth for a task: the
/// bytes of the task divided by the time of its hop. This time includes latency, as in the measurements of Beaumont et
/// al. (IPDPS 2006, section 5.1.4).
///
/// Source: O. Beaumont, L. Carter, J. Ferrante, A. Legrand and Y. Robert, "Bandwidth-centric allocation of independent
/// tasks on heterogeneous platforms" (IPDPS 2002, DOI 10.1109/IPDPS.2002.1015540). The rule is optimal for one
/// application in the steady state. The rule is part of CGBC and PBC of Beaumont et al. (IPDPS 2006, DOI
/// 10.1109/IPDPS.2006.1639262, sections 4.3 and 4.4). For CGBC, the kinds are macro-tasks, followed by the remaining
/// tasks of each application. For PBC, each kind has its own lane, and the lanes of a node share its port and
/// processors evenly. The root in the paper of 2006 allocates tasks to its schedulers in the ratio of the weights. We
/// assume that only the total numbers of tasks of the applications have this ratio, and that the root does not keep the
/// ratio during the run. If the root kept the ratio during the run, no application could starve. But in the paper, an
/// application starves with PBC in a third of the settings.
#[derive(Clone, Debug, Default)]
pub struct BandwidthCentric {
    /// For each kind, the children by increasing time of their hop. The children are sorted at the first use, and again
    /// after a bandwidth has changed.
    order: Vec<Vec<u32>>,
    sorted: bool,
}

impl BandwidthCentric {
    fn sort(&mut self, view: &NodeView<'_>) {
        if !self.sorted {
            let bandwidth = view.children.bandwidth;
            self.order = (0..view.kinds.len())
                .map(|kind| {
                    let shorter = |a: usize, b: usize| view.hop(a, kind).total_cmp(&view.hop(b, kind));
                    let wider = |a: usize, b: usize| bandwidth[b].total_cmp(&bandwidth[a]);
                    let mut order: Vec<u32> = (0..view.degree() as u32).collect();
                    order.sort_by(|&a, &b| shorter(a as usize, b as usize).then(wider(a as usize, b as usize)));
                    order
                })
                .collect();
            self.sorted = true;
        }
    }

    /// Returns the next decision for a kind.
    fn of_kind(&self, view: &NodeView<'_>, kind: usize) -> Option<NodeDecision> {
        if view.can_compute(kind) {
            return Some(NodeDecision::Compute { kind });
        }
        if view.ready[kind] == 0 || view.ports[view.lane(kind)] == 0 {
            return None;
        }
        let child = self.order[kind].iter().map(|&child| child as usize).find(|&child| view.can_send(child, kind))?;
        Some(NodeDecision::Send { child, kind })
    }
}

impl NodePolicy for BandwidthCentric {
    fn hear(&mut self, event: NodeEvent, _view: &NodeView<'_>) {
        if matches!(event, NodeEvent::BandwidthChanged { .. }) {
            self.sorted = false;
        }
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        self.sort(view);
        (0..view.kinds.len()).find_map(|kind| self.of_kind(view, kind))
    }
}
