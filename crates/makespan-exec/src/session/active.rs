//! The data of a task between its start and its end.

use std::ops::Range;

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, Run, Running, TaskId, Time};

use crate::halt::HaltCause;
use crate::journal::Cause;

/// A task that is running, or will run after its record is synced to disk.
#[derive(Debug)]
pub(crate) struct Active {
    pub attempt: u32,
    pub start: Time,
    pub processors: ProcSet,
    /// True if the engine has let the task run.
    pub going: bool,
    /// Instant at which the task reaches its time limit.
    pub walltime: Option<Time>,
    /// The reason why the task is being ended, and the instant of its SIGKILL.
    pub ending: Option<(Cause, Time)>,
}

impl Active {
    pub fn running(&self, task: TaskId) -> Running {
        Running { task, start: self.start, processors: self.processors.clone() }
    }
}

/// A task with an exit status that is typical of a stop. A stop request for this session may follow.
#[derive(Debug)]
pub(crate) struct DoubtfulEnd {
    pub running: Running,
    pub attempt: u32,
    pub at: Time,
    pub status: i32,
    pub accounting: Option<Accounting>,
    /// Instant at which the end is recorded as a failure if no stop request has arrived.
    pub due: Time,
}

/// The end of a task or of an attempt.
#[derive(Debug)]
pub(crate) struct TaskEnd {
    pub running: Running,
    /// Number of the attempt, or 0 if the task was not started.
    pub attempt: u32,
    pub at: Time,
    pub outcome: Outcome,
    pub accounting: Option<Accounting>,
    pub reason: Option<String>,
}

impl TaskEnd {
    /// Returns the end of a task that was not started.
    pub fn not_started(task: TaskId, at: Time, processors: ProcSet, reason: &str) -> Self {
        Self {
            running: Running { task, start: at, processors },
            attempt: 0,
            at,
            outcome: Outcome::NotStarted,
            accounting: None,
            reason: Some(reason.to_owned()),
        }
    }
}

/// News that the observer receives after the records are synced to disk.
#[derive(Debug)]
pub(crate) enum SessionNews {
    Estimated(Vec<TaskId>),
    Started(Running),
    /// An attempt ended, for this reason. `again` is true if the task will be tried again.
    Ended {
        run: Run,
        attempt: u32,
        reason: Option<String>,
        again: bool,
    },
    /// An attempt was lost with its node, and the task is tried again.
    Lost {
        run: Run,
        reason: String,
        attempt: u32,
    },
    /// A running task was ended because the run was stopped.
    Interrupted(Run),
    /// These tasks arrived.
    Grown(Range<TaskId>),
    /// The user asked to withdraw these tasks. The value is true if the session withdrew all these tasks.
    Withdrawn(Vec<TaskId>, bool),
    /// A task was cancelled before its start.
    Cancelled(TaskId),
    /// The end of a task halted the run.
    Halted(HaltCause),
    Told(LogEntry),
    Message(String),
}

/// Returns the outcome of a task, or `None` if the task was interrupted and waits again. If a task succeeded while it
/// was being stopped, its outcome is success.
pub(crate) fn outcome(status: i32, ending: Option<Cause>) -> Option<Outcome> {
    match (status, ending) {
        (_, Some(Cause::Walltime)) => Some(Outcome::TimedOut),
        (0, _) => Some(Outcome::Succeeded),
        (_, Some(Cause::Stop)) => None,
        (status, None | Some(Cause::Cancel)) => Some(Outcome::Failed { status }),
    }
}

/// Returns whether an exit status is typical of a process that was asked to end.
pub(crate) fn is_of_a_stop(status: i32) -> bool {
    use nix::libc::{SIGHUP, SIGINT, SIGTERM};
    [SIGHUP, SIGINT, SIGTERM].iter().any(|signal| status == 128 + signal)
}
