//! A job in the form in which the engine receives it.

use std::collections::BTreeMap;

use crate::words::JobNumber;

/// A job in the form in which the engine receives it.
#[derive(Clone, Debug, PartialEq)]
pub struct Handed {
    /// Which.
    pub job: JobNumber,
    /// Its place among all that the engine was ever given.
    pub position: u64,
    /// What the engine calls it.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// What its user calls it.
    pub title: String,
    /// How many tasks it has.
    pub tasks: u64,
    /// Its weight, in millionths.
    pub weight: u64,
    /// Instant at which the job was submitted, in ticks after the beginning of the round (the run of the engine that
    /// has the job); 0 if the job was submitted before the round began.
    pub submitted: i64,
    /// Ticks after the beginning of the round.
    pub release: i64,
    /// The same.
    pub deadline: Option<i64>,
    /// What the engine calls those that it waits for.
    pub after: Vec<String>,
    /// The native file of it alone.
    pub spec: String,
    /// Where its commands run.
    pub directory: Option<String>,
    /// What their environment has besides.
    pub environment: BTreeMap<String, String>,
}
