//! The first vertex of the simplex method. It is near the optimum if most nodes compute.

use super::basis::Basis;
use super::figures::Coefficients;

/// Fraction of the time of each port that the first vertex leaves idle. This margin keeps the vertex feasible despite
/// rounding.
const MARGIN: f64 = 1e-6;

/// Returns a feasible basis without extras: each of the nodes nearest to the root works for one application. The
/// distance of a node from the root is the total time for which ports send one unit of a fair mix of work to the node.
/// The basis uses as many nodes as the ports can feed. If the ports can feed no node, the basis is [`Basis::idle`].
/// Takes O(n log n) for n nodes.
///
/// The applications with the most bytes per unit of work get the nearest nodes, as in proposition 1 of the paper. Each
/// application gets its fair share of the capacity.
pub(super) fn slices(figures: &Coefficients<f64>) -> Basis {
    let mut far = vec![0.0; figures.nodes()];
    let (bytes, tasks) = (mixed(figures, &figures.ratio), mixed(figures, &figures.tasks));
    for node in 1..far.len() {
        far[node] = far[figures.parent[node] as usize] + bytes * figures.delay[node] + tasks * figures.latency[node];
    }
    let mut nodes: Vec<usize> = (0..far.len()).filter(|&node| figures.capacity[node] > 0.0).collect();
    nodes.sort_by(|&a, &b| far[a].total_cmp(&far[b]));
    let mut applications: Vec<usize> = (1..=figures.applications()).collect();
    applications.sort_by(|&a, &b| figures.ratio[b].total_cmp(&figures.ratio[a]));
    // Bisect for the largest number of nodes that the ports can feed.
    let (mut fed, mut starved) = (0, nodes.len() + 1);
    while starved - fed > 1 {
        let middle = usize::midpoint(fed, starved);
        let keys = keys(figures, &nodes[..middle], &applications);
        if is_fed(figures, &keys) { fed = middle } else { starved = middle }
    }
    let mut basis = Basis::idle(figures);
    basis.key = keys(figures, &nodes[..fed], &applications);
    let mut takes = figures.slack.clone();
    for (node, &key) in basis.key.iter().enumerate() {
        takes[key as usize] += figures.capacity[node];
    }
    let value = |application: &usize| takes[*application] / figures.share[*application];
    let least = (1..takes.len()).min_by(|a, b| value(a).total_cmp(&value(b))).unwrap_or(1);
    basis.surplus = (0..takes.len()).map(|application| application > 0 && application != least).collect();
    basis
}

/// Returns the mean of a value over the applications, weighted by their fair shares.
fn mixed(figures: &Coefficients<f64>, each: &[f64]) -> f64 {
    figures.share.iter().zip(each).map(|(share, each)| share * each).sum()
}

/// Assigns nodes to applications in order. Each application in turn gets nodes until it has its share of the capacity.
fn keys(figures: &Coefficients<f64>, nodes: &[usize], applications: &[usize]) -> Vec<u32> {
    let mut keys = vec![0; figures.nodes()];
    let capacity: f64 = nodes.iter().map(|&node| figures.capacity[node]).sum();
    let shares: f64 = figures.share.iter().sum();
    let (mut at, mut done, mut due) = (0, 0.0, 0.0);
    for &node in nodes {
        while at + 1 < applications.len() && done >= due + capacity * figures.share[applications[at]] / shares {
            due += capacity * figures.share[applications[at]] / shares;
            at += 1;
        }
        keys[node] = applications[at] as u32;
        done += figures.capacity[node];
    }
    keys
}

/// Returns true if every port can send the work that the nodes below the port do.
fn is_fed(figures: &Coefficients<f64>, keys: &[u32]) -> bool {
    let taken = |each: &[f64]| -> Vec<f64> {
        keys.iter().zip(&figures.capacity).map(|(&key, capacity)| each[key as usize] * capacity).collect()
    };
    let (mut bytes, mut tasks) = (taken(&figures.ratio), taken(&figures.tasks));
    let mut idle: Vec<f64> = figures.port.iter().map(|port| port * (1.0 - MARGIN)).collect();
    for node in (1..bytes.len()).rev() {
        let parent = figures.parent[node] as usize;
        idle[parent] -= bytes[node] * figures.delay[node] + tasks[node] * figures.latency[node];
        bytes[parent] += bytes[node];
        tasks[parent] += tasks[node];
    }
    idle.iter().all(|&idle| idle >= 0.0)
}
