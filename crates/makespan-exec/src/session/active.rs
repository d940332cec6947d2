//! What a session keeps of a task between its start and its end.

use std::ops::Range;

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, Run, Running, TaskId, Time};

use crate::halt::HaltCause;
use crate::journal::Cause;

/// A task that runs, or will when its record is on disk.
#[derive(Debug)]
pub(crate) struct Active {
    pub attempt: u32,
    pub start: Time,
    pub processors: ProcSet,
    /// Whether it was let run.
    pub going: bool,
    /// When it must have ended.
    pub walltime: Option<Time>,
    /// Why it is being ended, and when it is to be killed.
    pub ending: Option<(Cause, Time)>,
}

impl Active {
    pub fn running(&self, task: TaskId) -> Running {
        Running { task, start: self.start, processors: self.processors.clone() }
    }
}

/// A start that the system refused for now.
#[derive(Debug)]
pub(crate) struct Delayed {
    pub task: TaskId,
    pub processors: ProcSet,
    pub due: Time,
    /// How long it waits after the next refusal.
    pub pause: Time,
}

/// A task that ended as if somebody had stopped it. Whoever did may be about to ask us to stop as well.
#[derive(Debug)]
pub(crate) struct Doubtful {
    pub running: Running,
    pub attempt: u32,
    pub at: Time,
    pub status: i32,
    pub accounting: Option<Accounting>,
    /// When it is a failure.
    pub due: Time,
}

/// How a task ended, or an attempt at it.
#[derive(Debug)]
pub(crate) struct End {
    pub running: Running,
    /// 0 where it was not started.
    pub attempt: u32,
    pub at: Time,
    pub outcome: Outcome,
    pub accounting: Option<Accounting>,
    pub reason: Option<String>,
}

impl End {
    /// A task that was not started.
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

/// What the observer is told once it is on disk.
#[derive(Debug)]
pub(crate) enum News {
    Estimated(Vec<TaskId>),
    Started(Running),
    /// An attempt ended, for this reason; whether the task is tried again.
    Ended {
        run: Run,
        attempt: u32,
        reason: Option<String>,
        again: bool,
    },
    /// It was lost with its node, and is tried again.
    Lost {
        run: Run,
        reason: String,
        attempt: u32,
    },
    /// It was ended with the run.
    Interrupted(Run),
    /// These tasks have come.
    Grown(Range<TaskId>),
    /// Whether these were taken back, all of them.
    Withdrawn(Vec<TaskId>, bool),
    /// A task that had not started was given up.
    Cancelled(TaskId),
    /// The end of a task halted the run.
    Halted(HaltCause),
    Told(LogEntry),
    Message(String),
}

/// How a task ended; `None` when it was interrupted and waits again. A task that was being stopped and still ended with
/// success has succeeded.
pub(crate) fn outcome(status: i32, ending: Option<Cause>) -> Option<Outcome> {
    match (status, ending) {
        (_, Some(Cause::Walltime)) => Some(Outcome::TimedOut),
        (0, _) => Some(Outcome::Succeeded),
        (_, Some(Cause::Stop)) => None,
        (status, None | Some(Cause::Cancel)) => Some(Outcome::Failed { status }),
    }
}

/// Whether a status is that of a process which was asked to end.
pub(crate) fn is_of_a_stop(status: i32) -> bool {
    use nix::libc::{SIGHUP, SIGINT, SIGTERM};
    [SIGHUP, SIGINT, SIGTERM].iter().any(|signal| status == 128 + signal)
}
