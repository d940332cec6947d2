//! Schedules on a tree with their transfers, and a check of the transfers that shares no code with the schedulers.

use dashu_ratio::RBig;
use rustc_hash::FxHashMap;
use thiserror::Error;

use super::decimal_of;
use crate::model::{Instance, Platform, TaskId, Time};
use crate::schedule::Schedule;

/// A schedule, with the transfers that bring the data of each task to its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NetworkSchedule {
    /// The placements of the tasks on the nodes that compute them.
    pub schedule: Schedule,
    /// The transfers, sorted by start.
    pub transfers: Vec<Transfer>,
}

/// A transfer of the data of one task from a node's parent to the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Transfer {
    /// The task that needs the data.
    pub task: TaskId,
    /// The position of the receiving node.
    pub to: usize,
    /// Start of the send.
    pub start: Time,
    /// End of the send: the port is free again, and the data have arrived. The send takes at least the latency of the
    /// link plus the bytes divided by its bandwidth.
    pub end: Time,
}

/// A rule of the network that a schedule violates. Messages give nodes by their names.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NetworkViolation {
    /// A transfer goes to the root or to a node without a link, or its task does not exist.
    #[error("transfer {0} goes to a node without a link, or its task is not a task of a bag")]
    Unknown(usize),
    /// A transfer takes less time than its link needs.
    #[error("task {task} of job `{job}` is sent to node `{node}` in less time than its link needs")]
    TooFast {
        /// Name of the job.
        job: String,
        /// The position of the task within the job.
        task: u32,
        /// Name of the receiving node.
        node: String,
    },
    /// A node sends two tasks at the same time.
    #[error("node `{node}` sends two tasks at once at {at} s")]
    TwoSends {
        /// Name of the sending node.
        node: String,
        /// Start of the second send.
        at: Time,
    },
    /// A node sends or computes a task before its data have arrived.
    #[error("node `{node}` {does} task {task} of job `{job}` at {at} s, before the data of the task have arrived")]
    NotThere {
        /// Name of the node.
        node: String,
        /// `sends` or `computes`.
        does: &'static str,
        /// Name of the job.
        job: String,
        /// The position of the task within the job.
        task: u32,
        /// The instant at which the node sends or computes.
        at: Time,
    },
    /// A node receives a task twice, or receives a task that is computed neither at this node nor below it.
    #[error(
        "task {task} of job `{job}` is sent to node `{node}` more than once, or this task is computed neither at \
         this node nor below this node"
    )]
    Astray {
        /// Name of the job.
        job: String,
        /// The position of the task within the job.
        task: u32,
        /// Name of the node that received the task needlessly.
        node: String,
    },
}

/// Checks the transfers of a schedule. [`crate::validate`] checks the placements. The rules are:
///
/// * Each node sends one task at a time. So each node also receives one task at a time, because it has one parent.
/// * Each send takes at least the time that latency and bandwidth require.
/// * A node forwards a task only after the task has arrived completely.
/// * At time 0, all data are at the root.
/// * No task is sent to a node twice, or to a node from which the task does not reach the node that computes it.
///
/// Takes O(n log n).
///
/// # Errors
/// Returns all violations that are found.
pub fn validate_network(instance: &Instance, network: &NetworkSchedule) -> Result<(), Vec<NetworkViolation>> {
    let mut violations = Vec::new();
    let checker = Checker { instance, platform: instance.platform() };
    let unknown = |transfer: &Transfer| !checker.exists(transfer);
    violations.extend(
        (0..network.transfers.len()).filter(|&at| unknown(&network.transfers[at])).map(NetworkViolation::Unknown),
    );
    if violations.is_empty() {
        checker.speeds(&network.transfers, &mut violations);
        checker.ports(&network.transfers, &mut violations);
        checker.ways(network, &mut violations);
    }
    if violations.is_empty() { Ok(()) } else { Err(violations) }
}

struct Checker<'a> {
    instance: &'a Instance,
    platform: &'a Platform,
}

