//! Jobs, as they stand.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::JobNumber;

/// How a job stands. A job of several tasks runs as soon as one of them does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits until it is released by somebody.
    Held,
    /// It waits for processors, for others, or for its time.
    Waiting,
    /// It runs.
    Running,
    /// All of it ended with exit status 0.
    Succeeded,
    /// Some of it ended otherwise.
    Failed,
    /// Some of it reached its walltime.
    TimedOut,
    /// Somebody took it back.
    Cancelled,
    /// It never started: what it waits for did not succeed, or it could not be started.
    NotStarted,
}

impl State {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Held,
        Self::Waiting,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::TimedOut,
        Self::Cancelled,
        Self::NotStarted,
    ];

    /// Whether nothing will happen to the job any more.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Held | Self::Waiting | Self::Running)
    }

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NotStarted => "not_started",
        }
    }

    /// The one of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A line of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// Its number.
    pub number: JobNumber,
    /// What it is called.
    pub name: String,
    /// Whose it is.
    pub user: String,
    /// How it stands.
    pub state: State,
    /// When it was submitted.
    pub submitted: f64,
    /// When the present plan starts it, while it waits.
    pub expected_start: Option<f64>,
    /// When it is expected to end, while it waits or runs.
    pub expected_end: Option<f64>,
    /// Originally expected length, in seconds, of a task that has exceeded this length and whose end is unknown.
    pub longer_than: Option<f64>,
    /// If the start or the end of this job depends on a job with an unknown end, the number of that job, or 0 if that
    /// job belongs to another user.
    pub behind: Option<JobNumber>,
    /// When its first task started.
    pub started: Option<f64>,
    /// When its last task ended.
    pub ended: Option<f64>,
    /// The processors on which it runs or ran, or which it needs at least.
    pub processors: u32,
    /// Its weight, before fair share.
    pub weight: f64,
    /// Its priority.
    pub priority: i32,
    /// When it should have ended.
    pub deadline: Option<f64>,
    /// How many tasks it has.
    pub tasks: u64,
    /// How many of them have ended.
    pub tasks_ended: u64,
}

/// All that is known of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// Its line of the queue.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// Its tasks, at most [`JobDetail::MAX_TASKS`]: those that run, then those that have ended without success, then the others.
    pub task_list: Vec<TaskDetail>,
    /// The jobs that it waits for.
    pub after: Vec<JobNumber>,
    /// Where its commands run.
    pub directory: Option<String>,
    /// Additional environment variables of the job. Only the user of the job and admins can see these variables.
    pub environment: BTreeMap<String, String>,
    /// It does not start before.
    pub begin: Option<f64>,
    /// Why it ended as it did, where it did not succeed.
    pub reason: Option<String>,
}

impl JobDetail {
    /// Most tasks that are told of one by one.
    pub const MAX_TASKS: usize = 1000;
}

/// A task of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskDetail {
    /// Its number in the job, from 0.
    pub task: u64,
    /// What it is called in the job.
    pub name: String,
    /// How it stands.
    pub state: State,
    /// The program and its arguments, as submitted.
    pub command: Vec<String>,
    /// When the present plan starts it, while it waits.
    pub expected_start: Option<f64>,
    /// When it started last.
    pub started: Option<f64>,
    /// When it ended.
    pub ended: Option<f64>,
    /// The processors on which it runs or ran, as ranges such as `0-3,6`.
    pub processors: Option<String>,
    /// What the machines are called.
    pub nodes: Vec<String>,
    /// Its exit status.
    pub exit: Option<i32>,
    /// Most bytes of memory that it used.
    pub memory: Option<u64>,
    /// How often it was started.
    pub attempts: u32,
    /// How long it is expected to run, in seconds.
    pub estimate: f64,
    /// How that is known: `stated`, `history` or `guess`.
    pub estimated_by: String,
    /// What it needs, by name.
    pub needs: BTreeMap<String, u64>,
    /// Why it ended as it did, where it did not succeed.
    pub reason: Option<String>,
}

/// Which jobs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default)]
pub struct Filter {
    /// Of these states; all where none is named.
    pub state: Vec<State>,
    /// Of this user.
    pub user: Option<String>,
    /// With this in their names.
    pub text: Option<String>,
    /// Newest first; otherwise in the order of their numbers.
    pub newest: bool,
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The elements.
    pub items: Vec<T>,
    /// What to ask with for the next part; `None` behind the last.
    pub next: Option<u64>,
    /// How many there are in all parts.
    pub total: u64,
}

/// A part of what a task printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The bytes, from where they were asked for.
    pub bytes: Vec<u8>,
    /// How large the file is.
    pub size: u64,
    /// Whether nothing more will come.
    pub ended: bool,
}

/// Standard output or standard error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    #[default]
    Out,
    /// Standard error.
    Err,
}
