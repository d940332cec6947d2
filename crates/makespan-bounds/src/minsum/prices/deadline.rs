//! Limits of the search that refutes a deadline.

/// Maximum number of allotments of all jobs of the sample together.
pub(super) const SAMPLE: usize = 3000;
/// Number of allotments that are tried for a job.
pub(super) const ALLOTMENTS: usize = 12;
/// Number of instants, without the instants at which processors become available or unavailable.
pub(super) const INSTANTS: usize = 24;
/// The lowest temperature (relative width of smoothing) of the search that refutes a deadline. Other searches use
/// [`super::newton::COLD`].
pub(super) const COLD: f64 = 1e-3;
