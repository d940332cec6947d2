//! What happened, whoever made it happen.

use serde::{Deserialize, Serialize};

use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::online::Accounting;
use crate::schedule::{Placement, Schedule};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// With success.
    Succeeded,
    /// The program returned this status, or a signal ended it (128 + its number, as shells count).
    Failed {
        /// Exit status.
        status: i32,
    },
    /// It reached its walltime and was ended.
    TimedOut,
    /// It lost processors and waits again.
    Interrupted,
    /// It could not be started.
    NotStarted,
}

/// Signals of Linux, whose numbers are added to 128 in the status of what they ended.
const SIGNALS: i32 = 64;

impl Outcome {
    /// The signal that ended the program, as its status tells.
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
    /// Which task.
    #[serde(rename = "job")]
    pub task: TaskId,
    /// First instant.
    pub start: Time,
    /// Last instant.
    pub end: Time,
    /// Where.
    pub processors: ProcSet,
    /// How it ended.
    pub outcome: Outcome,
    /// What it used, where somebody counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<Accounting>,
}

/// The executions of an instance, in order of their end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Ended executions.
    pub runs: Vec<Run>,
}

impl Trace {
    /// What happened as a schedule, for metrics and pictures. Runs that never started are left out.
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

    /// Whether every task of the instance has succeeded.
    pub fn all_succeeded(&self, instance: &Instance) -> bool {
        let succeeded = self.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
        succeeded as u64 == instance.tasks()
    }
}
