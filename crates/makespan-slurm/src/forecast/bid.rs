//! A partition in which a job can start, and one way to satisfy the features that the job requires.

/// A partition in which a job may start, in one of the ways to satisfy its features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub job: usize,
    pub shape: usize,
    pub partition: usize,
}
