//! The trace of a simulation or a real run.

use serde::{Deserialize, Serialize};

use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::online::Accounting;
use crate::schedule::{Placement, Schedule};

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The task succeeded.
    Succeeded,
    /// The program did not succeed and ended with this status. If a signal ended the program, the status is 128 plus
    /// the number of the signal, as in shells.
    Failed {
        /// Exit status.
        status: i32,
    },
    /// The run was terminated at the walltime of its task.
    TimedOut,
    /// The run lost processors, and the task waits again.
    Interrupted,
    /// The run never started, because a predecessor of the task failed or was cancelled, or because the program could
    /// not be started.
    NotStarted,
}

/// Largest number of a signal on Linux. If a signal ends a process, the status of the process is 128 plus this signal's
/// number.
const SIGNALS: i32 = 64;

impl Outcome {
    /// Returns the number of the signal that ended the program, according to its status. Returns `None` if no signal
    /// ended the program.
    pub fn signal(self) -> Option<i32> {
        match self {
            Self::Failed { status } if (129..=128 + SIGNALS).contains(&status) => Some(status - 128),
            _ => None,
        }
    }
}

/// One execution of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The task.
    #[serde(rename = "job")]
    pub task: TaskId,
    /// Start of the run.
    pub start: Time,
    /// End of the run.
    pub end: Time,
    /// Processors of the run.
    pub processors: ProcSet,
    /// Outcome of the run.
    pub outcome: Outcome,
    /// Resource usage of the run, if it was counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
}

/// The executions of the tasks of an instance.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The executions that have ended, in the order of their ends.
    pub runs: Vec<Run>,
}

impl Trace {
    /// Converts the trace to a schedule, for metrics and charts. Runs that never started are omitted.
    pub fn schedule(&self) -> Schedule {
        let started = self.runs.iter().filter(|run| run.outcome != Outcome::NotStarted);
        Schedule::new(
            started
                .map(|run| Placement {
                    task: run.task,
                    start: run.start,
                    end: run.end,
                    processors: run.processors.clone(),
                })
                .collect(),
        )
    }

    /// Returns true if every task of the instance has succeeded.
    pub fn all_succeeded(&self, instance: &Instance) -> bool {
        let succeeded = self.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
        succeeded as u64 == instance.tasks()
    }
}
