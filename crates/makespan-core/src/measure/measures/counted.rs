//! Combination of the tasks of compound jobs.

use crate::model::{Instance, TaskId, Weight};
use crate::online::{Outcome, Run};

/// Returns the ended runs, with one combined run in place of the runs of the tasks of each compound job. Returns
/// `None` if the instance has no compound jobs.
///
/// A combined run is a run of the first task of the job. The combined run lasts from the first start to the last end
/// of the job's tasks. If all tasks have succeeded, the combined run has succeeded; otherwise, its outcome is the
/// outcome of the first run that did not succeed. A compound job that has not ended is omitted: all its ended runs
/// have succeeded, but some of its tasks have no ended run.
pub(super) fn spans(instance: &Instance, runs: &[Run]) -> Option<Vec<Run>> {
    if !instance.has_compound_jobs() {
        return None;
    }
    let mut spans: Vec<Option<Run>> = vec![None; instance.tasks() as usize];
    let mut succeeded = vec![0_u64; spans.len()];
    for run in runs.iter().filter(|run| super::has_ended(run)) {
        let first = task_that_counts(instance, run.task);
        succeeded[first.index()] += u64::from(run.outcome == Outcome::Succeeded);
        let Some(span) = &mut spans[first.index()] else {
            spans[first.index()] = Some(Run { task: first, ..run.clone() });
            continue;
        };
        (span.start, span.end) = (span.start.min(run.start), span.end.max(run.end));
        if span.outcome == Outcome::Succeeded {
            span.outcome = run.outcome;
        }
    }
    let is_whole = |run: &Run| {
        let job = instance.job_of(run.task);
        let tasks = if job.is_compound() { job.tasks() } else { 1 };
        run.outcome != Outcome::Succeeded || succeeded[run.task.index()] == tasks
    };
    let mut spans: Vec<Run> = spans.into_iter().flatten().filter(is_whole).collect();
    spans.sort_by_key(|run| run.end);
    Some(spans)
}

/// Returns the weight of the end of a task. A task of a compound job has the weight of the job. Any other task has its
/// share of the weight of its job.
pub(super) fn weight(instance: &Instance, task: TaskId) -> Weight {
    let job = instance.job_of(task);
    if job.is_compound() { job.weight } else { job.task_weight() }
}

/// Returns the task that represents `task` when jobs are counted: the first task of its job if the job is compound,
/// otherwise `task` itself.
pub(super) fn task_that_counts(instance: &Instance, task: TaskId) -> TaskId {
    let job = instance.job_of(task);
    if job.is_compound() { job.first() } else { task }
}
