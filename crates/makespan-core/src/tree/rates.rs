//! Who computes how many tasks a second.

use dashu_ratio::RBig;
use thiserror::Error;

use super::TreeProblem;

/// Tasks a second of every application on every node. What is sent follows: each node receives what its subtree computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    applications: usize,
    tasks: Vec<RBig>,
}

/// Why rates are no steady state.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RatesError {
    /// Rates of another problem.
    #[error("there are {found} rates, and {expected} nodes and applications make pairs")]
    Size {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// Less than nothing.
    #[error("application {application} has a negative rate on node {node}")]
    Negative {
        /// Position of the node.
        node: usize,
        /// Position of the application.
        application: usize,
    },
    /// More work than the processors of a node do.
    #[error("node {node} would compute {load:.12} times as much as its processors can")]
    Processors {
        /// Position of the node.
        node: usize,
        /// About how many times; infinite on a switch.
        load: f64,
    },
    /// Rates that are feasible, and another throughput beside them.
    #[error("the rates have another fair throughput than the one stated")]
    Throughput,
    /// More data than a node can send to its children.
    #[error("node {node} would send {load:.12} seconds in a second")]
    Port {
        /// Position of the node.
        node: usize,
        /// About how many.
        load: f64,
    },
}

impl Rates {
    /// Rates by node, then application: that of application `k` on node `u` is at `u * applications + k`.
    pub fn new(applications: usize, tasks: Vec<RBig>) -> Self {
        Self { applications, tasks }
    }

    /// Tasks of an application that a node computes a second.
    pub fn of(&self, node: usize, application: usize) -> &RBig {
        &self.tasks[node * self.applications + application]
    }

    /// All of them, by node, then application.
    pub fn all(&self) -> &[RBig] {
        &self.tasks
    }

    /// Tasks a second of every application that enter each subtree, in the order of the rates: on the link to a node, and
    /// for the root in all.
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

    /// The part of its time that a node computes, over all its processors; 0 for a switch.
    pub fn processor_load(&self, problem: &TreeProblem, node: usize) -> RBig {
        let capacity = problem.capacity(node);
        if capacity.is_zero() { RBig::ZERO } else { self.work(problem, node) / capacity }
    }

    fn work(&self, problem: &TreeProblem, node: usize) -> RBig {
        let each = problem.applications().iter().enumerate().map(|(at, app)| self.of(node, at) * &app.work);
        sum(&each.filter(|work| !work.is_zero()).collect::<Vec<_>>())
    }

    /// The fair throughput of these rates: the least weighted throughput of an application, exactly.
    ///
    /// # Errors
    /// [`RatesError`] when a node would compute or send more than it can: checked in rationals, without tolerance.
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

/// The part of a link's time that flows take, where the link is that to `child`: latencies and bytes.
pub fn link_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    latency_load(problem, flows, child) + byte_load(problem, flows, child)
}

/// The part of a link's time that the latencies of tasks take.
pub fn latency_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    let one = &problem.nodes()[child];
    if one.parent.is_none() || one.latency == crate::model::Time::ZERO {
        return RBig::ZERO;
    }
    let flow = &flows[child * problem.applications().len()..][..problem.applications().len()];
    flow.iter().filter(|flow| !flow.is_zero()).fold(RBig::ZERO, |tasks, flow| tasks + flow) * one.latency_seconds()
}

/// The part of a link's time that the bytes of tasks take.
fn byte_load(problem: &TreeProblem, flows: &[RBig], child: usize) -> RBig {
    let applications = problem.applications();
    let flow = &flows[child * applications.len()..];
    let each = applications.iter().zip(flow).filter(|(_, flow)| !flow.is_zero());
    let bytes = each.fold(RBig::ZERO, |bytes, (app, flow)| bytes + flow * &app.data);
    if bytes.is_zero() { bytes } else { bytes / &problem.nodes()[child].bandwidth }
}

/// The part of its time that a node sends for flows.
pub fn port_load(problem: &TreeProblem, flows: &[RBig], node: usize) -> RBig {
    let each = problem.children(node).iter().map(|&child| link_load(problem, flows, child));
    sum(&each.filter(|load| !load.is_zero()).collect::<Vec<_>>())
}

/// A sum by halves, so that few terms of it have long denominators.
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
