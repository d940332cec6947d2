//! What is remembered of a process.

use std::time::{SystemTime, UNIX_EPOCH};

use makespan_core::Time;

use crate::Command;

/// What is remembered of one process of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// What it ran.
    pub command: Command,
    /// The folder in which it ran.
    pub folder: String,
    /// The name of the machine.
    pub host: String,
    /// The allotment.
    pub processors: u32,
    /// From its start to its end.
    pub wall: Time,
    /// Time on processors of all its processes, where the kernel counted it.
    pub cpu: Option<Time>,
    /// Most bytes of memory that it held at a time, where the kernel counted them.
    pub memory: Option<u64>,
    /// How it ended.
    pub ending: Ending,
    /// When it ended: seconds since 1970 by the clock of the machine.
    pub ended: i64,
    /// Bytes of the files among its arguments when it started ([`Command::input_bytes`]).
    pub inputs: Option<u64>,
    /// True if it was pinned to its processors, so that its time does not depend on other jobs.
    pub pinned: bool,
    /// Mean number of jobs of the run that ran at once while it ran, itself included.
    pub at_once: Option<f64>,
    /// Whether it ran on this allotment to learn how it speeds up ([`crate::estimate::Exploration`]).
    pub explored: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With success.
    Succeeded,
    /// The program returned this status, or a signal ended it (128 + its number).
    Failed(i32),
    /// It reached its limit of time.
    TimedOut,
    /// The run was stopped.
    Interrupted,
}

impl Ending {
    /// The name and the exit status, as the history keeps them.
    pub const fn parts(self) -> (&'static str, Option<i32>) {
        match self {
            Self::Succeeded => ("succeeded", Some(0)),
            Self::Failed(status) => ("failed", Some(status)),
            Self::TimedOut => ("timed-out", None),
            Self::Interrupted => ("interrupted", None),
        }
    }
}

/// The present folder, as text.
pub fn folder_here() -> String {
    std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Seconds since 1970; 0 where the clock stands before it.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
