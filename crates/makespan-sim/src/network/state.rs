//! The state of all nodes in flat arrays. Each node's policy sees only the entries of its node.

use makespan_core::Time;
use makespan_core::network::{Children, Network, NodeView};

use super::options::NetworkOptions;
use super::server::Server;

pub(super) struct NetworkState<'a> {
    pub(super) network: &'a Network,
    pub(super) now: Time,
    pub(super) lanes: usize,
    /// Number of tasks that wait in the buffer and are not being sent, by node and kind.
    pub(super) ready: Vec<u32>,
    /// Number of tasks in the buffer, both waiting and being sent, by node and lane.
    pub(super) held: Vec<u32>,
    /// For each node, the largest number of tasks that any of its lanes has held so far.
    pub(super) peak: Vec<u32>,
    /// Number of idle processors, by node and lane.
    pub(super) idle: Vec<u32>,
    /// Number of free ports, by node and lane.
    pub(super) ports: Vec<u32>,
    /// Number of open requests to the parent, by node and lane.
    pub(super) requests: Vec<u32>,
    /// For each node and lane, true if the parent is sending a task of this lane to the node.
    pub(super) receiving: Vec<bool>,
    /// For each node and kind, the number of tasks in the node's buffer, as far as its parent knows. The parent learns
    /// from requests that tasks have left the buffer.
    pub(super) levels: Vec<u32>,
    /// Current bandwidth of the link from the parent in bytes per second, by node. Changes of the node may replace this
    /// bandwidth during the run.
    pub(super) bandwidth: Vec<f64>,
    /// Latency of the link from the parent in seconds, by node.
    pub(super) latency: Vec<f64>,
    pub(super) speed: Vec<f64>,
    pub(super) removed: Vec<bool>,
    /// True if the node or a node below it has processors. If false, the node requests no tasks.
    pub(super) serves: Vec<bool>,
    pub(super) port: Vec<Server>,
    pub(super) processors: Vec<Server>,
    /// For each node, the number of ticks that the port of its parent spent sending to this node.
    pub(super) link_busy: Vec<f64>,
    /// For each node and kind, the number of received tasks.
    pub(super) received: Vec<u32>,
    /// For each node and kind, the number of computed tasks.
    pub(super) computed: Vec<u32>,
}

impl<'a> NetworkState<'a> {
    pub(super) fn new(network: &'a Network, options: &NetworkOptions) -> Self {
        let (nodes, kinds) = (network.nodes(), network.kinds().len());
        let lanes = if options.lanes { kinds } else { 1 };
        let serves = network.serves();
        let mut ready = vec![0; nodes.len() * kinds];
        for (ready, kind) in ready.iter_mut().zip(network.kinds()) {
            *ready = kind.count;
        }
        let each_lane = |count: &dyn Fn(usize) -> u32| -> Vec<u32> {
            (0..nodes.len()).flat_map(|node| std::iter::repeat_n(count(node), lanes)).collect()
        };
        Self {
            network,
            now: Time::ZERO,
            lanes,
            ready,
            held: vec![0; nodes.len() * lanes],
            peak: vec![0; nodes.len()],
            idle: each_lane(&|node| nodes[node].processors),
            ports: each_lane(&|_| options.sends.max(1)),
            requests: each_lane(&|node| if node > 0 && serves[node] { options.buffer } else { 0 }),
            receiving: vec![false; nodes.len() * lanes],
            levels: vec![0; nodes.len() * kinds],
            bandwidth: nodes.iter().map(|node| node.bandwidth).collect(),
            latency: nodes.iter().map(|node| node.latency.seconds()).collect(),
            speed: nodes.iter().map(|node| node.speed).collect(),
            removed: vec![false; nodes.len()],
            serves,
            port: vec![Server::new(1); nodes.len()],
            processors: nodes.iter().map(|node| Server::new(node.processors)).collect(),
            link_busy: vec![0.0; nodes.len()],
            received: vec![0; nodes.len() * kinds],
            computed: vec![0; nodes.len() * kinds],
        }
    }

    pub(super) fn kinds(&self) -> usize {
        self.network.kinds().len()
    }

    pub(super) fn lane(&self, kind: usize) -> usize {
        if self.lanes == 1 { 0 } else { kind }
    }

    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        self.network.nodes()[node].parent
    }

    /// Returns the part of the state that the policy of a node sees.
    pub(super) fn view(&self, node: usize) -> NodeView<'_> {
        let (kinds, lanes, children) = (self.kinds(), self.lanes, self.network.children(node));
        let (first, last) = (children.start, children.end);
        NodeView {
            now: self.now,
            kinds: self.network.kinds(),
            ready: &self.ready[node * kinds..(node + 1) * kinds],
            idle: &self.idle[node * lanes..(node + 1) * lanes],
            ports: &self.ports[node * lanes..(node + 1) * lanes],
            speed: self.speed[node],
            children: Children {
                bandwidth: &self.bandwidth[children.clone()],
                latency: &self.latency[children],
                requests: &self.requests[first * lanes..last * lanes],
                levels: &self.levels[first * kinds..last * kinds],
                receiving: &self.receiving[first * lanes..last * lanes],
            },
        }
    }
}
