//! Options of a run on a network.

use makespan_core::Time;
use makespan_core::network::Network;
use thiserror::Error;

/// The options of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkOptions {
    /// Size of the buffer of each node, except the root, as a number of tasks for each lane (see
    /// [`lanes`](Self::lanes)).
    pub buffer: u32,
    /// True if each kind has its own lane: a buffer, a port and a worker thread. The threads of a node share its port
    /// and its processors evenly. If false, each node has one lane for all kinds.
    pub lanes: bool,
    /// Maximum number of simultaneous sends of a node in each lane, with at most one send to each child. Simultaneous
    /// sends share the node's port evenly.
    pub sends: u32,
    /// True if a request takes the latency of the link to reach the parent. If false, a request reaches the parent at
    /// the instant at which it is sent.
    pub slow_requests: bool,
    /// Changes of the machines during the run.
    pub changes: Vec<NetworkChange>,
    /// The end of the run.
    pub until: EndCondition,
}

/// The condition that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndCondition {
    /// The run ends when all tasks of all applications are computed.
    AllDone,
    /// The run ends as soon as all tasks of one of the applications are computed.
    FirstApplication,
    /// The run ends when all tasks are computed, or at this instant if this instant is earlier.
    At(Time),
}

/// A change of the machines during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkChange {
    /// The instant of the change.
    pub at: Time,
    /// The number of the changed node in the [`Network`].
    pub node: usize,
    /// The change of the node.
    pub what: NodeChange,
}

/// A change of a node. Current sends and computations continue at the new rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NodeChange {
    /// The link from the parent gets this bandwidth, in bytes per second.
    Bandwidth(f64),
    /// The processors get this speed, in work units per second.
    Speed(f64),
    /// The node is removed, together with all nodes below it and with each switch above it that leads to no other
    /// node. The root has the data of all tasks, and sends the uncomputed tasks of the removed nodes again.
    Removed,
}

/// The reason why a change is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The node does not exist.
    #[error("change {0}: its node does not exist")]
    UnknownNode(usize),
    /// The change is the removal of the root, or a new bandwidth for the root. The root has no link to a parent.
    #[error("change {0}: the root cannot be removed and has no link to a parent; change another node")]
    Root(usize),
    /// The rate is not a positive number.
    #[error("change {0}: a bandwidth or speed must be a positive number; to stop the node, remove it")]
    Rate(usize),
    /// The time is negative.
    #[error("change {0}: its time is negative")]
    Time(usize),
}

impl Default for NetworkOptions {
    /// Returns options with buffers of ten tasks, as in O. Beaumont et al., "Centralized versus distributed schedulers
    /// for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262). A node makes one send at a
    /// time. Requests reach the parent without delay. The run ends when all tasks are computed.
    fn default() -> Self {
        Self {
            buffer: 10,
            lanes: false,
            sends: 1,
            slow_requests: false,
            changes: Vec::new(),
            until: EndCondition::AllDone,
        }
    }
}

impl NetworkOptions {
    pub(super) fn check(&self, network: &Network) -> Result<(), ChangeError> {
        for (index, change) in self.changes.iter().enumerate() {
            if change.node >= network.nodes().len() {
                return Err(ChangeError::UnknownNode(index));
            }
            if change.at < Time::ZERO {
                return Err(ChangeError::Time(index));
            }
            match change.what {
                NodeChange::Bandwidth(_) | NodeChange::Removed if change.node == 0 => {
                    return Err(ChangeError::Root(index));
                }
                NodeChange::Bandwidth(rate) | NodeChange::Speed(rate) if !(rate.is_finite() && rate > 0.0) => {
                    return Err(ChangeError::Rate(index));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
