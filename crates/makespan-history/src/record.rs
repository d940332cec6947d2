//! Records of processes.

use std::time::{SystemTime, UNIX_EPOCH};

use makespan_core::{Estimate, Time};

use crate::Command;

/// The record of one process of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The command that ran.
    pub command: Command,
    /// The working folder of the process.
    pub folder: String,
    /// The name of the machine.
    pub host: String,
    /// Number of processors.
    pub processors: u32,
    /// Time from start to end.
    pub wall: Time,
    /// CPU time of the job, if the kernel measured it.
    pub cpu: Option<Time>,
    /// Peak memory in bytes, if the kernel measured it.
    pub memory: Option<u64>,
    /// The memory that was reserved for the process, if any.
    pub reserved: Option<MemoryRequest>,
    /// True if the process was killed for lack of memory.
    pub memory_kill: bool,
    /// Number of the attempt at the job, from 1.
    pub attempt: u32,
    /// The outcome.
    pub ending: Ending,
    /// Instant of the end, in seconds since 1970 by the clock of the machine.
    pub ended: i64,
    /// Size in bytes of the files among the arguments at the start ([`Command::input_bytes`]).
    pub inputs: Option<u64>,
    /// True if the process was pinned to its processors, so that its time does not depend on other jobs.
    pub pinned: bool,
    /// Mean number of the run's jobs that ran at the same time, including the job of this record.
    pub at_once: Option<f64>,
    /// True if the run was a trial ([`crate::estimate::Exploration`]).
    pub explored: bool,
}

impl RunRecord {
    /// Returns the record of a process that succeeded on one pinned processor. The folder and the machine are empty, and
    /// other measurements are unknown.
    ///
    /// ```
    /// use makespan_core::Time;
    /// use makespan_history::{Command, RunRecord};
    ///
    /// let command = Command::new(vec!["make".into()]);
    /// let record = RunRecord { memory: Some(1 << 20), ..RunRecord::succeeded(command, Time::from_seconds(5)) };
    /// assert_eq!((record.processors, record.attempt), (1, 1));
    /// ```
    pub const fn succeeded(command: Command, wall: Time) -> Self {
        Self {
            command,
            folder: String::new(),
            host: String::new(),
            processors: 1,
            wall,
            cpu: None,
            memory: None,
            reserved: None,
            memory_kill: false,
            attempt: 1,
            ending: Ending::Succeeded,
            ended: 0,
            inputs: None,
            pinned: true,
            at_once: None,
            explored: false,
        }
    }
}

/// The memory that was reserved for a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryRequest {
    /// Amount in bytes.
    pub bytes: u64,
    /// The source of the amount.
    pub source: Estimate,
}

impl MemoryRequest {
    /// Returns the source that the history stores: the number of runs from which the amount was learned, 0 for a
    /// guess, or `None` for a stated amount.
    pub const fn learned_from(self) -> Option<u32> {
        match self.source {
            Estimate::Stated => None,
            Estimate::Guessed => Some(0),
            Estimate::Learned { runs, .. } => Some(runs),
        }
    }
}

/// The outcome of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process succeeded.
    Succeeded,
    /// The program returned this status, or a signal ended it (128 + the signal number).
    Failed(i32),
    /// The process reached its time limit.
    TimedOut,
    /// The run was stopped.
    Interrupted,
}

impl Ending {
    /// Returns the name and the exit status that the history stores.
    pub const fn parts(self) -> (&'static str, Option<i32>) {
        match self {
            Self::Succeeded => ("succeeded", Some(0)),
            Self::Failed(status) => ("failed", Some(status)),
            Self::TimedOut => ("timed-out", None),
            Self::Interrupted => ("interrupted", None),
        }
    }
}

/// Returns the current folder as text.
pub fn folder_here() -> String {
    std::env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the current time in seconds since 1970, or 0 if the clock is before 1970.
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
