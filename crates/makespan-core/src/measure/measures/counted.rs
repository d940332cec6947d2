//! Combination of the tasks of compound jobs.

use crate::model::{Instance, TaskId, Weight};
use crate::online::{Outcome, Run};

/// Returns the ended runs. For each compound job, one combined run replaces the runs of its tasks. Returns `None` if
/// the instance has no compound jobs, because then there are no runs to combine. A combined run counts as a run of the
/// first task of the job, and lasts from the first start to the last end of its tasks. A combined run has succeeded if
/// all tasks have succeeded. Otherwise, its outcome is the outcome of the first run that did not succeed. A compound
/// job is omitted if all its ended runs have succeeded, but some of its tasks have no ended run, because such a job has
/// not ended.
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

/// Returns the weight that counts when this task ends: the weight of its compound job, or, for any other job, the share
/// of the task in the job's weight.
pub(super) fn weight(instance: &Instance, task: TaskId) -> Weight {
    let job = instance.job_of(task);
    if job.is_compound() { job.weight } else { job.task_weight() }
}

/// Returns the task that stands for `task` when jobs are counted: the first task of its job if the job is compound,
/// otherwise `task` itself.
pub(super) fn task_that_counts(instance: &Instance, task: TaskId) -> TaskId {
    let job = instance.job_of(task);
    if job.is_compound() { job.first() } else { task }
}
