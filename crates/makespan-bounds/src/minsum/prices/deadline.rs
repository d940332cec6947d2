//! The limits of a search that refutes a deadline.

/// Maximum number of allotments of all jobs in the sample.
pub(super) const SAMPLE: usize = 3000;
/// Number of allotments that are tried for each job.
pub(super) const ALLOTMENTS: usize = 12;
/// Number of instants, in addition to the instants at which processors become available or unavailable.
pub(super) const INSTANTS: usize = 24;
/// The lowest temperature (relative width of the smoothing). Other searches use [`super::newton::COLD`].
pub(super) const COLD: f64 = 1e-3;
