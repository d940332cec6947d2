//! Plans, predictions and their explanations.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobNumber, State};

/// Past, running and planned tasks, as the web page draws them. The planner thread updates the picture. Requests only
/// read the picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    /// The version number, which increases with every update.
    pub version: u64,
    /// The instant to which the picture refers.
    pub now: f64,
    /// The number of processors.
    pub processors: u32,
    /// The nodes, in the order of their processors.
    pub nodes: Vec<NodePicture>,
    /// The running tasks, the planned tasks, and the tasks that ended last. Ended tasks are omitted if there are more
    /// than [`Picture::MOST`] boxes.
    pub boxes: Vec<BoxPicture>,
    /// The number of waiting tasks that are not in `boxes` because the queue is too long.
    pub planned_left_out: u64,
    /// Reservations that have not ended, and processors that are down.
    #[serde(default)]
    pub closed: Vec<ClosedPicture>,
    /// The value of the plan and its lower bound, for each objective.
    pub bounds: Vec<BoundPicture>,
    /// The number of waiting jobs.
    pub waiting: u64,
    /// The number of held jobs.
    pub held: u64,
    /// The number of running jobs.
    pub running: u64,
    /// The name of the algorithm that makes the plan.
    pub policy: String,
    /// The engine on which jobs run: `this machine` or `Slurm`.
    pub engine: String,
    /// The duration of the last planning in seconds.
    pub planning: f64,
    /// The latest messages for all users, for example that the disk is full.
    pub remarks: Vec<String>,
}

impl Picture {
    /// Number of boxes above which ended tasks are omitted.
    pub const MOST: usize = 20_000;
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodePicture {
    /// The name of the node.
    pub name: String,
    /// The number of the first processor of the node.
    pub first: u32,
    /// The number of processors of the node.
    pub processors: u32,
    /// Whether the node is down.
    pub down: bool,
}

/// A period in which the plan uses no processors of a set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ClosedPicture {
    /// The name of the reservation, or `None` if the processors are down.
    pub reservation: Option<String>,
    /// The start of the period.
    pub start: f64,
    /// The end of the period, or the expected end if the processors are down.
    pub end: f64,
    /// The processors, as ranges of the first and the last processor.
    pub processors: Vec<(u32, u32)>,
}

/// A task as a box in the picture: its processors from its start to its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoxPicture {
    /// The job of the task, or 0 if the client may not see the job.
    pub job: JobNumber,
    /// The number of the task in its job.
    pub task: u64,
    /// The name of the job, or an empty text if the client may not see the job.
    pub name: String,
    /// The user of the job, or an empty text if the client may not see the job.
    pub user: String,
    /// The state of the task. A planned task has the state `waiting`.
    pub state: State,
    /// The start of the task.
    pub start: f64,
    /// The end of the task, or the expected end if the task is running or planned.
    pub end: f64,
    /// Originally expected length of the task, in seconds, if the task has run longer and its end is unknown.
    pub longer_than: Option<f64>,
    /// The number of the job with an unknown end on which the start and the end of the task depend. The number is 0 if
    /// that job belongs to another user.
    pub behind: Option<JobNumber>,
    /// The processors, as ranges of the first and the last processor.
    pub processors: Vec<(u32, u32)>,
}

/// The value of the plan for one objective, and a proved lower bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoundPicture {
    /// The objective of the planned tasks: `makespan` or `weighted_completion`. Times are counted from
    /// [`Picture::now`].
    pub objective: String,
    /// The value of the plan, in seconds.
    pub plan: f64,
    /// The lower bound on the value of every plan, in seconds.
    pub bound: f64,
    /// The value of the plan divided by the bound, if the bound is above 0.
    pub ratio: Option<f64>,
    /// A description of the proof of the bound.
    pub proof: String,
    /// Descriptions of the conditions under which the bound is valid.
    pub conditions: Vec<String>,
}

/// The predicted start of a job, and the reasons why the job does not run now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// The explained job.
    pub job: JobNumber,
    /// The state of the job.
    pub state: State,
    /// Planned start of the job. If the start depends on a job with an unknown end, the field is null, and `why_not`
    /// names this job.
    pub expected_start: Option<f64>,
    /// An early start. If the range is not calibrated, this is the 10th percentile of the start of the job over simulated
    /// futures with random run times.
    pub early: Option<f64>,
    /// A late start. If the range is not calibrated, this is the 90th percentile of the start of the job over simulated
    /// futures with random run times.
    pub late: Option<f64>,
    /// Whether the range is calibrated with the starts of earlier jobs, so that it contains 80 % of the starts.
    #[serde(default)]
    pub calibrated: bool,
    /// The number of earlier forecasts with a known start. Ranges are calibrated if there are at least 50 of them.
    #[serde(default)]
    pub known_starts: u64,
    /// The share of starts that the calibrated ranges contained, among up to 500 of the latest starts.
    #[serde(default)]
    pub held: Option<f64>,
    /// The reasons why the job does not run now, the most important reason first.
    pub why_not: Vec<Reason>,
}

/// A reason why a job waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// One sentence that states the reason.
    pub text: String,
    /// The jobs that cause the wait. Jobs that the client may not see are omitted.
    pub jobs: Vec<JobNumber>,
    /// The resource that the job lacks.
    pub resource: Option<String>,
}

/// The predicted effect of a submission. The submission itself is not accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WhatIf {
    /// Start of each job of the submission, if known.
    pub starts: Vec<Option<f64>>,
    /// End of each job of the submission, if known.
    pub ends: Vec<Option<f64>>,
    /// For each job of the submission, the number of the job with an unknown end that delays this job, if there is
    /// one. The number is 0 if the delaying job belongs to another user.
    pub behind: Vec<Option<JobNumber>>,
    /// Up to 100 jobs with a changed planned start that the client may see, in descending order of the change.
    pub delays: Vec<Delay>,
    /// The number of jobs that would start later and that the client may not see.
    #[serde(default)]
    pub others: u64,
    /// The longest delay of these jobs, in seconds.
    #[serde(default)]
    pub others_delay: f64,
    /// The bounds of the plan without the submission.
    pub before: Vec<BoundPicture>,
    /// The bounds of the plan with the submission.
    pub after: Vec<BoundPicture>,
}

/// The change of the planned start of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delay {
    /// The job.
    pub job: JobNumber,
    /// The delay in seconds. The delay is negative if the job starts earlier.
    pub seconds: f64,
}
