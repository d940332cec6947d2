//! The state of the nodes between two waves of messages.

use std::cmp::Ordering;

use makespan_core::network::Network;

pub(super) struct DataCentricState<'a> {
    pub(super) network: &'a Network,
    pub(super) bandwidth: &'a [f64],
    /// For each node, the work units per second that its processors can do together.
    pub(super) capacity: Vec<f64>,
    /// Tasks that nodes compute per second, by node and kind.
    pub(super) compute: Vec<f64>,
    /// Tasks that nodes receive from their parents per second, by node and kind.
    pub(super) sent: Vec<f64>,
    pub(super) kinds: usize,
}

impl<'a> DataCentricState<'a> {
    pub(super) fn new(network: &'a Network, bandwidth: &'a [f64], speed: &[f64]) -> Self {
        let (nodes, kinds) = (network.nodes(), network.kinds().len());
        let rate = |(node, speed): (&makespan_core::network::NetworkNode, &f64)| f64::from(node.processors) * speed;
        Self {
            network,
            bandwidth,
            capacity: nodes.iter().zip(speed).map(rate).collect(),
            compute: vec![0.0; nodes.len() * kinds],
            sent: vec![0.0; nodes.len() * kinds],
            kinds,
        }
    }

    pub(super) fn data(&self, kind: usize) -> f64 {
        self.network.kinds()[kind].data
    }

    pub(super) fn work(&self, kind: usize) -> f64 {
        self.network.kinds()[kind].work
    }

    pub(super) fn weight(&self, kind: usize) -> f64 {
        self.network.kinds()[kind].weight
    }

    /// Returns the seconds for which a task to a node occupies the port of the parent: latency plus bytes divided by
    /// bandwidth.
    pub(super) fn hop(&self, node: usize, kind: usize) -> f64 {
        let latency = self.network.nodes()[node].latency.seconds() * f64::from(self.network.kinds()[kind].size());
        latency + self.data(kind) / self.bandwidth[node]
    }

    /// Compares two children by the time of their hop, and then by decreasing bandwidth.
    pub(super) fn by_hop(&self, kind: usize, a: usize, b: usize) -> Ordering {
        self.hop(a, kind).total_cmp(&self.hop(b, kind)).then(self.bandwidth[b].total_cmp(&self.bandwidth[a]))
    }

    /// Returns the throughput of a kind: tasks per second divided by weight.
    pub(super) fn throughput(&self, kind: usize) -> f64 {
        self.compute.iter().skip(kind).step_by(self.kinds).sum::<f64>() / self.weight(kind)
    }

    /// Returns the kinds with the highest and with the lowest weighted throughput. Among equal throughputs, the first
    /// kind is returned.
    pub(super) fn extremes(&self) -> (usize, usize) {
        let all: Vec<f64> = (0..self.kinds).map(|kind| self.throughput(kind)).collect();
        let mut extremes = (0, 0);
        for kind in 1..self.kinds {
            if all[kind] > all[extremes.0] {
                extremes.0 = kind;
            }
            if all[kind] < all[extremes.1] {
                extremes.1 = kind;
            }
        }
        extremes
    }

    /// Returns whether the throughputs of two kinds differ by less than a twentieth of the lower throughput, or are
    /// both zero.
    pub(super) fn balanced(&self, most: usize, least: usize) -> bool {
        let (most, least) = (self.throughput(most), self.throughput(least));
        most - least < 0.05 * least || most <= 0.0
    }

    /// Returns the work units per second that the processors of a node could do in addition.
    pub(super) fn idle(&self, node: usize) -> f64 {
        let used: f64 = (0..self.kinds).map(|kind| self.compute[node * self.kinds + kind] * self.work(kind)).sum();
        (self.capacity[node] - used).max(0.0)
    }

    /// Returns the fraction of time in which the port of a node is idle.
    pub(super) fn port_left(&self, node: usize) -> f64 {
        let of_child = |child: usize| -> f64 {
            (0..self.kinds).map(|kind| self.sent[child * self.kinds + kind] * self.hop(child, kind)).sum()
        };
        (1.0 - self.network.children(node).map(of_child).sum::<f64>()).max(0.0)
    }
}
