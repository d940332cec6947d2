//! What is measured of what happened.

mod counted;
mod distribution;
mod open;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use distribution::Distribution;

use crate::model::{Area, Instance, TaskId, Time, Unavailable, WeightedTime};
use crate::online::{Outcome, Run, Trace};
use crate::schedule::Metrics;

/// Figures of a trace. Floats, for display and statistics; times in seconds.
///
/// Counted are the jobs that ended, with success or without; those that were given up, or still waited, are not. Of a
/// job that was interrupted the last run counts, and everything before it as waiting. The tasks of a compound job are
/// one job, which runs from their first start to their last end; each task of a bag counts like a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// How many jobs ended.
    pub jobs: usize,
    /// From the release to the start.
    pub wait: Distribution,
    /// From the release to the end.
    pub flow: Distribution,
    /// `max(1, (wait + run) / max(run, 10 s))`, where run is from start to end: D. G. Feitelson, L. Rudolph,
    /// U. Schwiegelshohn, K. C. Sevcik and P. Wong, "Theory and practice in parallel job scheduling", JSSPP 1997.
    pub bounded_slowdown: Distribution,
    /// Sum of weight times end.
    pub weighted_completion: f64,
    /// When the last job ends.
    pub makespan: f64,
    /// Area of all runs over the area that could be used from the first release to the makespan, in [0, 1]: that of
    /// processors which are neither in an unavailable period nor down. Runs that were interrupted count as use.
    pub utilisation: f64,
    /// Jobs first started while a job earlier in the order of release, then id, had not been started yet.
    pub backfilled: usize,
    /// Runs that lost processors, whether the job was queued again or had failed with that, and others that failed: all
    /// that they did is lost. Those that reached their walltime are not among them.
    pub interrupted_runs: usize,
    /// The area of these runs, in processors times seconds.
    pub lost_area: f64,
    /// Jobs that were ended at their walltime.
    pub killed: usize,
    /// Jobs that ended otherwise without success.
    pub failed: usize,
    /// Whether users fare alike; `None` when no user is known.
    pub fairness: Option<Fairness>,
}

/// How evenly users fare, by the mean bounded slowdown of the jobs of each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// How many users have a job that ended.
    pub users: usize,
    /// Jain's index: the square of the sum over users by their number times the sum of the squares. 1 when all fare
    /// alike, 1 / users when one bears all: R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and
    /// discrimination for resource allocation in shared computer systems", DEC-TR-301, 1984.
    pub jain: f64,
    /// The worst user's over the mean over users.
    pub worst_over_mean: f64,
}

impl Measures {
    /// Measures a trace of machines that never failed.
    pub fn of(instance: &Instance, trace: &Trace) -> Self {
        Self::with_failures(instance, trace, &[])
    }

    /// The same where processors were down in these periods, which may overlap.
    pub fn with_failures(instance: &Instance, trace: &Trace, down: &[Unavailable]) -> Self {
        let spans = counted::spans(instance, &trace.runs);
        let ended: Vec<&Run> = match &spans {
            Some(spans) => spans.iter().collect(),
            None => trace.runs.iter().filter(|run| has_ended(run)).collect(),
        };
        let release = |run: &Run| instance.release(run.task);
        let slowdowns: Vec<f64> = ended.iter().map(|run| bounded_slowdown(run, release(run))).collect();
        let lost = || trace.runs.iter().filter(|run| is_lost(run));
        let count = |wanted: fn(Outcome) -> bool| ended.iter().filter(|run| wanted(run.outcome)).count();
        let weighted: WeightedTime = ended.iter().map(|run| counted::weight(instance, run.task).times(run.end)).sum();
        let makespan = ended.iter().map(|run| run.end).max().unwrap_or(Time::ZERO);
        let open = open::area(instance, down, instance.first_release(), makespan);
        let used: Area = trace.runs.iter().map(area).sum();
        Self {
            jobs: ended.len(),
            wait: Distribution::of_times(ended.iter().map(|run| run.start - release(run)).collect()),
            flow: Distribution::of_times(ended.iter().map(|run| run.end - release(run)).collect()),
            weighted_completion: weighted.seconds(),
            makespan: makespan.seconds(),
            utilisation: if open > 0 { used as f64 / open as f64 } else { 0.0 },
            backfilled: backfilled(instance, trace),
            interrupted_runs: lost().count(),
            lost_area: lost().map(area).sum::<Area>() as f64 / Time::TICKS_PER_SECOND as f64,
            killed: count(|outcome| outcome == Outcome::TimedOut),
            failed: count(|outcome| matches!(outcome, Outcome::Failed { .. })),
            fairness: fairness(instance, &ended, &slowdowns),
            bounded_slowdown: Distribution::of(slowdowns),
        }
    }
}

fn has_ended(run: &Run) -> bool {
    !matches!(run.outcome, Outcome::Interrupted | Outcome::NotStarted)
}

fn is_lost(run: &Run) -> bool {
    matches!(run.outcome, Outcome::Interrupted | Outcome::Failed { .. })
}

fn area(run: &Run) -> Area {
    (run.end - run.start).area(run.processors.len())
}

fn bounded_slowdown(run: &Run, release: Time) -> f64 {
    let time = (run.end - run.start).max(Metrics::SLOWDOWN_THRESHOLD);
    ((run.end - release).seconds() / time.seconds()).max(1.0)
}

fn backfilled(instance: &Instance, trace: &Trace) -> usize {
    let mut first = vec![None; instance.tasks() as usize];
    for run in trace.runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
        let start = first[counted::task_that_counts(instance, run.task).index()].get_or_insert(run.start);
        *start = run.start.min(*start);
    }
    let mut order: Vec<TaskId> = instance.task_ids().collect();
    order.sort_by_key(|&task| instance.release(task));
    let mut latest = Time::ZERO;
    let mut overtakes = |start: Time| {
        latest = latest.max(start);
        start < latest
    };
    order.iter().filter_map(|id| first[id.index()]).filter(|&start| overtakes(start)).count()
}

/// `slowdowns` are those of the runs.
fn fairness(instance: &Instance, ended: &[&Run], slowdowns: &[f64]) -> Option<Fairness> {
    let user = |run: &Run| instance.job_of(run.task).user;
    let mut known: Vec<(u32, f64)> =
        ended.iter().zip(slowdowns).filter_map(|(run, &slowdown)| Some((user(run)?, slowdown))).collect();
    // Stable, so that the sums are made in one order.
    known.sort_by_key(|&(user, _)| user);
    let same_user = known.chunk_by(|a, b| a.0 == b.0);
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> =
        same_user.map(|jobs| jobs.iter().map(|&(_, slowdown)| slowdown).sum::<f64>() / jobs.len() as f64).collect();
    if means.is_empty() {
        return None;
    }
    let (sum, squares) = means.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    let worst = means.iter().copied().fold(0.0, f64::max);
    let count = means.len();
    Some(Fairness { users: count, jain: sum * sum / (count as f64 * squares), worst_over_mean: worst / mean(&means) })
}
