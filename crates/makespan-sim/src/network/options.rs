//! How a network behaves during a run.

use makespan_core::Time;
use makespan_core::network::Network;
use thiserror::Error;

/// How a run is made.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkOptions {
    /// How many tasks wait at a node other than the root, in each lane.
    pub buffer: u32,
    /// Whether each kind has its own buffer, port and worker thread; the threads of a node then share its port and
    /// processors evenly.
    pub lanes: bool,
    /// How many sends a node makes at once in each lane, at most one to a child; they share its port evenly.
    pub sends: u32,
    /// Whether a request takes the latency of its link; otherwise it arrives at once.
    pub slow_requests: bool,
    /// What happens to the machines.
    pub changes: Vec<Change>,
    /// When the run ends.
    pub until: Until,
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// When all tasks are computed.
    AllDone,
    /// When all tasks of some application are computed.
    FirstApplication,
    /// When all tasks are computed, or at this instant.
    At(Time),
}

/// Something that happens to the machines during a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// When.
    pub at: Time,
    /// To which node, as [`Network`] numbers them.
    pub node: usize,
    /// What.
    pub what: Changed,
}

/// What happens to a node. What is under way goes on at the new rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Changed {
    /// Its link from the parent has this bandwidth, in bytes a second.
    Bandwidth(f64),
    /// Its processors have this speed, in work units a second.
    Speed(f64),
    /// It is gone, with all nodes below it and the switches above it that lead nowhere else. The root, which has the data of all tasks, sends again what was there and not
    /// computed.
    Removed,
}

/// Why a change cannot happen.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// A node that is not in the tree.
    #[error("change {0}: its node does not exist")]
    UnknownNode(usize),
    /// The root has no link and cannot go.
    #[error("change {0}: the root has no parent and cannot be removed; it holds the tasks")]
    Root(usize),
    /// A rate that is not a positive number.
    #[error("change {0}: a bandwidth or speed must be a positive number; remove the node if it is to stand still")]
    Rate(usize),
    /// Before the beginning.
    #[error("change {0}: its time is negative")]
    Time(usize),
}

impl Default for NetworkOptions {
    /// Buffers of ten tasks as in the paper, one send at a time, requests that arrive at once, until all is done.
    fn default() -> Self {
        Self { buffer: 10, lanes: false, sends: 1, slow_requests: false, changes: Vec::new(), until: Until::AllDone }
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
                Changed::Bandwidth(_) | Changed::Removed if change.node == 0 => return Err(ChangeError::Root(index)),
                Changed::Bandwidth(rate) | Changed::Speed(rate) if !(rate.is_finite() && rate > 0.0) => {
                    return Err(ChangeError::Rate(index));
                }
                _ => {}
            }
        }
        Ok(())
    }
}
