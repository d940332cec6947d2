//! The machines and links that limit the fair throughput.

use makespan_core::tree::{Rates, TreeProblem, float_of, latency_load, link_load};
use makespan_verify::proof::TreePrices;

/// The gain from making one part of a node faster. The gains of all parts of all nodes sum to 1 (linear programming
/// duality).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Upgrade {
    /// The position of the node in the platform.
    pub node: usize,
    /// The part of the node that is made faster.
    pub part: NodePart,
    /// The relative increase of the fair throughput per relative improvement of the part, for small improvements. It is
    /// estimated in floating point from the prices.
    pub gain: f64,
}

/// A part of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodePart {
    /// The processors of the node.
    Processors,
    /// The bandwidth of the link from the node to its parent.
    Link,
    /// The latency of the link from the node to its parent. An improvement makes the latency smaller.
    Latency,
}

/// Returns the parts of nodes that limit the fair throughput: an improvement of such a part would increase the
/// optimum. The part with the largest gain comes first. `rates` and `prices` belong to the optimum.
pub fn upgrades(problem: &TreeProblem, rates: &Rates, prices: &TreePrices) -> Vec<Upgrade> {
    let applications = problem.applications();
    // Use the unit of the certificate. In this unit, the bound is the sum of the prices of all capacities.
    let unit = 2.0_f64.powi(prices.exponent);
    let ports: Vec<f64> = prices.ports.iter().map(|&price| price as f64 * unit).collect();
    let flows = rates.flows(problem);
    let (mut byte, mut send) = (vec![0.0; problem.nodes().len()], vec![0.0; problem.nodes().len()]);
    let mut upgrades = Vec::new();
    for &node in problem.order() {
        let one = &problem.nodes()[node];
        if let Some(parent) = one.parent {
            byte[node] = byte[parent] + ports[parent] / float_of(&one.bandwidth);
            send[node] = send[parent] + ports[parent] * one.latency.seconds();
            let late = float_of(&latency_load(problem, &flows, node));
            let all = float_of(&link_load(problem, &flows, node));
            let mut offer = |part, load: f64| upgrades.push(Upgrade { node, part, gain: ports[parent] * load });
            offer(NodePart::Link, all - late);
            offer(NodePart::Latency, late);
        }
        let net = applications
            .iter()
            .zip(&prices.tasks)
            .map(|(app, &price)| (price as f64 - send[node] - float_of(&app.data) * byte[node]) / float_of(&app.work));
        let gain = net.fold(0.0, f64::max) * float_of(&problem.capacity(node));
        upgrades.push(Upgrade { node, part: NodePart::Processors, gain });
    }
    let all: f64 = upgrades.iter().map(|upgrade| upgrade.gain).sum();
    upgrades.iter_mut().for_each(|upgrade| upgrade.gain /= all.max(f64::MIN_POSITIVE));
    upgrades.retain(|upgrade| upgrade.gain > 1e-9);
    upgrades.sort_by(|a, b| b.gain.total_cmp(&a.gain).then(a.node.cmp(&b.node)));
    upgrades
}
