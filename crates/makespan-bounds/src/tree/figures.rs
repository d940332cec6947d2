//! The coefficients of the linear programme. Nodes are sorted breadth first from the root, so the children of a node
//! have consecutive positions.

use std::ops::Range;

use dashu_ratio::RBig;
use makespan_core::Time;
use makespan_core::tree::TreeProblem;

use super::field::Field;

/// The coefficients of the linear programme. The variables `x(u, k) = a(u, k) c(k)` are in work units per second: for
/// application k on node u, the tasks per second times the work of a task. Application 0 is the idle capacity.
#[derive(Clone)]
pub(super) struct Coefficients<F> {
    /// For each node, the position of its parent. The root has 0.
    pub parent: Vec<u32>,
    /// For each node, the positions of its children.
    pub children: Vec<Range<usize>>,
    /// For each node, its capacity in work units per second.
    pub capacity: Vec<F>,
    /// For each node, the fraction of the time for which its port may send: 1, or slightly more after a perturbation.
    pub port: Vec<F>,
    /// For each node, the seconds per byte on the link from its parent.
    pub delay: Vec<F>,
    /// For each node, the seconds per task on the link from its parent, in addition to the time for the bytes.
    pub latency: Vec<F>,
    /// For each application, the bytes per unit of work. Zero for application 0.
    pub ratio: Vec<F>,
    /// For each application, the tasks per unit of work. Zero for application 0.
    pub tasks: Vec<F>,
    /// For each application, the work units for one unit of fair throughput. Zero for application 0.
    pub share: Vec<F>,
    /// For each application, a small additional demand that breaks ties.
    pub slack: Vec<F>,
}

/// The divisors that scale the floats to values near 1.
pub(super) struct Scale {
    /// The rate that is scaled to 1, in work units per second.
    pub work: RBig,
    /// The share that is scaled to 1, in work units for one unit of fair throughput.
    pub share: RBig,
}

impl<F: Field> Coefficients<F> {
    pub fn new(problem: &TreeProblem, scale: Option<&Scale>) -> Self {
        let order = problem.order();
        let mut position = vec![0_u32; order.len()];
        for (at, &node) in order.iter().enumerate() {
            position[node] = at as u32;
        }
        let parent = order.iter().map(|&node| problem.nodes()[node].parent.map_or(0, |parent| position[parent]));
        let mut next = 1;
        let children = order.iter().map(|&node| {
            let first = next;
            next += problem.children(node).len();
            first..next
        });
        let children = children.collect();
        let one = RBig::ONE;
        let (work, share) = scale.map_or((&one, &one), |scale| (&scale.work, &scale.share));
        let delay = |node: usize| {
            let bandwidth = &problem.nodes()[node].bandwidth;
            if bandwidth.is_zero() { F::zero() } else { F::of(&(work / bandwidth)) }
        };
        let latency = |node: usize| {
            let one = &problem.nodes()[node];
            if one.latency == Time::ZERO { F::zero() } else { F::of(&(work * one.latency_seconds())) }
        };
        let apps = problem.applications();
        let idle = std::iter::once(F::zero);
        let ratio = apps.iter().map(|app| F::of(&app.ratio()));
        let tasks = apps.iter().map(|app| F::of(&(RBig::ONE / &app.work)));
        let shares = apps.iter().map(|app| F::of(&(&app.work * &app.weight / share)));
        Self {
            parent: parent.collect(),
            children,
            capacity: order.iter().map(|&node| F::of(&(problem.capacity(node) / work))).collect(),
            port: vec![F::one(); order.len()],
            delay: order.iter().map(|&node| delay(node)).collect(),
            latency: order.iter().map(|&node| latency(node)).collect(),
            ratio: idle.clone().map(|zero| zero()).chain(ratio).collect(),
            tasks: idle.clone().map(|zero| zero()).chain(tasks).collect(),
            share: idle.map(|zero| zero()).chain(shares).collect(),
            slack: vec![F::zero(); apps.len() + 1],
        }
    }

    /// Returns the number of applications, without application 0.
    pub fn applications(&self) -> usize {
        self.ratio.len() - 1
    }

    pub fn nodes(&self) -> usize {
        self.parent.len()
    }
}

impl Scale {
    /// Returns the scale at which the largest node has the capacity 1 and the shares sum to 1.
    pub fn new(problem: &TreeProblem) -> Self {
        let capacities = (0..problem.nodes().len()).map(|node| problem.capacity(node));
        let work = capacities.max().filter(|most| !most.is_zero()).unwrap_or(RBig::ONE);
        let share = problem.applications().iter().fold(RBig::ZERO, |sum, app| sum + &app.work * &app.weight);
        Self { work, share }
    }
}

/// Maximum time in seconds that a link needs to send the work that the largest node does in one second. The search in
/// floats ignores the nodes below slower links.
const HOPELESS: f64 = 1e9;

impl Coefficients<f64> {
    /// Removes the nodes below links that are too slow for floating point. The search in rationals includes these
    /// nodes.
    pub fn without_hopeless(mut self) -> Self {
        let mut reached = vec![true; self.nodes()];
        for at in 1..self.nodes() {
            let times = self.ratio.iter().zip(&self.tasks).skip(1);
            let least = times.map(|(ratio, tasks)| ratio * self.delay[at] + tasks * self.latency[at]);
            let hopeless = least.fold(f64::INFINITY, f64::min) > HOPELESS;
            reached[at] = reached[self.parent[at] as usize] && !hopeless;
            if !reached[at] {
                self.capacity[at] = 0.0;
                self.delay[at] = 0.0;
                self.latency[at] = 0.0;
            }
        }
        self
    }

    /// Changes the coefficients by a relative amount of about `size`, so that no two bases have equal vertices. Then
    /// every step changes the vertex, and the steps do not cycle. The factor of each coefficient is a hash of its
    /// position.
    pub fn perturb(&mut self, size: f64) {
        let factor = |at: usize, salt: u64| {
            let hash = (at as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(salt);
            let hash = (hash ^ (hash >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            size * (0.5 + 0.5 * ((hash >> 11) as f64 / (1_u64 << 53) as f64))
        };
        for at in 0..self.nodes() {
            self.capacity[at] *= 1.0 + factor(at, 1);
            self.port[at] *= 1.0 + factor(at, 2);
        }
        for application in 1..self.slack.len() {
            self.slack[application] = factor(application, 3);
        }
    }
}
