//! Jobs and tasks with their states.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::JobNumber;

/// The state of a job or a task. A job with several tasks is running if at least one of its tasks is running, or if
/// some but not all of its tasks have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The job waits until a user releases it.
    Held,
    /// The job waits for resources, for other jobs, or for its earliest start.
    Waiting,
    /// The job runs.
    Running,
    /// All tasks ended with exit status 0.
    Succeeded,
    /// At least one task failed.
    Failed,
    /// No task failed, and at least one task reached its walltime.
    TimedOut,
    /// The job was cancelled.
    Cancelled,
    /// The job or one of its tasks never started: a job for which it waits did not succeed, or the engine could not
    /// start it.
    NotStarted,
}

impl State {
    /// All states.
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

    /// Returns true if the job has ended.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Held | Self::Waiting | Self::Running)
    }

    /// Returns the name of the state, as in JSON.
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

    /// Returns the name of the state in words.
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }

    /// Returns the state with the given name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A job as an entry of the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobSummary {
    /// The number of the job.
    pub number: JobNumber,
    /// The name of the job.
    pub name: String,
    /// The user who submitted the job.
    pub user: String,
    /// The state of the job.
    pub state: State,
    /// The instant of submission.
    pub submitted: f64,
    /// The planned start of a waiting job.
    pub expected_start: Option<f64>,
    /// The expected end of a waiting or running job.
    pub expected_end: Option<f64>,
    /// Originally expected length of a task, in seconds, if the task has run longer and its end is unknown.
    pub longer_than: Option<f64>,
    /// The number of the job with an unknown end on which the start or the end of this job depends. The number is 0 if
    /// that job belongs to another user.
    pub behind: Option<JobNumber>,
    /// The reason why the job cannot start at present: a problem of the service, or a limit of the user that the job
    /// exceeds.
    #[serde(default)]
    pub blocked: Option<String>,
    /// The start of the first task.
    pub started: Option<f64>,
    /// The end of the last task.
    pub ended: Option<f64>,
    /// The minimum number of processors on which a task of the job can run.
    pub processors: u32,
    /// The submitted weight, before fair share.
    pub weight: f64,
    /// The submitted priority.
    pub priority: i32,
    /// The deadline.
    pub deadline: Option<f64>,
    /// The number of tasks.
    pub tasks: u64,
    /// The number of ended tasks.
    pub tasks_ended: u64,
}

/// A job with its tasks and all stored data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobDetail {
    /// The entry of the queue.
    #[serde(flatten)]
    pub summary: JobSummary,
    /// Up to [`JobDetail::MAX_TASKS`] tasks: first the running tasks, then the tasks that ended without success, then
    /// the waiting tasks, then the tasks that succeeded.
    pub task_list: Vec<TaskDetail>,
    /// The jobs for which this job waits.
    pub after: Vec<JobNumber>,
    /// The working directory of the commands.
    pub directory: Option<String>,
    /// Additional environment variables of the job. Only the user of the job and admins can see these variables.
    pub environment: BTreeMap<String, String>,
    /// The earliest start.
    pub begin: Option<f64>,
    /// The reason why the job did not succeed, if known.
    pub reason: Option<String>,
}

impl JobDetail {
    /// Maximum number of tasks in [`JobDetail::task_list`].
    pub const MAX_TASKS: usize = 1000;
}

/// A task of a job with its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskDetail {
    /// The number of the task in its job, from 0.
    pub task: u64,
    /// The name of the task in its job.
    pub name: String,
    /// The state of the task.
    pub state: State,
    /// The program and its arguments, as submitted.
    pub command: Vec<String>,
    /// The planned start, if the task has not started.
    pub expected_start: Option<f64>,
    /// The start of the latest attempt.
    pub started: Option<f64>,
    /// The end of the task.
    pub ended: Option<f64>,
    /// The processors of the latest attempt, as ranges such as `0-3,6`.
    pub processors: Option<String>,
    /// The names of the nodes of the latest attempt.
    pub nodes: Vec<String>,
    /// The exit status.
    pub exit: Option<i32>,
    /// Peak memory in bytes.
    pub memory: Option<u64>,
    /// The number of starts.
    pub attempts: u32,
    /// Expected run time in seconds.
    pub estimate: f64,
    /// The source of the expected run time: `stated`, `history` or `guess`.
    pub estimated_by: String,
    /// The amount of each resource by name that the task needs on its minimum number of processors.
    pub needs: BTreeMap<String, u64>,
    /// The reason why the task did not succeed, if known.
    pub reason: Option<String>,
}

/// Selects and orders jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[serde(default)]
pub struct Filter {
    /// States of the selected jobs. An empty list selects all states.
    pub state: Vec<State>,
    /// The user of the selected jobs.
    pub user: Option<String>,
    /// Text that the names of the selected jobs must contain. The case of ASCII letters is ignored.
    pub text: Option<String>,
    /// True to list the newest jobs first. Otherwise, jobs are in ascending order of their numbers.
    pub newest: bool,
}

/// One page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// The elements of the page.
    pub items: Vec<T>,
    /// The value of `after` for the next page, or `None` on the last page.
    pub next: Option<u64>,
    /// The number of elements on all pages.
    pub total: u64,
    /// The number of running, waiting and held jobs of other users, if the client may not see these jobs.
    #[serde(default)]
    pub others: u64,
    /// Descriptions of the present problems of the service.
    #[serde(default)]
    pub trouble: Vec<String>,
}

/// A part of the output of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPart {
    /// The bytes of the part.
    pub bytes: Vec<u8>,
    /// The size of the whole output in bytes.
    pub size: u64,
    /// Whether the task has ended, so that its output is complete.
    pub ended: bool,
}

/// One of the two output streams of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    #[default]
    Out,
    /// Standard error.
    Err,
}
