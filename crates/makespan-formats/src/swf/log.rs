//! A log as an instance, and options for reading it.

use makespan_core::Instance;

use crate::SpeedupSpec;
use crate::anomaly::LogStatistics;

/// Options for reading a log.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SwfLogOptions {
    /// Number of processors of the platform, which replaces the number in the header.
    pub processors: Option<u32>,
    /// Speed-up law that makes the jobs moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Seed for the speed-up `downey:random`.
    pub seed: u64,
    /// True if a log with a record that would be skipped or changed is refused.
    pub strict: bool,
}

/// A log as an instance.
#[derive(Clone, Debug)]
pub struct Log {
    /// The instance with the jobs of the log.
    pub instance: Instance,
    /// Anomalies of the log, including skipped records.
    pub report: LogStatistics,
    /// Other remarks for the user.
    pub remarks: Vec<String>,
}
