//! What is planned, and why.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobNumber, State};

/// What was, is and is planned, as the page draws it; remade by the planner, never by who asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Picture {
    /// Grows with every change.
    pub version: u64,
    /// When it was made.
    pub now: f64,
    /// How many processors there are.
    pub processors: u32,
    /// The machines, in the order of their processors.
    pub nodes: Vec<NodePicture>,
    /// What ended, runs or is planned, at most [`Picture::MOST`] boxes: all that runs, what is planned soonest, what ended last.
    pub boxes: Vec<BoxPicture>,
    /// How many planned tasks are left out.
    pub planned_left_out: u64,
    /// How far the plan is from the best possible, for each objective.
    pub bounds: Vec<BoundPicture>,
    /// How many jobs wait, are held and run.
    pub waiting: u64,
    /// See above.
    pub held: u64,
    /// See above.
    pub running: u64,
    /// Which policy decides.
    pub policy: String,
    /// Where it runs: `this machine` or `Slurm`.
    pub engine: String,
    /// How long the last planning took, in seconds.
    pub planning: f64,
    /// What everybody should know, such as that the disk is full.
    pub remarks: Vec<String>,
}

impl Picture {
    /// Most boxes.
    pub const MOST: usize = 20_000;
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NodePicture {
    /// What it is called.
    pub name: String,
    /// Its first processor.
    pub first: u32,
    /// How many it has.
    pub processors: u32,
    /// Whether it is down.
    pub down: bool,
}

/// A task in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoxPicture {
    /// Whose job.
    pub job: JobNumber,
    /// Which task of it.
    pub task: u64,
    /// What the job is called, empty where the asker may not know.
    pub name: String,
    /// Whose it is, empty where the asker may not know.
    pub user: String,
    /// Waiting: planned.
    pub state: State,
    /// From when.
    pub start: f64,
    /// Until when: of what runs or is planned, as expected.
    pub end: f64,
    /// Originally expected length of the task, in seconds, if the task has exceeded this length and its end is unknown.
    pub longer_than: Option<f64>,
    /// If the start and the end of the task depend on a job with an unknown end, the number of that job, or 0 if that
    /// job belongs to another user.
    pub behind: Option<JobNumber>,
    /// Where: ranges of processors, first and last.
    pub processors: Vec<(u32, u32)>,
}

/// How far the plan is from the best possible.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BoundPicture {
    /// What is minimised: `makespan` or `weighted_completion`, counted from now, of what waits and runs.
    pub objective: String,
    /// What the plan has, in seconds.
    pub plan: f64,
    /// What no plan can be below, in seconds.
    pub bound: f64,
    /// Their ratio, where the bound is above 0.
    pub ratio: Option<f64>,
    /// By what the bound is proved, in words.
    pub proof: String,
    /// Under which conditions it holds, in words.
    pub conditions: Vec<String>,
}

/// When a job is expected to start, and why not now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// Which.
    pub job: JobNumber,
    /// How it stands.
    pub state: State,
    /// Planned start of the job. If the start depends on a job with an unknown end, this field is null and `why_not`
    /// names that job.
    pub expected_start: Option<f64>,
    /// When it would start if all that runs and is planned before took as little time as such jobs ever do: nine of ten start later.
    pub early: Option<f64>,
    /// And as much: nine of ten start earlier.
    pub late: Option<f64>,
    /// Why it does not run now, each in a sentence, the first one the most important.
    pub why_not: Vec<Reason>,
}

/// A reason to wait.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// In a sentence.
    pub text: String,
    /// The jobs that are the reason, as far as the asker may know them.
    pub jobs: Vec<JobNumber>,
    /// The resource that lacks.
    pub resource: Option<String>,
}

/// What would become of a submission that is not kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WhatIf {
    /// Start of each job of the submission, if known.
    pub starts: Vec<Option<f64>>,
    /// End of each job of the submission, if known.
    pub ends: Vec<Option<f64>>,
    /// For each job of the submission: if a job with an unknown end delays it, the number of that delaying job, or 0 if
    /// the delaying job belongs to another user.
    pub behind: Vec<Option<JobNumber>>,
    /// Which jobs would start later or earlier, and by how many seconds; at most 100, the largest first.
    pub delays: Vec<Delay>,
    /// The bounds of the plan without it.
    pub before: Vec<BoundPicture>,
    /// And with it.
    pub after: Vec<BoundPicture>,
}

/// By how much a job would start later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delay {
    /// Which.
    pub job: JobNumber,
    /// Seconds; negative: earlier.
    pub seconds: f64,
}