impl Checker<'_> {
    fn exists(&self, transfer: &Transfer) -> bool {
        let node = self.platform.nodes().get(transfer.to);
        let linked = node.is_some_and(|node| node.parent.is_some() && node.link.is_some());
        linked && self.instance.has_task(transfer.task) && self.instance.job_of(transfer.task).is_bag()
    }

    /// Returns the name of a task's job, and the position of the task within the job.
    fn task(&self, task: TaskId) -> (String, u32) {
        if !self.instance.has_task(task) {
            return (String::new(), 0);
        }
        (self.instance.job_of(task).name.clone(), self.instance.number(task))
    }

    fn name(&self, node: usize) -> String {
        self.platform.nodes()[node].name.clone()
    }

    fn speeds(&self, transfers: &[Transfer], violations: &mut Vec<NetworkViolation>) {
        for transfer in transfers {
            let Some(link) = self.platform.nodes()[transfer.to].link else { continue };
            let data = self.instance.task(transfer.task).data.unwrap_or(0);
            let sending = transfer.end.ticks() - transfer.start.ticks() - link.latency.ticks();
            let sent = RBig::from(sending) * decimal_of(link.bandwidth);
            if sending < 0 || sent < RBig::from(data) * RBig::from(Time::TICKS_PER_SECOND) {
                let ((job, task), node) = (self.task(transfer.task), self.name(transfer.to));
                violations.push(NetworkViolation::TooFast { job, task, node });
            }
        }
    }

    fn ports(&self, transfers: &[Transfer], violations: &mut Vec<NetworkViolation>) {
        let sender = |transfer: &Transfer| self.platform.nodes()[transfer.to].parent;
        let mut sends: Vec<(Option<usize>, Time, Time)> =
            transfers.iter().map(|transfer| (sender(transfer), transfer.start, transfer.end)).collect();
        sends.sort_unstable();
        for pair in sends.windows(2) {
            if let (Some(node), true, true) = (pair[0].0, pair[0].0 == pair[1].0, pair[1].1 < pair[0].2) {
                violations.push(NetworkViolation::TwoSends { node: self.name(node), at: pair[1].1 });
            }
        }
    }

    /// Follows the transfers of every task backwards, from the node that computes it to the root.
    fn ways(&self, network: &NetworkSchedule, violations: &mut Vec<NetworkViolation>) {
        let nodes = self.platform.nodes();
        let mut received: FxHashMap<(TaskId, usize), (Time, Time)> = FxHashMap::default();
        for transfer in &network.transfers {
            let key = (transfer.task, transfer.to);
            if received.insert(key, (transfer.start, transfer.end)).is_some() {
                violations.push(self.astray(transfer));
            }
        }
        let mut used = 0;
        for placement in network.schedule.placements() {
            let Some(first) = placement
                .processors
                .intervals()
                .first()
                .map(|interval| interval.0)
                .filter(|&first| first < self.platform.processors())
            else {
                continue;
            };
            let (mut node, mut needed, mut does) = (self.platform.node_of(first), placement.start, "computes");
            while let Some(parent) = nodes[node].parent {
                let way = received.remove(&(placement.task, node));
                let there = way.is_some_and(|(_, arrival)| arrival <= needed);
                if !there {
                    let ((job, task), node, at) = (self.task(placement.task), self.name(node), needed);
                    violations.push(NetworkViolation::NotThere { node, does, job, task, at });
                }
                let Some((start, _)) = way else { break };
                used += 1;
                (node, needed, does) = (parent, start, "sends");
            }
        }
        if used < network.transfers.len() {
            // Reports the remaining transfers, which do not lead to the computation of a task, in order.
            let left = |transfer: &&Transfer| received.contains_key(&(transfer.task, transfer.to));
            violations.extend(network.transfers.iter().filter(left).map(|transfer| self.astray(transfer)));
        }
    }

    fn astray(&self, transfer: &Transfer) -> NetworkViolation {
        let (job, task) = self.task(transfer.task);
        NetworkViolation::Astray { job, task, node: self.name(transfer.to) }
    }
}
