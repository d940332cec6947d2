//! The tasks that each node computes and receives in the steady state.

use makespan_core::network::Network;

/// The tasks per second of a steady state. The network has one kind for each application. Nodes are in the order of
/// the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRates {
    /// Tasks that the nodes compute, by node and kind.
    pub compute: Vec<f64>,
    /// Tasks that the nodes receive from their parents, by node and kind. The rates of the root are zero.
    pub sent: Vec<f64>,
}

impl NodeRates {
    /// Returns the rates of all nodes for the compute rates `compute`. Each node sends all tasks that it does not
    /// compute to its children.
    pub fn from_compute(network: &Network, compute: Vec<f64>) -> Self {
        let kinds = network.kinds().len();
        let mut sent = compute.clone();
        for node in (1..network.nodes().len()).rev() {
            let Some(parent) = network.nodes()[node].parent else { continue };
            for kind in 0..kinds {
                sent[parent * kinds + kind] += sent[node * kinds + kind];
            }
        }
        sent[..kinds].fill(0.0);
        Self { compute, sent }
    }

    /// Returns the rates of all nodes for the compute rates `compute`, a list by node and kind. The nodes in `compute`
    /// have the order that they had before the network was created.
    pub fn from_origin(network: &Network, compute: &[f64]) -> Self {
        let kinds = network.kinds().len();
        let of_node = |node: usize| {
            let at = network.origin(node) * kinds;
            &compute[at..at + kinds]
        };
        let compute = (0..network.nodes().len()).flat_map(of_node).copied().collect();
        Self::from_compute(network, compute)
    }

    /// Returns the compute rates of a node by kind, and its send rates by child and kind.
    pub(super) fn of(&self, network: &Network, node: usize) -> (&[f64], &[f64]) {
        let (kinds, children) = (network.kinds().len(), network.children(node));
        let (first, last) = (children.start * kinds, children.end * kinds);
        (&self.compute[node * kinds..(node + 1) * kinds], &self.sent[first..last])
    }

    /// Returns the tasks per second of each kind.
    pub fn throughput(&self, kinds: usize) -> Vec<f64> {
        (0..kinds).map(|kind| self.compute.iter().skip(kind).step_by(kinds).sum()).collect()
    }

    /// Returns the fair throughput: the minimum over all kinds of throughput divided by weight.
    pub fn fair(&self, network: &Network) -> f64 {
        let throughput = self.throughput(network.kinds().len());
        let weighted = throughput.iter().zip(network.kinds()).map(|(rate, kind)| rate / kind.weight);
        weighted.fold(f64::INFINITY, f64::min)
    }
}
