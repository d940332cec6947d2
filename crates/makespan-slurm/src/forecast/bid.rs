//! Bids: combinations of a job, a partition in which it may start, and one way to satisfy the features that the job requires.

/// A job, a partition in which it may start, and one of the ways to satisfy the features that it requires.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub job: usize,
    pub shape: usize,
    pub partition: usize,
}
