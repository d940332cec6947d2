//! Observers of a run.

use makespan_core::Time;

/// An event of a run. Events are in order of time. Nodes and kinds are numbered as in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetworkRecord {
    /// A send to `node` begins at the parent of `node`.
    SendBegins {
        /// The receiving node.
        node: usize,
        /// The kind of the task.
        kind: usize,
    },
    /// A task has arrived in the buffer of `node`.
    SendEnds {
        /// The receiving node.
        node: usize,
        /// The kind of the task.
        kind: usize,
    },
    /// A task moves from the buffer to a processor.
    ComputingBegins {
        /// The computing node.
        node: usize,
        /// The kind of the task.
        kind: usize,
    },
    /// The computation of a task ends.
    ComputingEnds {
        /// The computing node.
        node: usize,
        /// The kind of the task.
        kind: usize,
    },
    /// A node is removed, together with all tasks in its buffer and all tasks that it receives, sends or computes.
    /// Nodes below the removed node are reported first.
    Removed {
        /// The removed node.
        node: usize,
    },
}

/// An observer of the events of a run.
pub trait NetworkObserver {
    /// Called for every event.
    fn on(&mut self, now: Time, record: NetworkRecord);
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl NetworkObserver for Silent {
    fn on(&mut self, _now: Time, _record: NetworkRecord) {}
}
