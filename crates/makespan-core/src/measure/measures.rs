//! Measures of a trace.

mod counted;
mod distribution;
mod open;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use distribution::Distribution;

use crate::model::{Area, Instance, TaskId, Time, Unavailable, WeightedTime};
use crate::online::{Outcome, Run, Trace};
use crate::schedule::{Metrics, utilisation};

/// Measures of a trace. The measures are floats for display and statistics. Times are in seconds.
///
/// The measures include only jobs that ended, with or without success. For an interrupted job, the run time is the
/// time of the last run. The waiting time of such a job lasts from the release of the job to the start of the last
/// run. A compound job is one job, which starts with its first task and ends with its last task. Each task of a bag is
/// treated as a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measures {
    /// Number of jobs that ended.
    pub jobs: usize,
    /// Times from release to start.
    pub wait: Distribution,
    /// Times from release to end.
    pub flow: Distribution,
    /// The bounded slowdown of a job is `max(1, (wait + run) / max(run, 10 s))`, in which `wait` is the time from
    /// release to start, and `run` the time from start to end. Source: D. G. Feitelson, L. Rudolph, U. Schwiegelshohn,
    /// K. C. Sevcik and P. Wong, "Theory and practice in parallel job scheduling", JSSPP 1997.
    pub bounded_slowdown: Distribution,
    /// Sum over all jobs of the weight multiplied by the end, in seconds.
    pub weighted_completion: f64,
    /// End of the last job, in seconds.
    pub makespan: f64,
    /// Area (processors times time) of all runs, including interrupted ones, divided by the usable area from the first
    /// release to the makespan, in [0, 1]. A processor is not usable while it is in an unavailable period or down.
    pub utilisation: f64,
    /// Number of jobs that overtook an earlier job: at their first start, the earlier job had not started yet. Jobs are
    /// ordered by release, then by id.
    pub backfilled: usize,
    /// Number of runs with lost work: runs on processors that failed, and runs that failed for another reason. Runs
    /// that reached their walltime are excluded.
    pub interrupted_runs: usize,
    /// Area of the runs that `interrupted_runs` counts, in processor-seconds.
    pub lost_area: f64,
    /// Number of jobs that were terminated at their walltime.
    pub killed: usize,
    /// Number of jobs that ended without success, but not at their walltime.
    pub failed: usize,
    /// Fairness between users; `None` if the user of every job is unknown.
    pub fairness: Option<Fairness>,
}

/// Fairness between users, measured by the mean bounded slowdown of each user's jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Number of users with a job that ended.
    pub users: usize,
    /// Jain's index of the users' values: the square of their sum, divided by the number of users and by the sum of
    /// their squares. The index is 1 if all users have equal values, and 1 / n if only one of n users has a value that
    /// is not zero. Source: R. Jain, D. Chiu and W. Hawe, "A quantitative measure of fairness and discrimination for
    /// resource allocation in shared computer systems", DEC-TR-301, 1984.
    pub jain: f64,
    /// The largest value of any user, divided by the mean over all users.
    pub worst_over_mean: f64,
}

impl Measures {
    /// Computes the measures of a trace during which no machine failed.
    pub fn of(instance: &Instance, trace: &Trace) -> Self {
        Self::with_failures(instance, trace, &[])
    }

    /// Computes the measures of a trace during which processors were down in the periods `down`. The periods may
    /// overlap.
    pub fn with_failures(instance: &Instance, trace: &Trace, down: &[Unavailable]) -> Self {
        let ended = ended_jobs(instance, trace);
        let ended: Vec<&Run> = ended.iter().collect();
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
            utilisation: utilisation(used, open),
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

/// Returns the runs from which [`Measures`] computes waits and flows: the last run of each job that ended. For a
/// compound job, this is one run from the first start to the last end of its tasks.
pub fn ended_jobs(instance: &Instance, trace: &Trace) -> Vec<Run> {
    counted::spans(instance, &trace.runs)
        .unwrap_or_else(|| trace.runs.iter().filter(|run| has_ended(run)).cloned().collect())
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

/// Computes the fairness. `slowdowns` contains the bounded slowdown of each run.
fn fairness(instance: &Instance, ended: &[&Run], slowdowns: &[f64]) -> Option<Fairness> {
    let user = |run: &Run| instance.job_of(run.task).user;
    let mut known: Vec<(u32, f64)> =
        ended.iter().zip(slowdowns).filter_map(|(run, &slowdown)| Some((user(run)?, slowdown))).collect();
    // A stable sort keeps the runs of each user in order, so that sums of floats do not depend on the sort.
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
