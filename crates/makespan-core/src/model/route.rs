//! Routes of data between nodes.

use crate::model::{Payload, Platform, ProcSet, Time};

/// The route of data between two nodes: the sum of the latencies and the smallest bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Route {
    /// Time until the first byte arrives: the sum of the latencies of the links.
    pub latency: Time,
    /// Bandwidth in bytes per second; infinite if nothing limits it.
    pub bandwidth: f64,
    /// True if a payload with a fixed time ([`Payload::Fixed`]) takes this time on the route, false if it takes no
    /// time. Always true between distinct nodes. Within one node, true only if local transfers take time.
    pub takes_time: bool,
}

impl Route {
    /// The route between two tasks on the same node.
    pub const LOCAL: Self = Self { latency: Time::ZERO, bandwidth: f64::INFINITY, takes_time: false };

    /// Returns the transfer time of a payload, rounded up to a tick. The time is exact if the bandwidth is a whole
    /// number.
    pub fn time(&self, payload: Payload) -> Time {
        match payload {
            Payload::Fixed(time) if self.takes_time => time,
            Payload::Fixed(_) => Time::ZERO,
            Payload::Bytes(bytes) => self.latency + carried(bytes, self.bandwidth),
        }
    }
}

fn carried(bytes: u64, bandwidth: f64) -> Time {
    // 2^53: every whole number up to this one is exact as a float.
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    if bytes == 0 || bandwidth.is_infinite() {
        return Time::ZERO;
    }
    let second = Time::TICKS_PER_SECOND;
    if bandwidth.fract() == 0.0 && bandwidth < WHOLE {
        let ticks = (u128::from(bytes) * second as u128).div_ceil(bandwidth as u128);
        return Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX));
    }
    // If the float is beyond the range of integers, the cast returns the largest integer.
    Time::from_ticks((bytes as f64 / bandwidth * second as f64).ceil() as i64)
}

impl Platform {
    /// Returns the route of data from one node to another. Takes O(depth of the tree).
    pub fn route(&self, from: usize, to: usize) -> Route {
        if from == to && !self.has_local_transfers() {
            return Route::LOCAL;
        }
        let mut route = Route { takes_time: true, ..Route::LOCAL };
        let mut over = |link: Option<crate::model::Link>| {
            let Some(link) = link else { return };
            route.latency += link.latency;
            route.bandwidth = route.bandwidth.min(link.bandwidth);
        };
        over(self.interconnect());
        let nodes = self.nodes();
        if from == to {
            over(nodes[from].link);
            return route;
        }
        // Moves the deeper of both nodes to its parent until both are the same node.
        let depth = |node: usize| std::iter::successors(nodes[node].parent, |&node| nodes[node].parent).count();
        let (mut from, mut to) = ((depth(from), from), (depth(to), to));
        while from.1 != to.1 {
            let deeper = if from.0 >= to.0 { &mut from } else { &mut to };
            let Some(parent) = nodes[deeper.1].parent else { break };
            over(nodes[deeper.1].link);
            *deeper = (deeper.0 - 1, parent);
        }
        route
    }

    /// Returns the transfer time of a payload from the processors `from` to the processors `to`: the time of the
    /// slowest route from any node of `from` to any node of `to`.
    pub fn transfer_between(&self, from: &ProcSet, to: &ProcSet, payload: Payload) -> Time {
        let each = self.nodes_of(to).flat_map(|to| self.nodes_of(from).map(move |from| (from, to)));
        each.map(|(from, to)| self.route(from, to).time(payload)).max().unwrap_or(Time::ZERO)
    }

    fn nodes_of<'a>(&'a self, processors: &'a ProcSet) -> impl Iterator<Item = usize> + 'a {
        let nodes = processors.intervals().iter().flat_map(|&(first, last)| self.node_of(first)..=self.node_of(last));
        nodes.filter(|&node| self.nodes()[node].processors > 0)
    }

    /// Returns the transfer time of `bytes` bytes between two nodes: the latencies, plus the bytes divided by the
    /// smallest bandwidth on the route. The result does not depend on other transfers, because transfers do not slow
    /// each other down.
    pub fn transfer(&self, from: usize, to: usize, bytes: u64) -> Time {
        self.route(from, to).time(Payload::Bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Link, Node};

    fn node(name: &str, parent: Option<usize>, bandwidth: f64, latency: i64) -> Node {
        let link = (bandwidth > 0.0).then_some(Link { bandwidth, latency: Time::from_ticks(latency) });
        Node { parent, link, ..Node::new(name, 1) }
    }

    #[test]
    fn the_tightest_link_on_the_way_counts() {
        let nodes = vec![
            node("root", None, 0.0, 0),
            node("a", Some(0), 4.0, 10),
            node("b", Some(0), 8.0, 1),
            node("c", Some(1), 16.0, 5),
            node("d", Some(1), 0.0, 0),
        ];
        let platform = Platform::new(nodes).unwrap();
        let ticks = |from, to, bytes| platform.transfer(from, to, bytes).ticks();
        assert_eq!(ticks(3, 2, 8), 2_000_000_016);
        assert_eq!(ticks(2, 3, 8), 2_000_000_016);
        assert_eq!(ticks(3, 1, 8), 500_000_005);
        assert_eq!(ticks(3, 4, 8), 500_000_005);
        assert_eq!(ticks(4, 1, 8), 0);
        assert_eq!(ticks(3, 3, 8), 0);
        assert_eq!(ticks(0, 3, 1), 250_000_015);
        let paying = platform.with_local_transfers();
        assert_eq!(paying.transfer(3, 3, 8).ticks(), 500_000_005);
        assert_eq!(paying.route(3, 3).time(Payload::Fixed(Time::TICK)), Time::TICK);
    }

    #[test]
    fn a_fully_connected_cluster_has_one_link_everywhere_or_none() {
        let cluster = Platform::cluster(3, 2).unwrap();
        assert_eq!(cluster.transfer(0, 2, 1 << 60), Time::ZERO);
        assert_eq!(cluster.route(0, 2).time(Payload::Fixed(Time::TICK)), Time::TICK);
        assert_eq!(cluster.route(2, 2).time(Payload::Fixed(Time::TICK)), Time::ZERO);
        let link = Link { bandwidth: 3.0, latency: Time::TICK };
        let cluster = cluster.with_interconnect(link).unwrap();
        assert_eq!(cluster.transfer(0, 2, 1).ticks(), 333_333_335);
        assert_eq!(cluster.transfer(2, 2, 1), Time::ZERO);
        let fraction = cluster.with_interconnect(Link { bandwidth: 0.5, ..link }).unwrap();
        assert_eq!(fraction.transfer(0, 1, 1).ticks(), 2_000_000_001);
        assert_eq!(fraction.transfer(0, 1, u64::MAX), Time::MAX);
        let tree = Platform::new(vec![node("r", None, 0.0, 0), node("a", Some(0), 1.0, 0)]).unwrap();
        assert!(tree.with_interconnect(link).is_err());
    }
}
