//! The child with the fastest link first.

use makespan_core::network::{NodeDecision, NodeEvent, NodePolicy, NodeView};

/// Bandwidth-centric scheduling: a request of the child with the largest bandwidth is served first, and the node's own
/// processor is a child of infinite bandwidth. The bandwidth is what a task meets: its bytes over the time of its hop, latency
/// included, as the paper of 2006 measured it (section 5.1.4).
///
/// O. Beaumont, L. Carter, J. Ferrante, A. Legrand and Y. Robert, "Bandwidth-centric allocation of independent tasks on
/// heterogeneous platforms" (IPDPS 2002, DOI 10.1109/IPDPS.2002.1015540): optimal for one application in the steady state.
/// It serves CGBC and PBC of the paper of 2006 (DOI 10.1109/IPDPS.2006.1639262, sections 4.3 and 4.4). For CGBC the
/// kinds are macro-tasks, and then what is left of each application. For PBC each kind has its own lane, and what the
/// lanes of a node do shares its port and processors evenly; the paper's root, which allocates tasks to its schedulers
/// in the ratio of the weights, is taken to do so in the numbers of tasks that the applications have, for a root that
/// held the ratio while it runs could not starve an application, which PBC does in a third of the paper's settings.
#[derive(Clone, Debug, Default)]
pub struct BandwidthCentric {
    /// For each kind the children, that of the shortest hop first; sorted when first needed and when a bandwidth changes.
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

    /// What this kind does now.
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
