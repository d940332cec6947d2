//! The minimum times of transfers.

use makespan_core::{Instance, Payload, Route};

/// The distinct routes of a platform, separately for routes within a node and between two nodes.
pub(super) struct Routes {
    near: Vec<Route>,
    far: Vec<Route>,
}

impl Routes {
    pub(super) fn of(instance: &Instance) -> Self {
        let platform = instance.platform();
        let computing: Vec<usize> =
            (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0).collect();
        let mut routes = Self { near: Vec::new(), far: Vec::new() };
        for &from in &computing {
            for &to in &computing {
                let list = if from == to { &mut routes.near } else { &mut routes.far };
                let route = platform.route(from, to);
                let same = |other: &Route| {
                    (other.latency, other.bandwidth.to_bits(), other.takes_time)
                        == (route.latency, route.bandwidth.to_bits(), route.takes_time)
                };
                if !list.iter().any(same) {
                    list.push(route);
                }
            }
        }
        routes
    }

    pub(super) fn near(&self, payload: Payload) -> i128 {
        Self::least(&self.near, payload)
    }

    pub(super) fn far(&self, payload: Payload) -> i128 {
        Self::least(&self.far, payload)
    }

    fn least(routes: &[Route], payload: Payload) -> i128 {
        routes.iter().map(|route| i128::from(route.time(payload).ticks())).min().unwrap_or(0)
    }
}
