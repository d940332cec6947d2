//! Conversion of a log into an instance, and its options.

use makespan_core::Instance;

use crate::SpeedupSpec;
use crate::anomaly::Report;

/// How a log is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Processors of the platform, instead of the header's.
    pub processors: Option<u32>,
    /// Makes the jobs moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Of `downey:random`.
    pub seed: u64,
    /// Refuses a log of which any record would be skipped.
    pub strict: bool,
}

/// A log as an instance.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its jobs.
    pub instance: Instance,
    /// What was skipped.
    pub report: Report,
    /// What else its user should know.
    pub remarks: Vec<String>,
}
