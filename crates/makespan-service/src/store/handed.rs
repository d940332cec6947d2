//! A job in the form in which the engine receives it.

use std::collections::BTreeMap;

use crate::words::JobNumber;

/// A job in the form in which the engine receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct HandedJob {
    /// The number of the job.
    pub job: JobNumber,
    /// The position of the job among all jobs that the engine has ever received.
    pub position: u64,
    /// The name of the job in the engine.
    pub name: String,
    /// The user of the job.
    pub user: String,
    /// The name that the user gave the job.
    pub title: String,
    /// The number of tasks.
    pub tasks: u64,
    /// The weight in millionths.
    pub weight: u64,
    /// Instant at which the job was submitted, in ticks after the beginning of the round (the run of the engine). The
    /// value is 0 if the job was submitted before the round began.
    pub submitted: i64,
    /// The earliest start, in ticks after the beginning of the round.
    pub release: i64,
    /// The deadline, in ticks after the beginning of the round.
    pub deadline: Option<i64>,
    /// The jobs for which this job waits, by their names in the engine.
    pub after: Vec<String>,
    /// The job as an instance in the native format.
    pub spec: String,
    /// The working directory of the commands.
    pub directory: Option<String>,
    /// Additional environment variables of the commands.
    pub environment: BTreeMap<String, String>,
}
