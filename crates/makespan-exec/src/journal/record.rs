//! Records of a journal.

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::EqualTimes;
use crate::tasks::TaskList;

/// A record, which is one line of the journal. Instants are in ticks since the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum JournalRecord {
    /// First line of a journal.
    Header {
        /// Version of the format ([`super::VERSION`]).
        version: u32,
        /// Fingerprint of the instance ([`makespan_core::fingerprint`]).
        fingerprint: String,
        /// Wall clock time at instant 0 of the run, in nanoseconds since 1970.
        origin: i64,
        /// True if jobs may arrive during the run ([`crate::Intake`]). If true, the fingerprint includes only the
        /// machines.
        #[serde(default, skip_serializing_if = "is_false")]
        grows: bool,
    },
    /// New tasks arrived. Their numbers follow the numbers of the existing tasks. This record occurs only in runs with
    /// arriving jobs.
    Grown {
        /// The new tasks.
        list: TaskList,
    },
    /// The tasks of the instance. If the instance is edited later, this record shows which tasks are the same.
    Tasks {
        /// Tasks in the order of their numbers.
        list: TaskList,
    },
    /// A session started.
    Session {
        /// Begin of the session.
        at: Time,
        /// Boot id of the machine. Start times of processes are comparable only within one boot.
        boot: String,
        /// The control group (cgroup v2) of the tasks of the session, if one could be created.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
    },
    /// A task is about to run. The task's shim starts the task after this record is written.
    Started {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Number of the attempt, counted from 1 for each task.
        attempt: u32,
        /// Instant of the start.
        at: Time,
        /// The processors of the task.
        processors: ProcSet,
        /// Process id of the task's shim, which leads a process group.
        pid: i32,
        /// Start time of the shim, in clock ticks since boot.
        pid_start: u64,
        /// GPUs of the task, numbered across the platform. The field is missing if the platform states no GPUs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gpus: Option<Vec<u64>>,
    },
    /// A submitted task started. Without this record, the instant of the submission is used as the start of the task.
    Begun {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the start.
        at: Time,
        /// The processors of the task.
        processors: ProcSet,
    },
    /// A running task is about to receive SIGTERM.
    Ending {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// The reason.
        cause: Cause,
    },
    /// A task ended.
    Ended {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the start.
        start: Time,
        /// Instant of the end.
        at: Time,
        /// The processors of the task.
        processors: ProcSet,
        /// The outcome of the task.
        outcome: Outcome,
        /// Resource use, if it was measured.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accounting: Option<Accounting>,
    },
    /// Makespan ended a running task before the task finished. The task waits again.
    Interrupted {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the end.
        at: Time,
    },
    /// The policy or the user cancelled a waiting task.
    Cancelled {
        /// The task.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the cancellation.
        at: Time,
    },
    /// An entry of the policy's log. The policy of a resumed session receives these entries.
    Told {
        /// The entry.
        entry: LogEntry,
    },
    /// Estimated times were replaced by times learned from tasks that ended.
    Estimated {
        /// Instant of the replacement.
        at: Time,
        /// The tasks and their new times.
        times: Vec<EqualTimes>,
    },
    /// The session was asked to stop, and all its tasks have ended.
    Stopped {
        /// Instant of the stop.
        at: Time,
    },
    /// Every task has ended or was cancelled.
    Finished {
        /// Instant at which the run was finished.
        at: Time,
    },
}

/// The reason why a running task was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The task reached its time limit.
    Walltime,
    /// The run was stopped, or it was resumed while the task of a dead session was still running.
    Stop,
    /// The user cancelled the task.
    Cancel,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
fn is_false(value: &bool) -> bool {
    !value
}
