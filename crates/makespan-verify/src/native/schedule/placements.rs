//! Reads placements in Schedule JSON.

use std::borrow::Cow;
use std::sync::Arc;

use makespan_core::{Instance, Job, JobId, Placement, ProcSet, Rows, TaskId, Time};
use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::{Count, FromLiteral, Scalar};
use crate::native::suggest::nearest;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlacementEntry {
    job: String,
    task: Option<Scalar<TaskName>>,
    start: Scalar<Time>,
    end: Scalar<Time>,
    processors: Scalar<ProcSet>,
    group: Option<String>,
    /// True if the run time is a guess.
    guess: Option<bool>,
}

/// Task within a job: a number in a bag, or a name in a compound job.
struct TaskName {
    text: String,
    quoted: bool,
}

impl FromLiteral for TaskName {
    const EXPECTED: &'static str = "the number of a task of a bag, or the name of a task of a compound job";

    fn from_literal(text: &str, quoted: bool) -> Result<Self, String> {
        Ok(Self { text: text.to_owned(), quoted })
    }
}

/// Returns the task of a job that `name` identifies: by a number in a bag, or by a name in a compound job. If the job
/// is compound, `tasks` contains its tasks by name.
fn task_of(
    job: &Job<Rows>,
    tasks: &FxHashMap<Cow<'_, str>, TaskId>,
    name: Option<&TaskName>,
) -> Result<TaskId, String> {
    let wrong = |what: &str| Err(format!("job `{}` {what}", job.name));
    match name {
        None if job.is_bag() => wrong("is a bag; state the number of the task in `task`"),
        None if job.is_compound() => wrong("is a graph of tasks; state the name of the task in `task`"),
        None => Ok(job.first()),
        Some(name) if job.is_bag() => match Count::from_literal(&name.text, name.quoted) {
            Err(problem) => wrong(&format!("is a bag: {problem}")),
            Ok(Count(number)) if u64::from(number) < job.tasks() => Ok(job.task(number)),
            Ok(Count(number)) => {
                let last = job.tasks() - 1;
                let numbers = if last == 0 {
                    "its only task has number 0".to_owned()
                } else {
                    format!("its tasks are numbered from 0 to {last}")
                };
                Err(format!("task {number} of job `{}` does not exist; {numbers}", job.name))
            }
        },
        Some(name) if job.is_compound() => tasks.get(name.text.as_str()).copied().ok_or_else(|| {
            let near = nearest(&name.text, tasks.keys().map(|name| &**name));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("job `{}` has no task `{}`{hint}", job.name, name.text)
        }),
        Some(_) => wrong("is not a bag; remove `task`"),
    }
}

/// A placement and the name of its group.
type Grouped = (Placement, Option<Arc<str>>);

/// Reads placements of tasks of `instance`. `path` is the path of the list in the file.
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
        FormatError::content(file, FilePlace::field(format!("{path}[{at}].job")), problem)
    };
    let wrong_task = |at: usize, problem: String| {
        FormatError::content(file, FilePlace::field(format!("{path}[{at}].task")), problem)
    };
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
        let guess = instance.task(task).estimate.is_guess();
        if entry.guess.is_some_and(|said| said != guess) {
            let (said, stated) = if guess { ("stated", "states no time") } else { ("a guess", "states this time") };
            let problem =
                format!("in the plan, the run time of `{}` is {said}, but the instance {stated}", instance.name(task));
            return Err(FormatError::content(file, FilePlace::field(format!("{path}[{at}].guess")), problem));
        }
        let group = entry.group.map(&mut shared);
        let placement = Placement { task, start: entry.start.0, end: entry.end.0, processors: entry.processors.0 };
        Ok((placement, group))
    };
    entries.into_iter().enumerate().map(placement).collect()
}
