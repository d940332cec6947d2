//! The lines of a journal.

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::Estimated;
use crate::tasks::TaskList;

/// One line. Instants are ticks after the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// The first line.
    Header {
        /// See [`super::VERSION`].
        version: u32,
        /// See [`crate::fingerprint`].
        fingerprint: String,
        /// The wall clock at instant 0, nanoseconds after 1970.
        origin: i64,
        /// Whether jobs come while the run goes on ([`crate::Intake`]). Then the fingerprint is of the machines alone.
        #[serde(default, skip_serializing_if = "is_false")]
        grows: bool,
    },
    /// New tasks arrived. Their numbers follow the numbers of the existing tasks. Only runs with arriving jobs have
    /// this record.
    Grown {
        /// Those that are new.
        list: TaskList,
    },
    /// Data that distinguish the tasks of this instance from the tasks of an edited instance.
    Tasks {
        /// The tasks, by number.
        list: TaskList,
    },
    /// A process began to execute the run.
    Session {
        /// When.
        at: Time,
        /// The boot of the machine, within which process start times are comparable.
        boot: String,
        /// The control group (cgroup v2) in which its tasks run, where it could make one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
    },
    /// A task is about to run: its process waits for this line to be on disk.
    Started {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Counted from 1 for each task.
        attempt: u32,
        /// When.
        at: Time,
        /// Where.
        processors: ProcSet,
        /// Its process, leader of a group of its own.
        pid: i32,
        /// When that process started, in clock ticks after boot.
        pid_start: u64,
        /// GPUs of the task, numbered across the platform. The field is missing if the platform states no GPUs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gpus: Option<Vec<u64>>,
    },
    /// A submitted task started. Before this record, the instant of the submission counts as the start of the task.
    Begun {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// When.
        at: Time,
        /// Where.
        processors: ProcSet,
    },
    /// A running task is about to be sent SIGTERM.
    Ending {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Why.
        cause: Cause,
    },
    /// A task ended.
    Ended {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Since when it ran.
        start: Time,
        /// When.
        at: Time,
        /// Where.
        processors: ProcSet,
        /// How.
        outcome: Outcome,
        /// What it used, where somebody counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accounting: Option<Accounting>,
    },
    /// A running task was ended by us before it was done; it waits again.
    Interrupted {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// When.
        at: Time,
    },
    /// The policy gave up a waiting task, or somebody took it back.
    Cancelled {
        /// Which task.
        #[serde(rename = "job")]
        task: TaskId,
        /// When.
        at: Time,
    },
    /// The policy told something of its plans, which the policy of a resumed session recalls.
    Told {
        /// What.
        entry: LogEntry,
    },
    /// Estimated times were replaced, based on tasks that ended.
    Estimated {
        /// When.
        at: Time,
        /// Which, and by what.
        times: Vec<Estimated>,
    },
    /// The session was asked to stop, and nothing runs any more.
    Stopped {
        /// When.
        at: Time,
    },
    /// Every task has ended or was cancelled.
    Finished {
        /// When.
        at: Time,
    },
}

/// Why a running task was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It reached its walltime.
    Walltime,
    /// The run was stopped, or resumed after a death that the task survived.
    Stop,
    /// The user cancelled the task.
    Cancel,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}
