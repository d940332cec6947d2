//! Rates at which nodes compute tasks.

use dashu_ratio::RBig;
use thiserror::Error;

use super::TreeProblem;

/// Tasks per second of every application on every node. The transfers follow from the rates, because each node receives
/// the tasks that its subtree computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    applications: usize,
    tasks: Vec<RBig>,
}

/// The reason why rates are not a steady state.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatesError {
    /// The number of rates does not match the problem.
    #[error("there are {found} rates, but {expected} are needed: one for each pair of a node and a bag")]
    Size {
        /// Number of rates.
        found: usize,
        /// Expected number of rates.
        expected: usize,
    },
    /// A rate is negative.
    #[error("application {application} has a negative rate on node {node}")]
    Negative {
        /// Position of the node.
        node: usize,
        /// Position of the application.
        application: usize,
    },
    /// The work of a node exceeds the capacity of its processors.
    #[error("node {node} would compute {load:.12} times as much as its processors can compute")]
    Processors {
        /// Position of the node.
        node: usize,
        /// Approximate quotient of work and capacity; infinite for a switch.
        load: f64,
    },
    /// The rates are feasible, but do not have the stated throughput.
    #[error("the fair throughput of the rates differs from the stated fair throughput")]
    Throughput,
    /// A node would have to send to its children for more than a second in each second.
    #[error("the rates require node {node} to send for {load:.12} seconds in each second; the maximum is 1")]
    Port {
        /// Position of the node.
        node: usize,
        /// Approximate time, in seconds, that the sends of one second take.
        load: f64,
    },
}

impl Rates {
    /// Creates rates by node, then application: the rate of application `k` on node `u` is at `u * applications + k`.
    pub fn new(applications: usize, tasks: Vec<RBig>) -> Self {
        Self { applications, tasks }
    }

    /// Returns the number of tasks of an application that a node computes per second.
    pub fn of(&self, node: usize, application: usize) -> &RBig {
        &self.tasks[node * self.applications + application]
    }

    /// Returns all rates, by node, then application.
    pub fn all(&self) -> &[RBig] {
        &self.tasks
    }

    /// Returns, for each node and application, the number of tasks per second that enter the subtree of the node, in
    /// the order of the rates. This number is the flow on the link to the node, and, for the root, the total over all
    /// nodes.
    pub fn flows(&self, problem: &TreeProblem) -> Vec<RBig> {
        let mut flows = self.tasks.clone();
        for &node in problem.order().iter().rev() {
            if let Some(parent) = problem.nodes()[node].parent {
                for application in 0..self.applications {
                    let flow = flows[node * self.applications + application].clone();
                    if !flow.is_zero() {
                        flows[parent * self.applications + application] += flow;
                    }
                }
            }
        }
        flows
    }

    /// Returns the tasks per second of each application on all nodes.
    pub fn totals(&self, problem: &TreeProblem) -> Vec<RBig> {
        let root = problem.root() * self.applications;
        self.flows(problem)[root..][..self.applications].to_vec()
    }

    /// Returns the fraction of time in which the processors of a node compute, averaged over its processors. Returns 0
    /// for a switch.
    pub fn processor_load(&self, problem: &TreeProblem, node: usize) -> RBig {
        let capacity = problem.capacity(node);
        if capacity.is_zero() { RBig::ZERO } else { self.work(problem, node) / capacity }
    }

    fn work(&self, problem: &TreeProblem, node: usize) -> RBig {
        let each = problem.applications().iter().enumerate().map(|(at, app)| self.of(node, at) * &app.work);
        sum(&each.filter(|work| !work.is_zero()).collect::<Vec<_>>())
    }

    /// Returns the exact fair throughput of these rates: the minimum, over applications, of the throughput divided by
    /// the weight.
    ///
    /// # Errors
    /// [`RatesError`] if a node would compute or send more than it can. The check is exact, in rationals.
    pub fn fair_throughput(&self, problem: &TreeProblem) -> Result<RBig, RatesError> {
        let (nodes, applications) = (problem.nodes().len(), problem.applications().len());
        if self.applications != applications || self.tasks.len() != nodes * applications {
            return Err(RatesError::Size { found: self.tasks.len(), expected: nodes * applications });
        }
        if let Some(at) = self.tasks.iter().position(|rate| *rate < RBig::ZERO) {
            return Err(RatesError::Negative { node: at / applications, application: at % applications });
        }
        let flows = self.flows(problem);
        for node in 0..nodes {
            let (work, capacity) = (self.work(problem, node), problem.capacity(node));
            if work > capacity {
                let load = if capacity.is_zero() { f64::INFINITY } else { super::float_of(&(work / capacity)) };
                return Err(RatesError::Processors { node, load });
            }
            let load = port_load(problem, &flows, node);
            if load > RBig::ONE {
                return Err(RatesError::Port { node, load: super::float_of(&load) });
            }
        }
        let root = problem.root() * applications;
        let weighted = problem.applications().iter().zip(&flows[root..]).map(|(app, flow)| flow / &app.weight);
        Ok(weighted.min().unwrap_or(RBig::ZERO))
    }
}

/// Returns the fraction of time in which these flows occupy the link to `child`, both by latencies and by bytes.
pub fn link_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    latency_load(problem, flows, child) + byte_load(problem, flows, child)
}

/// Returns the fraction of time in which the latencies of tasks occupy a link.
pub fn latency_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    let one = &problem.nodes()[child];
    if one.parent.is_none() || one.latency == crate::model::Time::ZERO {
        return RBig::ZERO;
    }
    let flow = &flows[child * problem.applications().len()..][..problem.applications().len()];
    flow.iter().filter(|flow| !flow.is_zero()).fold(RBig::ZERO, |tasks, flow| tasks + flow) * one.latency_seconds()
}

/// Returns the fraction of time in which the bytes of tasks occupy a link.
fn byte_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    let applications = problem.applications();
    let flow = &flows[child * applications.len()..];
    let each = applications.iter().zip(flow).filter(|(_, flow)| !flow.is_zero());
    let bytes = each.fold(RBig::ZERO, |bytes, (app, flow)| bytes + flow * &app.data);
    if bytes.is_zero() { bytes } else { bytes / &problem.nodes()[child].bandwidth }
}

/// Returns the fraction of time in which the port of a node is busy if it sends these flows to its children.
pub fn port_load(problem: &TreeProblem, flows: &[RBig], node: usize) -> RBig {
    let each = problem.children(node).iter().map(|&child| link_load(problem, flows, child));
    sum(&each.filter(|load| !load.is_zero()).collect::<Vec<_>>())
}

/// Returns the sum of the terms. Adds the two halves recursively, so that few intermediate sums have long
/// denominators.
pub(super) fn sum(terms: &[RBig]) -> RBig {
    match terms {
        [] => RBig::ZERO,
        [one] => one.clone(),
        _ => {
            let (first, second) = terms.split_at(terms.len() / 2);
            sum(first) + sum(second)
        }
    }
}
