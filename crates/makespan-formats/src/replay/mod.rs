//! Reads logs for replays, and separates the data that a policy may use from the real run times and starts.

mod build;
mod logged_end;
pub(crate) mod record;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use makespan_core::{Actual, Instance, Link, Platform, Time};

use crate::SpeedupSpec;
use crate::anomaly::LogStatistics;
use crate::clock::Clock;
use crate::format::Format;

pub(crate) use build::{BOTH_STATED, given, replay};
pub use logged_end::LoggedEnd;

/// Run times that a policy receives as estimates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimates {
    /// Requested times of the users. The estimate of a job without a requested time is its real run time.
    #[default]
    User,
    /// Real run times.
    Clairvoyant,
}

impl fmt::Display for Estimates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Clairvoyant => "clairvoyant",
        })
    }
}

impl FromStr for Estimates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "user" => Ok(Self::User),
            "clairvoyant" => Ok(Self::Clairvoyant),
            _ => Err(format!("`{text}` is not a kind of estimates; write user or clairvoyant")),
        }
    }
}

/// Options for reading a log for a replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// Platform. If `None`, the platform is a flat cluster with the number of processors in the log.
    pub platform: Option<Platform>,
    /// Number of processors. For a log, this is the size of the flat cluster. If an ETC matrix has only one column,
    /// `processors` is the number of machines. For a workflow, `processors` is the number of nodes, each with one
    /// processor.
    pub processors: Option<u32>,
    /// Link between each pair of the nodes that `processors` creates for a workflow.
    pub network: Option<Link>,
    /// Node that stores the files that come from outside a workflow.
    pub storage: Option<String>,
    /// Run times that the policy receives as estimates.
    pub estimates: Estimates,
    /// Speed-up law that makes the jobs of a log moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Seed for the speed-up `downey:random`.
    pub seed: u64,
    /// Queue numbers of an SWF log, in descending order of priority. Jobs of the last queue in the list have
    /// priority 1. Jobs of unlisted queues have priority 0.
    pub queues: Vec<u32>,
    /// Number of floating-point operations per second on a processor of speed 1, for homogeneous parallel profiles of
    /// Batsim.
    pub flops: f64,
    /// Number of floating-point operations in one unit of work of `platform`. `None` if the platform does not state
    /// speeds in operations per second, as platforms of `SimGrid` do. If this number is set, the run times of a Batsim
    /// workload are computed from the speeds of the platform, and `flops` is ignored.
    pub unit_flops: Option<f64>,
    /// True if a log with a record that would be skipped or changed is refused.
    pub strict: bool,
    /// Machine for files that do not state machines, as in [`crate::ReadOptions`].
    pub machine: Option<Platform>,
    /// Maximum size after decompression, in bytes.
    pub max_bytes: u64,
}

impl Default for ReplayOptions {
    fn default() -> Self {
        Self {
            platform: None,
            processors: None,
            network: None,
            storage: None,
            estimates: Estimates::User,
            speedup: None,
            seed: 0,
            queues: Vec::new(),
            flops: crate::batsim::SPEED,
            unit_flops: None,
            strict: false,
            machine: None,
            max_bytes: crate::ReadOptions::default().max_bytes,
        }
    }
}

/// A log for a replay.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The machines and the jobs. Jobs are in the order of their submit times, and then in file order. Run times are
    /// the estimates. Users are numbered by their first occurrence in the file.
    ///
    /// The walltime of a job is its requested time. A job has no walltime in these cases:
    ///
    /// * The log has no requested time.
    /// * The estimates are clairvoyant, and the requested time is below the run time.
    /// * The replay is moldable, because no single time limit suits all numbers of processors.
    /// * Some processor has a speed other than 1.
    pub instance: Instance,
    /// Real run times of the jobs.
    pub actual: Actual,
    /// Real starts of the jobs, and the time at which the log was written.
    pub past: LoggedStarts,
    /// Format of the file.
    pub format: Format,
    /// Anomalies in the file.
    pub report: LogStatistics,
    /// Remarks about the file for the user, including the anomalies.
    pub remarks: Vec<String>,
    /// Second of the week at instant 0, counted from Monday, 0:00, in the time zone of the log. SWF logs without a
    /// time zone are treated as UTC. `None` if the log does not state the date.
    pub week: Option<i64>,
}

/// Real starts of a log, and the instant at which the log was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedStarts {
    /// Real start of each job in the order of the instance, or `None` if the log does not state the start of the job.
    /// Empty if the log states no start.
    pub starts: Vec<Option<Time>>,
    /// Clock of the log, which converts times to dates.
    pub clock: Option<Clock>,
    /// Instant at which the log was written, if some jobs had not ended at this instant.
    pub now: Option<Time>,
}
