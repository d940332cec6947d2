//! Bids: combinations of a job, a partition in which it may start, and one way to satisfy its requested features.

use makespan_core::CyclePair;

/// A bid: a job, a partition in which the job may start, and one way to satisfy the features that it requests.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobCandidate {
    pub job: usize,
    pub shape: usize,
    pub partition: usize,
    /// The data for scheduling cycles.
    pub pair: CyclePair,
}
