//! Results of a run.

use makespan_core::Time;
use makespan_core::network::{Network, NodeDecision};
use thiserror::Error;

use super::options::ChangeError;

/// The reason why a run is not possible or cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationDefect {
    /// A policy made an invalid decision.
    #[error("the policy of node {node} decided {decision:?}, which is not possible in the current state")]
    Decision {
        /// The node with the policy that made the decision.
        node: usize,
        /// The invalid decision.
        decision: NodeDecision,
    },
    /// The number of policies differs from the number of nodes.
    #[error("there are {policies} policies for {nodes} nodes; give one policy for each node")]
    Policies {
        /// Number of policies.
        policies: usize,
        /// Number of nodes, each of which needs a policy.
        nodes: usize,
    },
    /// The buffers have size zero.
    #[error("a buffer for 0 tasks lets no task through; give at least 1")]
    NoBuffer,
    /// A change is invalid.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// The result of a run. Nodes are numbered as in the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkRun {
    /// The instant at which the run ended.
    pub end: Time,
    /// For each application, the completion times of its tasks, ascending.
    pub completions: Vec<Vec<Time>>,
    /// Number of tasks of each application.
    pub tasks: Vec<u64>,
    /// Number of computed tasks, by node and kind. A macro-task is counted once.
    pub computed: Vec<u32>,
    /// For each node and kind, the number of received tasks. A macro-task is counted once.
    pub received: Vec<u32>,
    /// For each node, the time that its processors were computing, summed over the processors.
    pub processor_busy: Vec<Time>,
    /// For each node, the total time that its port spent sending.
    pub port_busy: Vec<Time>,
    /// For each node, the total time that the port of its parent spent sending to this node. Simultaneous sends share
    /// the time of the port.
    pub link_busy: Vec<Time>,
    /// For each node, the largest number of tasks that any of its buffers held at any instant. Zero for the root.
    pub peak: Vec<u32>,
    /// True for each node that was removed during the run.
    pub removed: Vec<bool>,
    /// Number of completed hops.
    pub hops: u64,
    /// Number of events that were scheduled.
    pub events: u64,
    /// Number of tasks that returned to the root from removed nodes. A macro-task is counted once.
    pub resent: u64,
    /// True if the run stopped because no event was pending, although tasks remained.
    pub stalled: bool,
}

/// The throughput of a run, measured as in O. Beaumont et al. (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section
/// 5.1.1.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredThroughput {
    /// The earliest instant at which all tasks of one of the applications were completed.
    pub first_done: Time,
    /// For each application, the number of tasks completed per second in the measured period. The measured period
    /// omits a fraction of `first_done` at the beginning and at the end. If this fraction is a tenth, the period is
    /// from a tenth to nine tenths of `first_done`.
    pub throughput: Vec<f64>,
    /// The fair throughput: the minimum, over the applications, of the throughput divided by the weight.
    pub fair: f64,
}

impl NetworkRun {
    /// Returns the instant at which all tasks of an application were completed, or `None` if some tasks were not
    /// completed.
    pub fn done(&self, application: usize) -> Option<Time> {
        let completions = &self.completions[application];
        let all = completions.len() as u64 == self.tasks[application];
        all.then(|| completions.last().copied().unwrap_or(Time::ZERO))
    }

    /// Returns the number of tasks that were not completed.
    pub fn unfinished(&self) -> u64 {
        self.tasks.iter().zip(&self.completions).map(|(tasks, done)| tasks - done.len() as u64).sum()
    }

    /// Returns the nodes that received no task, although they or nodes below them have processors. Removed nodes are
    /// omitted. If a task is still being sent to such a node when the run ends, the link to the node is too slow for
    /// the run.
    pub fn unreached(&self, network: &Network) -> Vec<usize> {
        let kinds = network.kinds().len();
        let serves = network.serves();
        let received = |node: usize| self.received[node * kinds..(node + 1) * kinds].iter().any(|&count| count > 0);
        let missing = |node: &usize| serves[*node] && !self.removed[*node] && !received(*node);
        (1..network.nodes().len()).filter(missing).collect()
    }

    /// Measures the throughput in the steady part of the time from 0 until the first application was completed. The
    /// fraction `skipped` of this time is omitted at the beginning, and again at the end. Returns `None` if no
    /// application was completed, or if the steady part is empty.
    pub fn measured(&self, weights: &[f64], skipped: f64) -> Option<MeasuredThroughput> {
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
        Some(MeasuredThroughput { first_done, throughput, fair })
    }
}
