//! State of a task between its start and its end.

use std::ops::Range;

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, Run, Running, TaskId, Time};

use crate::halt::HaltCause;
use crate::journal::Cause;

/// A task that is running, or will run as soon as its record is on disk.
#[derive(Debug)]
pub(crate) struct Active {
    pub attempt: u32,
    pub start: Time,
    pub processors: ProcSet,
    /// True if the task was let run.
    pub going: bool,
    /// Instant at which the task reaches its time limit.
    pub walltime: Option<Time>,
    /// Reason for ending the task, and instant of SIGKILL.
    pub ending: Option<(Cause, Time)>,
}

impl Active {
    pub fn running(&self, task: TaskId) -> Running {
        Running { task, start: self.start, processors: self.processors.clone() }
    }
}

/// A start that the system refused temporarily.
#[derive(Debug)]
pub(crate) struct Delayed {
    pub task: TaskId,
    pub processors: ProcSet,
    pub due: Time,
    /// Pause after the next refusal.
    pub pause: Time,
}

/// A task that ended as if another process had stopped it. That process may be about to stop this session as well.
#[derive(Debug)]
pub(crate) struct Doubtful {
    pub running: Running,
    pub attempt: u32,
    pub at: Time,
    pub status: i32,
    pub accounting: Option<Accounting>,
    /// Instant from which the end counts as a failure.
    pub due: Time,
}

/// End of a task or of an attempt.
#[derive(Debug)]
pub(crate) struct End {
    pub running: Running,
    /// Number of the attempt, or 0 if the task was not started.
    pub attempt: u32,
    pub at: Time,
    pub outcome: Outcome,
    pub accounting: Option<Accounting>,
    pub reason: Option<String>,
}

impl End {
    /// Creates the end of a task that was not started.
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

/// Event for the observer, reported after its record is on disk.
#[derive(Debug)]
pub(crate) enum News {
    Estimated(Vec<TaskId>),
    Started(Running),
    /// An attempt ended for this reason. The event includes whether the task is tried again.
    Ended {
        run: Run,
        attempt: u32,
        reason: Option<String>,
        again: bool,
    },
    /// The task was lost with its node and is tried again.
    Lost {
        run: Run,
        reason: String,
        attempt: u32,
    },
    /// The task was ended together with the run.
    Interrupted(Run),
    /// These tasks were added.
    Grown(Range<TaskId>),
    /// These tasks were withdrawn if the value is true; otherwise all of them remain.
    Withdrawn(Vec<TaskId>, bool),
    /// A task that had not started was cancelled.
    Cancelled(TaskId),
    /// The end of a task halted the run.
    Halted(HaltCause),
    Told(LogEntry),
    Message(String),
}

/// Returns the outcome of a task, or `None` if it was interrupted and waits again. A task that succeeds while it is
/// being stopped has succeeded.
pub(crate) fn outcome(status: i32, ending: Option<Cause>) -> Option<Outcome> {
    match (status, ending) {
        (_, Some(Cause::Walltime)) => Some(Outcome::TimedOut),
        (0, _) => Some(Outcome::Succeeded),
        (_, Some(Cause::Stop)) => None,
        (status, None | Some(Cause::Cancel)) => Some(Outcome::Failed { status }),
    }
}

/// Returns whether an exit status shows that the process was asked to end.
pub(crate) fn is_of_a_stop(status: i32) -> bool {
    use nix::libc::{SIGHUP, SIGINT, SIGTERM};
    [SIGHUP, SIGINT, SIGTERM].iter().any(|signal| status == 128 + signal)
}
