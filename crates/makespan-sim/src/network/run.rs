//! Results of a run.

use makespan_core::Time;
use makespan_core::network::{Network, NodeDecision};
use thiserror::Error;

use super::options::ChangeError;

/// The reason why a run is not possible.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationDefect {
    /// A policy made an invalid decision.
    #[error("the policy of node {node} decided {decision:?}, which is impossible now")]
    Decision {
        /// The node of the policy.
        node: usize,
        /// The invalid decision.
        decision: NodeDecision,
    },
    /// The number of policies differs from the number of nodes.
    #[error("there are {policies} policies for {nodes} nodes; each node needs its own")]
    Policies {
        /// Number of policies given.
        policies: usize,
        /// Number of policies needed.
        nodes: usize,
    },
    /// Buffers of size zero.
    #[error("a buffer for 0 tasks lets no task through; give at least 1")]
    NoBuffer,
    /// A change is invalid.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// The result of a run. Nodes have their numbers in the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkRun {
    /// End of the run.
    pub end: Time,
    /// For each application, the completion times of its tasks in order.
    pub completions: Vec<Vec<Time>>,
    /// Number of tasks of each application.
    pub tasks: Vec<u64>,
    /// Tasks computed, by node and kind. A macro-task counts as one.
    pub computed: Vec<u32>,
    /// Tasks received, by node and kind. A macro-task counts as one.
    pub received: Vec<u32>,
    /// Used processor time, by node.
    pub processor_busy: Vec<Time>,
    /// Time that the port was sending, by node.
    pub port_busy: Vec<Time>,
    /// Port time that the link from the parent used, by node.
    pub link_busy: Vec<Time>,
    /// Maximum number of tasks in one buffer, by node. Zero for the root.
    pub peak: Vec<u32>,
    /// True for removed nodes.
    pub removed: Vec<bool>,
    /// Number of completed hops.
    pub hops: u64,
    /// Number of events that were scheduled.
    pub events: u64,
    /// Number of tasks that returned to the root from removed nodes. A macro-task counts as one.
    pub resent: u64,
    /// True if the run stopped with remaining tasks and without a future event.
    pub stalled: bool,
}

/// The throughput as measured in the paper (section 5.1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The earliest time at which all tasks of some application were done.
    pub first_done: Time,
    /// Tasks a second of each application, between a tenth and nine tenths of `first_done`.
    pub throughput: Vec<f64>,
    /// The minimum of the throughputs divided by the weights of the applications.
    pub fair: f64,
}

impl NetworkRun {
    /// Returns the time at which all tasks of an application were done, or `None` if some were not.
    pub fn done(&self, application: usize) -> Option<Time> {
        let completions = &self.completions[application];
        let all = completions.len() as u64 == self.tasks[application];
        all.then(|| completions.last().copied().unwrap_or(Time::ZERO))
    }

    /// Returns the number of tasks that are not done.
    pub fn unfinished(&self) -> u64 {
        self.tasks.iter().zip(&self.completions).map(|(tasks, done)| tasks - done.len() as u64).sum()
    }

    /// Returns the nodes that compute or lead to computing nodes, were not removed, and received nothing. If a task was
    /// on its way to such a node, the link was too slow.
    pub fn unreached(&self, network: &Network) -> Vec<usize> {
        let kinds = network.kinds().len();
        let serves = network.serves();
        let received = |node: usize| self.received[node * kinds..(node + 1) * kinds].iter().any(|&count| count > 0);
        let missing = |node: &usize| serves[*node] && !self.removed[*node] && !received(*node);
        (1..network.nodes().len()).filter(missing).collect()
    }

    /// Measures the throughput in the steady part. `skipped` is the fraction of the time until the first application
    /// was done that is left out at the beginning and at the end. Returns `None` if no application was done, or if the
    /// steady part has no length.
    pub fn measured(&self, weights: &[f64], skipped: f64) -> Option<Measured> {
        let first_done = (0..self.tasks.len()).filter_map(|application| self.done(application)).min()?;
        let seconds = first_done.seconds() * (1.0 - 2.0 * skipped);
        if seconds <= 0.0 {
            return None;
        }
        let at = |share: f64| Time::from_ticks((first_done.ticks() as f64 * share) as i64);
        let (begin, end) = (at(skipped), at(1.0 - skipped));
        let until = |done: &[Time], at: Time| done.partition_point(|&time| time <= at);
        let within = |done: &Vec<Time>| (until(done, end) - until(done, begin)) as f64 / seconds;
        let throughput: Vec<f64> = self.completions.iter().map(within).collect();
        let fair = throughput.iter().zip(weights).map(|(rate, weight)| rate / weight).fold(f64::INFINITY, f64::min);
        Some(Measured { first_done, throughput, fair })
    }
}
