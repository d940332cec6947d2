//! Who watches a run.

use makespan_core::Time;

/// What happens in a run, in order of time. Nodes and kinds are numbered as in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// A send begins at the parent of `node`.
    SendBegins {
        /// Who receives.
        node: usize,
        /// What.
        kind: usize,
    },
    /// The task is in the buffer of `node`.
    SendEnds {
        /// Who received.
        node: usize,
        /// What.
        kind: usize,
    },
    /// A task leaves the buffer for a processor.
    ComputingBegins {
        /// Where.
        node: usize,
        /// What.
        kind: usize,
    },
    /// A task is done.
    ComputingEnds {
        /// Where.
        node: usize,
        /// What.
        kind: usize,
    },
    /// A node is gone, with what it held, received, sent and computed. The nodes below it are told of first.
    Removed {
        /// Which.
        node: usize,
    },
}

/// Hears all that happens.
pub trait NetworkObserver {
    /// Something happened at this instant.
    fn on(&mut self, now: Time, record: Record);
}

/// Hears nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl NetworkObserver for Silent {
    fn on(&mut self, _now: Time, _record: Record) {}
}
