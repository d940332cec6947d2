//! Reads Schedule JSON against its instance.

use std::borrow::Cow;
use std::sync::Arc;

use makespan_core::{Bound, Instance, Job, JobId, Objective, Placement, ProcSet, Rows, Schedule, TaskId, Time};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::bound::{BoundEntry, read_bound, value};
use super::{ScheduleFile, front, strategy};
use crate::document::from_json;
use crate::error::{FormatError, Place};
use crate::scalar::{Count, FromLiteral, Scalar};
use crate::suggest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    version: Scalar<Count>,
    algorithm: String,
    seed: Option<u64>,
    makespan: Scalar<String>,
    weighted_completion: Scalar<String>,
    mean_flow: Option<Scalar<String>>,
    cost: Option<Scalar<String>>,
    bounds: Bounds,
    #[serde(default)]
    remarks: Vec<String>,
    #[serde(default)]
    front: Vec<front::Point>,
    strategy: Option<strategy::Entry>,
    placements: Vec<PlacementEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bounds {
    makespan: Option<BoundEntry>,
    weighted_completion: Option<BoundEntry>,
    mean_flow: Option<BoundEntry>,
    cost: Option<BoundEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlacementEntry {
    job: String,
    task: Option<Scalar<TaskName>>,
    start: Scalar<Time>,
    end: Scalar<Time>,
    processors: Scalar<ProcSet>,
    group: Option<String>,
}

impl ScheduleFile {
    /// Reads a file against the instance that it schedules; `file` names it in errors. Neither the schedule nor a
    /// stated value nor a bound is checked here beyond its form.
    ///
    /// # Errors
    /// [`FormatError`] with the place; an unknown job or task is one.
    pub fn read(file: &str, bytes: &[u8], instance: &Instance) -> Result<Self, FormatError> {
        let document: Document = from_json(file, bytes)?;
        if document.version.0.0 != 1 {
            let problem = format!("version {} is not known; this program reads 1", document.version.0.0);
            return Err(FormatError::content(file, Place::field("version"), problem));
        }
        let stated = |objective: Objective, text: &Scalar<String>| value(file, objective.name(), objective, &text.0);
        let bounds = [
            (Objective::Makespan, document.bounds.makespan),
            (Objective::WeightedCompletion, document.bounds.weighted_completion),
            (Objective::MeanFlow, document.bounds.mean_flow),
            (Objective::Cost, document.bounds.cost),
        ];
        let bounds = bounds.into_iter().filter_map(|(objective, entry)| entry.map(|entry| (objective, entry)));
        Ok(Self {
            makespan: stated(Objective::Makespan, &document.makespan)?,
            weighted_completion: stated(Objective::WeightedCompletion, &document.weighted_completion)?,
            mean_flow: document.mean_flow.map(|text| stated(Objective::MeanFlow, &text)).transpose()?,
            cost: document.cost.map(|text| stated(Objective::Cost, &text)).transpose()?,
            bounds: bounds.map(|(objective, entry)| bound(file, objective, entry)).collect::<Result<_, _>>()?,
            algorithm: document.algorithm,
            seed: document.seed,
            remarks: document.remarks,
            front: front::read(file, document.front, instance)?,
            strategy: document.strategy.map(|entry| strategy::read(file, entry, instance)).transpose()?,
            schedule: Schedule::with_groups(placements(file, "placements", document.placements, instance)?),
        })
    }
}

/// A bound at the top of the file, which speaks of all schedules; only the cost is bounded among those that end by some instant.
fn bound(file: &str, objective: Objective, entry: BoundEntry) -> Result<Bound, FormatError> {
    let field = format!("bounds.{}", objective.name());
    let bound = read_bound(file, &field, objective, entry)?;
    if bound.makespan_at_most.is_some() && objective != Objective::Cost {
        let problem = "a bound of the file must hold for all schedules; leave this condition out";
        return Err(FormatError::content(file, Place::field(format!("{field}.makespan_at_most")), problem));
    }
    Ok(bound)
}

/// Which task of a job a placement is of: a number in a bag, a name in a compound job.
struct TaskName {
    text: String,
    quoted: bool,
}

impl FromLiteral for TaskName {
    const EXPECTED: &'static str = "the number of a bag's task, or the name of a compound job's";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        Ok(Self { text: text.to_owned(), quoted })
    }
}

