//! A partition in which a job can start.

/// A partition in which a job may start, in one of the ways to satisfy its features.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bid {
    pub job: usize,
    pub shape: usize,
    pub partition: usize,
}
