//! What came of a run.

use makespan_core::Time;
use makespan_core::network::{Network, NodeDecision};
use thiserror::Error;

use super::options::ChangeError;

/// Why a run cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationDefect {
    /// A policy decided what cannot be done.
    #[error("the policy of node {node} decided {decision:?}, which cannot be done now")]
    Decision {
        /// Which node.
        node: usize,
        /// What it wanted.
        decision: NodeDecision,
    },
    /// Not one policy a node.
    #[error("there are {policies} policies for {nodes} nodes; each node has its own")]
    Policies {
        /// How many were given.
        policies: usize,
        /// How many are needed.
        nodes: usize,
    },
    /// Buffers that hold nothing.
    #[error("a buffer of 0 tasks lets none through; give at least 1")]
    NoBuffer,
    /// A change that cannot happen.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// What came of a run. Nodes are numbered as in the network.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkRun {
    /// When the run ended.
    pub end: Time,
    /// For each application, when its tasks were done, in order.
    pub completions: Vec<Vec<Time>>,
    /// How many tasks each application had.
    pub tasks: Vec<u64>,
    /// Pieces computed, by node and kind.
    pub computed: Vec<u32>,
    /// Pieces received, by node and kind.
    pub received: Vec<u32>,
    /// Processor time used, by node.
    pub processor_busy: Vec<Time>,
    /// Time that the port sent, by node.
    pub port_busy: Vec<Time>,
    /// Time of a port that the link from the parent took, by node.
    pub link_busy: Vec<Time>,
    /// The most that waited in one buffer, by node; zero for the root.
    pub peak: Vec<u32>,
    /// Nodes that were removed.
    pub removed: Vec<bool>,
    /// Hops that ended.
    pub hops: u64,
    /// Events that were foreseen.
    pub events: u64,
    /// Pieces that came back to the root from nodes that were removed.
    pub resent: u64,
    /// Whether the run stopped with tasks left and nothing to wait for.
    pub stalled: bool,
}

/// Throughput as the paper measures it (section 5.1.1).
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The earliest time at which all tasks of some application were done.
    pub first_done: Time,
    /// Tasks a second of each application between a tenth and nine tenths of that time.
    pub throughput: Vec<f64>,
    /// The smallest of these over the application's weight.
    pub fair: f64,
}

impl NetworkRun {
    /// When all tasks of an application were done; `None` if they were not.
    pub fn done(&self, application: usize) -> Option<Time> {
        let completions = &self.completions[application];
        let all = completions.len() as u64 == self.tasks[application];
        all.then(|| completions.last().copied().unwrap_or(Time::ZERO))
    }

    /// How many tasks are not done.
    pub fn unfinished(&self) -> u64 {
        self.tasks.iter().zip(&self.completions).map(|(tasks, done)| tasks - done.len() as u64).sum()
    }

    /// Nodes that compute or lead to such, were not removed, and received nothing: the task on its way, if any, was too
    /// slow to arrive.
    pub fn unreached(&self, network: &Network) -> Vec<usize> {
        let kinds = network.kinds().len();
        let serves = network.serves();
        let received = |node: usize| self.received[node * kinds..(node + 1) * kinds].iter().any(|&count| count > 0);
        let missing = |node: &usize| serves[*node] && !self.removed[*node] && !received(*node);
        (1..network.nodes().len()).filter(missing).collect()
    }

    /// Throughput in the steady part: between `skipped` of the time until the first application was done and as much
    /// before its end. `None` when no application was done, or all at once in no time.
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
