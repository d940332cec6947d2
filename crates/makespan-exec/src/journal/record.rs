//! Records of a journal.

use makespan_core::{Accounting, LogEntry, Outcome, ProcSet, TaskId, Time};
use serde::{Deserialize, Serialize};

use super::Estimated;
use crate::tasks::TaskList;

/// One line of a journal. Instants are in ticks after the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Record {
    /// First line of a journal.
    Header {
        /// Version ([`super::VERSION`]).
        version: u32,
        /// Fingerprint of the instance ([`crate::fingerprint`]).
        fingerprint: String,
        /// Wall-clock time at instant 0, in nanoseconds since 1970.
        origin: i64,
        /// True if jobs are added during the run ([`crate::Intake`]). In this case the fingerprint covers only the
        /// machines.
        #[serde(default, skip_serializing_if = "is_false")]
        grows: bool,
    },
    /// New tasks arrived. Their numbers follow the numbers of the existing tasks. Only runs with arriving jobs have
    /// this record.
    Grown {
        /// The new tasks.
        list: TaskList,
    },
    /// Data that distinguish the tasks of this instance from the tasks of an edited instance.
    Tasks {
        /// Tasks in the order of their numbers.
        list: TaskList,
    },
    /// A session started.
    Session {
        /// Start of the session.
        at: Time,
        /// Id of the machine's boot. Start times of processes are comparable only within a boot.
        boot: String,
        /// Control group (cgroup v2) of the session's tasks, if the session could create one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        group: Option<String>,
    },
    /// A task is about to start. Its process waits until this record is on disk.
    Started {
        /// Task that starts.
        #[serde(rename = "job")]
        task: TaskId,
        /// Number of the attempt, counted from 1 for each task.
        attempt: u32,
        /// Start of the attempt.
        at: Time,
        /// Processors that the task holds.
        processors: ProcSet,
        /// Id of its process, which leads a separate process group.
        pid: i32,
        /// Start of this process, in clock ticks after boot.
        pid_start: u64,
        /// GPUs of the task, numbered across the platform. The field is missing if the platform states no GPUs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gpus: Option<Vec<u64>>,
    },
    /// A submitted task started. Before this record, the instant of the submission counts as the start of the task.
    Begun {
        /// Task that started.
        #[serde(rename = "job")]
        task: TaskId,
        /// Start of the task.
        at: Time,
        /// Processors that the task holds.
        processors: ProcSet,
    },
    /// A running task is about to be sent SIGTERM.
    Ending {
        /// Task that is ended.
        #[serde(rename = "job")]
        task: TaskId,
        /// Reason for ending the task.
        cause: Cause,
    },
    /// A task ended.
    Ended {
        /// Task that ended.
        #[serde(rename = "job")]
        task: TaskId,
        /// Start of the task.
        start: Time,
        /// End of the task.
        at: Time,
        /// Processors that the task held.
        processors: ProcSet,
        /// Outcome of the task.
        outcome: Outcome,
        /// Accounting of the attempt, if it is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        accounting: Option<Accounting>,
    },
    /// Makespan ended a running task before it was complete. The task waits again.
    Interrupted {
        /// Task that was interrupted.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the interruption.
        at: Time,
    },
    /// The policy or the user cancelled a waiting task.
    Cancelled {
        /// Task that was cancelled.
        #[serde(rename = "job")]
        task: TaskId,
        /// Instant of the cancellation.
        at: Time,
    },
    /// The policy wrote a log entry about its plans. The policy of a resumed session restores the entry.
    Told {
        /// The log entry.
        entry: LogEntry,
    },
    /// Estimated times were replaced, based on tasks that ended.
    Estimated {
        /// Instant of the replacement.
        at: Time,
        /// Tasks and their new times.
        times: Vec<Estimated>,
    },
    /// The session was stopped, and no task is running.
    Stopped {
        /// Instant of the record.
        at: Time,
    },
    /// Every task has ended or was cancelled.
    Finished {
        /// Instant of the record.
        at: Time,
    },
}

/// Reason for ending a running task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The task reached its time limit.
    Walltime,
    /// The run was stopped, or was resumed and the task had survived the end of the earlier session.
    Stop,
    /// The user cancelled the task.
    Cancel,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}
