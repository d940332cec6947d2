//! Tasks of compound jobs count together.

use std::borrow::Cow;

use crate::model::{Instance, JobId, Weight};
use crate::online::{Outcome, Run};

/// The last run of each job that ended. All tasks of a compound job are one run, from the first start to the last end,
/// of the first task: it has succeeded when all of them have, else it ended as the first of them that did not. One of
/// which tasks were given up and none failed does not count.
pub(super) fn ended<'a>(instance: &Instance, runs: &'a [Run]) -> Vec<Cow<'a, Run>> {
    let Some(precedence) = instance.precedence() else {
        return runs.iter().filter(|run| super::has_ended(run)).map(Cow::Borrowed).collect();
    };
    let mut spans: Vec<Option<Run>> = vec![None; precedence.wholes().len()];
    let mut succeeded = vec![0_u32; spans.len()];
    for run in runs.iter().filter(|run| super::has_ended(run)) {
        let whole = precedence.whole_of(run.job);
        succeeded[whole] += u32::from(run.outcome == Outcome::Succeeded);
        let first = precedence.wholes()[whole].first;
        let Some(span) = &mut spans[whole] else {
            spans[whole] = Some(Run { job: first, ..run.clone() });
            continue;
        };
        (span.start, span.end) = (span.start.min(run.start), span.end.max(run.end));
        if span.outcome == Outcome::Succeeded {
            span.outcome = run.outcome;
        }
    }
    let whole = |run: &Run| {
        let at = precedence.whole_of(run.job);
        run.outcome != Outcome::Succeeded || succeeded[at] == precedence.wholes()[at].job.tasks_apart()
    };
    let mut spans: Vec<Run> = spans.into_iter().flatten().filter(whole).collect();
    spans.sort_by_key(|run| run.end);
    spans.into_iter().map(Cow::Owned).collect()
}

/// The weight of a job; that of the whole where it is the first task of a compound job.
pub(super) fn weight(instance: &Instance, job: JobId) -> Weight {
    instance
        .precedence()
        .map_or_else(|| instance.job(job).weight, |precedence| precedence.wholes()[precedence.whole_of(job)].job.weight)
}

/// The job that counts where this one starts: the first task of a compound job.
pub(super) fn counted(instance: &Instance, job: JobId) -> JobId {
    instance.precedence().map_or(job, |precedence| precedence.wholes()[precedence.whole_of(job)].first)
}
