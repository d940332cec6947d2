//! Logs to be replayed: what a policy may know, and what really happened.

mod build;
pub(crate) mod record;
#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use makespan_core::{Actual, Instance, Link, Platform, Time};

use crate::SpeedupSpec;
use crate::anomaly::Report;
use crate::clock::Clock;
use crate::format::Format;

pub(crate) use build::{given, replay};

/// Which run times a policy is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Estimates {
    /// The requested times of the users; the run time where there is none.
    #[default]
    User,
    /// The run times themselves.
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
            _ => Err(format!("`{text}` is no kind of estimates; write user or clairvoyant")),
        }
    }
}

/// How a log is read for replay.
#[derive(Clone, Debug, PartialEq)]
pub struct ReplayOptions {
    /// The machines, instead of a flat cluster of as many processors as the log tells.
    pub platform: Option<Platform>,
    /// Processors of a log's flat cluster, the machines of an ETC matrix that is one column, or the nodes of one processor of
    /// a workflow.
    pub processors: Option<u32>,
    /// The link between any two of the nodes that `processors` makes for a workflow.
    pub network: Option<Link>,
    /// The node that holds the files that come from outside a workflow.
    pub storage: Option<String>,
    /// Which run times the policy is told.
    pub estimates: Estimates,
    /// Makes the jobs moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Of `downey:random`.
    pub seed: u64,
    /// Numbers of queues of an SWF log, that of the highest priority first: jobs of the last one have priority 1, and those of
    /// a queue that is not named 0.
    pub queues: Vec<u32>,
    /// Floating-point operations a second of a processor of speed 1, for the homogeneous parallel profiles of Batsim.
    pub flops: f64,
    /// Number of floating-point operations in one unit of work of `platform`, if the platform states speeds in
    /// operations per second, as platforms of `SimGrid` do. If this number is set, the run times of a Batsim workload
    /// follow from the speeds of the platform, and `flops` is ignored.
    pub unit_flops: Option<f64>,
    /// Refuses a log of which any record would be skipped or put right.
    pub strict: bool,
    /// The machine for files that say nothing of machines, as in [`crate::ReadOptions`].
    pub machine: Option<Platform>,
    /// Most decompressed bytes.
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

/// A log as it is replayed.
#[derive(Clone, Debug)]
pub struct Replay {
    /// Machines and jobs, by submit time and then in the order of the file; the times are the estimates. Who submitted
    /// each job is a number; names are numbered in the order in which they appear in the file.
    ///
    /// The walltime of a job is its requested time. It has none where the log has none, where the estimates are
    /// clairvoyant and the request is below the run time, in a moldable replay, where one time cannot stand for all
    /// allotments, and on processors of other speeds than 1.
    pub instance: Instance,
    /// How long the jobs really ran.
    pub actual: Actual,
    /// What happened to the jobs when the log was written.
    pub past: Past,
    /// How the file was written.
    pub format: Format,
    /// What was odd in the file.
    pub report: Report,
    /// What the user should know about the reading, the anomalies of the report included.
    pub remarks: Vec<String>,
    /// The second of the week at instant 0, counted from Monday, 0:00, by the clock of the log (by UTC where an SWF log tells no
    /// other); `None` where the file does not tell.
    pub week: Option<i64>,
}

/// What a log tells of what really happened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Past {
    /// When each job started, in the order of the instance; `None` where that is not told. Empty where nothing is.
    pub starts: Vec<Option<Time>>,
    /// What its clock shows at the times of the instance.
    pub clock: Option<Clock>,
    /// When the log was written, where some jobs had not ended then.
    pub now: Option<Time>,
}