/// The task of a job that `name` means; `tasks` are those of a compound job by name.
fn task_of(
    job: &Job<Rows>,
    tasks: &FxHashMap<Cow<'_, str>, TaskId>,
    name: Option<&TaskName>,
) -> Result<TaskId, String> {
    let wrong = |what: &str| Err(format!("job `{}` {what}", job.name));
    match name {
        None if job.is_bag() => wrong("is a bag; `task` must say which of its tasks"),
        None if job.is_compound() => wrong("is a graph of tasks; `task` must say which of them"),
        None => Ok(job.first()),
        Some(name) if job.is_bag() => match Count::from_literal(&name.text, name.quoted) {
            Err(problem) => wrong(&format!("is a bag: {problem}")),
            Ok(Count(number)) if u64::from(number) < job.tasks() => Ok(job.task(number)),
            Ok(Count(number)) => {
                let last = job.tasks() - 1;
                Err(format!("task {number} of job `{}` does not exist; its tasks run from 0 to {last}", job.name))
            }
        },
        Some(name) if job.is_compound() => tasks.get(name.text.as_str()).copied().ok_or_else(|| {
            let near = nearest(&name.text, tasks.keys().map(|name| &**name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("job `{}` has no task `{}`{hint}", job.name, name.text)
        }),
        Some(_) => wrong("is no bag; leave `task` out"),
    }
}

/// A placement and the name of its group.
type Grouped = (Placement, Option<Arc<str>>);

/// Placements of tasks of the instance; `path` is where the list stands in the file.
pub(super) fn placements(
    file: &str,
    path: &str,
    entries: Vec<PlacementEntry>,
    instance: &Instance,
) -> Result<Vec<Grouped>, FormatError> {
    let ids: FxHashMap<&str, JobId> = instance.ids().map(|id| (instance.job(id).name.as_str(), id)).collect();
    let unknown = |at: usize, name: &str| {
        let near = nearest(name, instance.jobs().iter().map(|job| job.name.as_str()));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let problem = format!("the instance has no job `{name}`{hint}");
        FormatError::content(file, Place::field(format!("{path}[{at}].job")), problem)
    };
    let wrong_task =
        |at: usize, problem: String| FormatError::content(file, Place::field(format!("{path}[{at}].task")), problem);
    let named = |job: &Job<Rows>| {
        let tasks = Some(job).filter(|job| job.is_compound()).into_iter().flat_map(Job::task_ids);
        tasks.map(|task| (instance.short_name(task), task)).collect()
    };
    let tasks: Vec<FxHashMap<Cow<'_, str>, TaskId>> = instance.jobs().iter().map(named).collect();
    let mut names: FxHashMap<String, Arc<str>> = FxHashMap::default();
    let mut shared = |name: String| names.entry(name).or_insert_with_key(|name| name.as_str().into()).clone();
    let placement = |(at, entry): (usize, PlacementEntry)| {
        let job = *ids.get(entry.job.as_str()).ok_or_else(|| unknown(at, &entry.job))?;
        let task = task_of(instance.job(job), &tasks[job.index()], entry.task.as_ref().map(|task| &task.0));
        let task = task.map_err(|problem| wrong_task(at, problem))?;
        let group = entry.group.map(&mut shared);
        let placement = Placement { task, start: entry.start.0, end: entry.end.0, processors: entry.processors.0 };
        Ok((placement, group))
    };
    entries.into_iter().enumerate().map(placement).collect()
}
