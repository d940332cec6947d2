//! Plans, predictions and their explanations.

use makespan_core::{WaitKind, WaitReason};
use makespan_history::RangeShare;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi::schema::SchemaType;
use utoipa::openapi::{Object, ObjectBuilder, Type};

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

/// The predicted start of a job, and the reasons why the job does not run now. Clients read [`JobOutlook`] and
/// [`RangeShare`] from it, because serde cannot read flattened numbers of arbitrary precision.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Explanation {
    /// The prediction for the job. A job that does not wait has no expected start and no reasons.
    #[serde(flatten)]
    pub outlook: JobOutlook,
    /// The state of the job.
    pub state: State,
    /// The share of the starts that the ranges contain.
    #[schema(schema_with = range_share)]
    pub ranges: RangeShare,
}

/// The predicted start and end of a waiting job. The keys and reasons are those of `makespan queue --from slurm`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobOutlook {
    /// The number of the job. For a job that is not submitted, the number that the job would get now.
    pub job: JobNumber,
    /// Expected start. If the start depends on a job with an unknown end, the field is null, and a reason names this
    /// job.
    pub start: Option<f64>,
    /// First instant of the range of the start. If the range is not calibrated, this is the 10th percentile of the start
    /// over simulated futures with random run times.
    pub early: Option<f64>,
    /// Last instant of the range of the start. If the range is not calibrated, this is the 90th percentile of the start
    /// over simulated futures with random run times.
    pub late: Option<f64>,
    /// The reasons why the job does not start now, the most important reason first.
    pub reasons: Vec<Reason>,
    /// Expected end, if known.
    pub end: Option<f64>,
    /// The number of the job with an unknown end on which the start or the end depends. The number is 0 if that job
    /// belongs to another user.
    pub behind: Option<JobNumber>,
}

/// Returns the schema of [`RangeShare`].
fn range_share() -> Object {
    let property = |kind, text: &str| ObjectBuilder::new().schema_type(kind).description(Some(text));
    let held = SchemaType::from_iter([Type::Number, Type::Null]);
    ObjectBuilder::new()
        .property("percent", property(Type::Integer.into(), "The percentage of the starts that a range contains"))
        .property("calibrated", property(Type::Boolean.into(), "Whether the ranges are calibrated"))
        .property("known_starts", property(Type::Integer.into(), "The number of earlier forecasts with a known start"))
        .property("held", property(held, "The share of the latest starts that the calibrated ranges contained"))
        .property("held_of", property(Type::Integer.into(), "The number of starts from which `held` is computed"))
        .required("percent")
        .required("calibrated")
        .required("known_starts")
        .build()
}

/// A reason why a job waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Reason {
    /// The kind of the reason.
    #[schema(schema_with = wait_kinds)]
    pub kind: WaitKind,
    /// The reason in a few words.
    pub brief: String,
    /// The reason as a sentence.
    pub text: String,
    /// The change that would let the job start, if a person can make it.
    pub remedy: Option<String>,
    /// The jobs that cause the wait. Jobs that the client may not see are omitted.
    pub jobs: Vec<JobNumber>,
    /// The resource that the job lacks.
    pub resource: Option<String>,
}

/// Returns the schema of [`Reason::kind`].
fn wait_kinds() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(WaitKind::ALL.map(WaitKind::name))).build()
}

impl From<WaitReason> for Reason {
    fn from(WaitReason { kind, brief, text, remedy }: WaitReason) -> Self {
        Self { kind, brief, text, remedy, jobs: Vec::new(), resource: None }
    }
}

/// The predicted effect of a submission. The submission itself is not accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WhatIf {
    /// The predictions for the jobs of the submission.
    pub waiting: Vec<JobOutlook>,
    /// The share of the starts that the ranges contain.
    #[schema(schema_with = range_share)]
    pub ranges: RangeShare,
    /// The effect on other jobs.
    pub others: OtherJobs,
    /// The bounds of the plan without the submission.
    pub before: Vec<BoundPicture>,
    /// The bounds of the plan with the submission.
    pub after: Vec<BoundPicture>,
}

/// The effect of a submission on the starts of the other waiting jobs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OtherJobs {
    /// The number of jobs that would start later.
    pub later: u64,
    /// The largest delay, in seconds.
    pub most_seconds: f64,
    /// The number of jobs that would start earlier.
    pub earlier: u64,
    /// The difference of the mean wait of the jobs that start with and without the submission.
    #[serde(default)]
    pub mean_wait: WaitDifference,
    /// The number of jobs that would start later and that the client may not see.
    pub hidden: u64,
    /// Up to 100 jobs that would start later and that the client may see, in descending order of the delay.
    pub jobs: Vec<Delay>,
}

/// The mean wait of jobs with a submission minus their mean wait without the submission. Positive if the jobs would wait
/// longer with the submission.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WaitDifference {
    /// The difference in seconds.
    pub seconds: f64,
}

/// The delay of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Delay {
    /// The job.
    pub job: JobNumber,
    /// The delay in seconds.
    pub seconds: f64,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, to_value};

    use super::*;

    /// The predictions for a job of a service and for a job of a cluster have the same keys. A service adds some keys.
    #[test]
    fn a_service_and_a_cluster_describe_a_wait_alike() {
        let why = WaitReason::new(WaitKind::Held, "held", "it is held").with("release it");
        let cluster =
            makespan_core::Outlook { start: None::<f64>, early: None, late: None, reasons: vec![why.clone()] };
        let service = JobOutlook { reasons: vec![why.into()], ..JobOutlook::default() };
        let (cluster, service) = (to_value(cluster).unwrap(), to_value(service).unwrap());
        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<String>>();
        let added = |path: &str| {
            let [cluster, service] = [&cluster, &service].map(|value| keys(value.pointer(path).unwrap()));
            assert!(cluster.is_subset(&service), "{cluster:?} {service:?}");
            service.difference(&cluster).cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            (added(""), added("/reasons/0")),
            (vec!["behind".into(), "end".into(), "job".into()], vec!["jobs".into(), "resource".into()])
        );
    }
}
