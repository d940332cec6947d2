//! The transfer times of each edge between two nodes.

use makespan_core::{Dependence, Payload, Platform, Route};
use rustc_hash::FxHashMap;

use super::NodeId;

/// The transfer times. Routes with equal latency and bandwidth form a kind. Most platforms have few kinds, so times
/// are stored for each kind.
#[derive(Clone, Debug)]
pub struct TransferTimes {
    nodes: usize,
    /// The kind of the route between each pair of nodes. If all routes between different nodes are equal, the list is
    /// empty. In this case, routes from a node to itself have kind 0, and all other routes have kind 1.
    kinds: Vec<u32>,
    routes: Vec<Route>,
    payloads: Vec<Payload>,
    /// The time of each edge on each kind of route, in ticks. If there would be more than `MAX_TIMES` times, the list
    /// is empty.
    times: Vec<i64>,
    /// Means over all pairs of different nodes: the latency in ticks, and the time for one byte in ticks.
    means: (f64, f64),
}

impl TransferTimes {
    /// Maximum number of nodes for which the route of each pair is stored, on a platform with a tree network.
    pub const MAX_NODES: usize = 4096;
    /// Maximum number of stored times. For larger instances, each time is computed when it is needed.
    const MAX_TIMES: usize = 1 << 24;

    /// Returns the transfer times between the nodes `computing` of the platform.
    pub fn new(platform: &Platform, computing: &[usize], edges: &[Dependence]) -> Self {
        let (kinds, routes, counts) = kinds(platform, computing);
        let payloads: Vec<Payload> = edges.iter().map(|edge| edge.payload).collect();
        let kept = payloads.len().saturating_mul(routes.len()) <= Self::MAX_TIMES;
        let of_edge = |&payload: &Payload| routes.iter().map(move |route| route.time(payload).ticks());
        let times = if kept { payloads.iter().flat_map(of_edge).collect() } else { Vec::new() };
        let pairs = counts.iter().sum::<u64>().max(1) as f64;
        let mean = |of: &dyn Fn(&Route) -> f64| {
            let weighed = routes.iter().zip(&counts).filter(|(_, count)| **count > 0);
            weighed.map(|(route, &count)| of(route) * count as f64).sum::<f64>() / pairs
        };
        let second = makespan_core::Time::TICKS_PER_SECOND as f64;
        let means = (mean(&|route| route.latency.ticks() as f64), mean(&|route| second / route.bandwidth));
        Self { nodes: computing.len(), kinds, routes, payloads, times, means }
    }

    /// Returns whether the platform has few enough nodes to store the route of each pair.
    pub fn fits(platform: &Platform) -> bool {
        let computing = platform.nodes().iter().filter(|node| node.processors > 0);
        is_alike(platform) || computing.count() <= Self::MAX_NODES
    }

    /// Returns the transfer time of an edge from one node to another, in ticks.
    pub fn time(&self, edge: u32, from: NodeId, to: NodeId) -> i64 {
        let kind = match self.kinds.as_slice() {
            [] => usize::from(from != to),
            kinds => kinds[from.index() * self.nodes + to.index()] as usize,
        };
        match self.times.as_slice() {
            [] => self.routes[kind].time(self.payloads[edge as usize]).ticks(),
            times => times[edge as usize * self.routes.len() + kind],
        }
    }

    /// Returns the minimum transfer time of an edge over all kinds of routes, in ticks.
    pub fn least(&self, edge: u32) -> i64 {
        let each = self.routes.iter().map(|route| route.time(self.payloads[edge as usize]).ticks());
        each.min().unwrap_or(0)
    }

    /// Returns whether an edge takes time on some route.
    pub fn takes_time(&self, edge: u32) -> bool {
        self.routes.iter().any(|route| route.time(self.payloads[edge as usize]).ticks() > 0)
    }

    /// Returns the mean transfer time of an edge over all pairs of different nodes, in ticks. Returns zero if there is
    /// only one node.
    pub fn mean(&self, edge: u32) -> f64 {
        match self.payloads[edge as usize] {
            _ if self.nodes == 1 => 0.0,
            Payload::Bytes(bytes) => self.means.0 + bytes as f64 * self.means.1,
            Payload::Fixed(time) => time.ticks() as f64,
        }
    }

    /// Returns whether no edge takes time on any route.
    pub fn is_instant(&self) -> bool {
        !(0..self.payloads.len() as u32).any(|edge| self.takes_time(edge))
    }
}

/// Returns whether all pairs of different nodes have equal routes.
fn is_alike(platform: &Platform) -> bool {
    let nodes = platform.nodes();
    let links = nodes.iter().any(|node| node.link.is_some());
    nodes.iter().all(|node| node.parent.is_none()) && !(links && platform.has_local_transfers())
}

/// Returns three lists. The first list contains the kind of the route of each pair of nodes. The second list contains
/// the route of each kind. The third list contains, for each kind, the number of pairs of different nodes.
fn kinds(platform: &Platform, computing: &[usize]) -> (Vec<u32>, Vec<Route>, Vec<u64>) {
    let nodes = computing.len() as u64;
    if is_alike(platform) {
        let own = platform.route(computing[0], computing[0]);
        let other = computing.get(1).map_or(own, |&other| platform.route(computing[0], other));
        return (Vec::new(), vec![own, other], vec![0, nodes * (nodes - 1)]);
    }
    let mut numbers = FxHashMap::default();
    let (mut kinds, mut routes, mut counts) = (Vec::new(), Vec::new(), Vec::new());
    for &from in computing {
        for &to in computing {
            let route = platform.route(from, to);
            let key = (route.latency, route.bandwidth.to_bits(), route.takes_time);
            let kind = *numbers.entry(key).or_insert_with(|| {
                routes.push(route);
                counts.push(0);
                routes.len() as u32 - 1
            });
            kinds.push(kind);
            counts[kind as usize] += u64::from(from != to);
        }
    }
    (kinds, routes, counts)
}
