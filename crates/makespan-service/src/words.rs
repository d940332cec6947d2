//! The words that pass between the service and whoever asks it: one set for the library, the HTTP interface and the page.
//!
//! Instants are seconds after 1970, durations are seconds, sizes are bytes.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The number of a job. The service counts them from 1 and gives none again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct JobNumber(pub u64);

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees all and changes nothing.
    Reader,
    /// Submits jobs; sees and changes own ones only.
    Submitter,
    /// Sees and changes all.
    Admin,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Who {
    /// A name.
    pub user: String,
    /// What it may do.
    pub role: Role,
}

/// What is submitted: one job, or all those of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What is to be done.
    pub content: Content,
    /// What the job is called; of a file, what goes before the names of its jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where its commands run, an absolute path; without it in the folder of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// What their environment has besides that of the service.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// How much the jobs matter beside others; 1 where nothing is stated. Of a file, its weights are multiplied by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// Each step multiplies the weight by 8; between -10 and 10. Only an admin may state more than 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<i32>,
    /// When the jobs should have ended, seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<f64>,
    /// They do not start before this instant, seconds after 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begin: Option<f64>,
    /// They wait until they are released.
    #[serde(default)]
    pub hold: bool,
    /// They start when these have ended with success.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<JobNumber>,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Content {
    /// One command with what it needs.
    Command {
        /// The program and its arguments. No shell is between.
        argv: Vec<String>,
        /// What it needs.
        #[serde(default)]
        needs: Needs,
    },
    /// A list of commands, one a line, as `makespan run LIST` reads it. Its lines are run by `sh -c`, as they are there.
    List {
        /// The lines.
        text: String,
    },
    /// An instance file of any format that has commands, as `makespan run FILE` reads it.
    Instance {
        /// The file.
        text: String,
        /// What it is called, whose ending tells the format where its content does not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
    },
}

/// What one command needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Needs {
    /// Processors; 1 where nothing is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processors: Option<u32>,
    /// For how long it is expected to run, in seconds; without it what earlier runs took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// After how long it is ended, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walltime: Option<f64>,
    /// Other resources by name, in all: `memory` in bytes, `gpus`, licences.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, u64>,
}

/// What a submission became.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Receipt {
    /// The jobs, in the order of the file.
    pub jobs: Vec<JobNumber>,
    /// When.
    pub submitted: f64,
    /// What of a file was left out, or taken otherwise than it may have been meant.
    #[serde(default)]
    pub remarks: Vec<String>,
}

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
    /// Its tasks, at most [`JobDetail::MOST_TASKS`]: those that run, then those that have ended without success, then the others.
    pub task_list: Vec<TaskDetail>,
    /// The jobs that it waits for.
    pub after: Vec<JobNumber>,
    /// Where its commands run.
    pub directory: Option<String>,
    /// What its environment has besides.
    pub environment: BTreeMap<String, String>,
    /// It does not start before.
    pub begin: Option<f64>,
    /// Why it ended as it did, where it did not succeed.
    pub reason: Option<String>,
}

impl JobDetail {
    /// Most tasks that are told of one by one.
    pub const MOST_TASKS: usize = 1000;
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

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Refusal {
    /// What it is.
    pub kind: RefusalKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: a field such as `content.argv`, or a line of the file.
    pub place: Option<String>,
    /// What to do.
    pub remedy: Option<String>,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// What was sent is not right.
    BadInput,
    /// A job needs more than there is.
    FitsNowhere,
    /// Jobs wait for each other in a circle.
    Cycle,
    /// There is no such job, or it is not the asker's.
    Unknown,
    /// The asker may not do that.
    Forbidden,
    /// It contradicts what is: a key that was used for something else, a job that has ended.
    Conflict,
    /// The disk is full, or cannot be written.
    Full,
    /// The user has as much as is allowed.
    Quota,
    /// The service is about to end, or its engine is not there.
    Closing,
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
    /// When the plan starts it.
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
    /// When each of its jobs would start.
    pub starts: Vec<f64>,
    /// When it would end.
    pub ends: Vec<f64>,
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

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Happening {
    /// Counted from 1, without gaps.
    pub sequence: u64,
    /// When.
    pub at: f64,
    /// To which job.
    pub job: JobNumber,
    /// Whose it is.
    pub user: String,
    /// To which of its tasks; all where none is named.
    pub task: Option<u64>,
    /// What.
    pub kind: HappeningKind,
    /// How the job stands then.
    pub state: State,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HappeningKind {
    /// It was submitted.
    Submitted,
    /// It started.
    Started,
    /// It ended.
    Ended,
    /// An attempt ended, and it waits again.
    Retried,
    /// Somebody took it back.
    Cancelled,
    /// Somebody holds it.
    Held,
    /// It is not held any more.
    Released,
}

impl HappeningKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Submitted, Self::Started, Self::Ended, Self::Retried, Self::Cancelled, Self::Held, Self::Released];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Started => "started",
            Self::Ended => "ended",
            Self::Retried => "retried",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::Released => "released",
        }
    }

    /// The one of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// What a user has done and may do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct UserSummary {
    /// The name.
    pub user: String,
    /// How many jobs wait or are held.
    pub waiting: u64,
    /// How many run.
    pub running: u64,
    /// How many have ended.
    pub ended: u64,
    /// Processor seconds of all that ended.
    pub used: f64,
    /// The part of all recent use that was this user's, between 0 and 1; use counts half after a week.
    pub share: f64,
    /// How the user's part compares with that of others.
    pub weight: f64,
    /// Most jobs that may wait.
    pub most_waiting: Option<u64>,
    /// Most processors that may be used at once.
    pub most_processors: Option<u32>,
}

/// What an admin says of a user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UserSettings {
    /// How the user's part compares with that of others; 1 where nothing is said.
    pub weight: Option<f64>,
    /// Most jobs that may wait; none: no limit.
    pub most_waiting: Option<u64>,
    /// Most processors that may be used at once; none: no limit.
    pub most_processors: Option<u32>,
}

/// A time in which processors run nothing that they would have to break off: they are kept free.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Reservation {
    /// Its number; the service gives it.
    #[serde(default)]
    pub number: u64,
    /// What it is for.
    pub name: String,
    /// From when.
    pub start: f64,
    /// Until when.
    pub end: f64,
    /// Which processors, as ranges, first and last.
    pub processors: Vec<(u32, u32)>,
}

/// What happened in a span of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Span {
    /// From when.
    pub start: f64,
    /// Until when.
    pub end: f64,
    /// How many jobs were submitted.
    pub submitted: u64,
    /// How many ended, with success or without.
    pub ended: u64,
    /// How many of those without.
    pub failed: u64,
    /// Seconds that those which started then had waited, on average.
    pub wait: Option<f64>,
    /// The part of all processor time that was used, between 0 and 1.
    pub use_of_processors: f64,
}

/// How the service itself is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Health {
    /// Whether it accepts submissions.
    pub accepts: bool,
    /// Whether jobs are started.
    pub runs: bool,
    /// What is wrong, in words.
    pub trouble: Vec<String>,
    /// Since when it is up.
    pub since: f64,
    /// Its version.
    pub version: String,
    /// As whom commands run.
    pub runs_as: String,
}

/// A number for a monitor.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name, with `makespan_` before it and its unit behind it.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Whether it only grows.
    pub is_counter: bool,
    /// Labels and values.
    pub values: Vec<(Vec<(&'static str, String)>, f64)>,
}
