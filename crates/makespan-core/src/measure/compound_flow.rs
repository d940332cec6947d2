//! Measures of a flow of compound jobs.

mod load;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use load::LoadBalance;

use crate::model::{Area, Instance, Job, Rows, Time};
use crate::online::{LogEntry, LoggedDecision, Outcome, Run, Trace};
use crate::schedule::{task_cost, volume};

/// Measures of compound jobs, and of the flow that all jobs form, in addition to [`crate::Measures`].
///
/// Source: the statistics of A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in
/// distributed computing", 54th IWK, Ilmenau 2009, section 4: "the overall cost of every job execution and the whole
/// job-flow, average load balance of CPUs and others". The paper does not define balance; see [`LoadBalance`].
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundMeasures {
    /// Measures of each job, in the order of the instance.
    pub jobs: Vec<JobMeasures>,
    /// Measures of the whole flow.
    pub flow: FlowMeasures,
}

/// Measures of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobMeasures {
    /// The release date of the job.
    pub release: Time,
    /// Start of the job's first run of a task, if any task started.
    pub start: Option<Time>,
    /// End of the job's last run of a task, if any task ran.
    pub end: Option<Time>,
    /// The result of the job.
    pub ending: JobEnding,
    /// The deadline that the user stated for the job.
    pub stated: Option<Time>,
    /// The deadline in the policy's last log entry about the job. This deadline may differ from `stated`: a policy may
    /// compute the deadline from an instant after the release, and may set a deadline if the user stated none.
    pub told: Option<Time>,
    /// Cost in thousandths: the sum of [`crate::task_cost`] over the tasks that succeeded, computed from their real
    /// run times.
    pub cost: i128,
    /// Area (processors times ticks) of all runs of the job's tasks, including interrupted runs.
    pub busy: Area,
}

/// The result of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnding {
    /// All tasks of the job succeeded.
    Succeeded,
    /// A task failed or reached its walltime.
    Failed,
    /// At least one task of the job was cancelled, and no task failed.
    GivenUp,
}

/// Measures of the whole flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeasures {
    /// Number of jobs that succeeded by their deadline ([`JobMeasures::deadline`]).
    pub in_time: usize,
    /// Number of jobs that have a deadline.
    pub with_deadline: usize,
    /// Number of jobs that succeeded by the deadline in [`JobMeasures::told`].
    pub as_told: usize,
    /// Number of jobs with a failed task.
    pub failed: usize,
    /// Number of jobs that were cancelled.
    pub given_up: usize,
    /// Sum of the costs of all jobs, in thousandths.
    pub cost: i128,
    /// The earliest release date of all jobs.
    pub from: Time,
    /// The latest end of all jobs.
    pub to: Time,
    /// The load of the processors between `from` and `to`.
    pub load: LoadBalance,
    /// Number of collisions of all jobs, from the policy's log. If a job was planned several times, the number
    /// includes only the collisions since its last plan.
    pub collisions: usize,
    /// Sum of the penalties of the collisions in `collisions`.
    pub penalty: i128,
    /// Number of jobs with a list schedule as their last plan.
    pub fallbacks: usize,
    /// Number of times, over all jobs, that a job changed to another variant of its strategy or was planned again.
    pub changes: usize,
}

impl JobMeasures {
    /// Returns the deadline that the user stated. If the user stated none, returns the deadline in the policy's log.
    pub fn deadline(&self) -> Option<Time> {
        self.stated.or(self.told)
    }

    /// Returns whether the job succeeded by its deadline, or `None` if it has no deadline.
    pub fn is_in_time(&self) -> Option<bool> {
        self.deadline().map(|deadline| self.succeeded_by(deadline))
    }

    fn succeeded_by(&self, deadline: Time) -> bool {
        self.ending == JobEnding::Succeeded && self.end.is_some_and(|end| end <= deadline)
    }
}

impl FlowMeasures {
    /// Returns the time from the earliest release date to the latest end of all jobs.
    pub fn span(&self) -> Time {
        self.to.saturating_since(self.from)
    }
}

impl JobEnding {
    /// Returns the name of this result in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::GivenUp => "given_up",
        }
    }
}

impl CompoundMeasures {
    /// Measures a trace. Returns `None` if the instance has neither compound jobs nor deadlines. `log` contains the
    /// policy's log entries in order of time; most policies log nothing. Takes O(tasks + entries).
    pub fn of(instance: &Instance, trace: &Trace, log: &[LogEntry]) -> Option<Self> {
        let has_deadlines = instance.jobs().iter().any(|job| job.deadline.is_some());
        if !instance.has_compound_jobs() && !has_deadlines {
            return None;
        }
        let mut jobs: Vec<JobMeasures> = instance.jobs().iter().map(JobMeasures::before).collect();
        let mut left: Vec<u64> = instance.jobs().iter().map(Job::tasks).collect();
        for run in &trace.runs {
            let at = instance.job_id(run.task).index();
            left[at] = left[at].saturating_sub(u64::from(run.outcome == Outcome::Succeeded));
            jobs[at].add(instance, run);
        }
        for (job, left) in jobs.iter_mut().zip(left) {
            if left == 0 {
                job.ending = JobEnding::Succeeded;
            }
        }
        for entry in log {
            if let Some(deadline) = entry.what.deadline() {
                jobs[instance.job_id(entry.task).index()].told = Some(deadline);
            }
        }
        let flow = FlowMeasures::of(instance, trace, &jobs).with_log(instance, log);
        Some(Self { jobs, flow })
    }
}

impl JobMeasures {
    fn before(job: &Job<Rows>) -> Self {
        Self {
            release: job.release,
            start: None,
            end: None,
            ending: JobEnding::GivenUp,
            stated: job.deadline,
            told: None,
            cost: 0,
            busy: 0,
        }
    }

    fn add(&mut self, instance: &Instance, run: &Run) {
        match run.outcome {
            // A task that never started is not counted, because it waits for a failed or cancelled task that is
            // counted.
            Outcome::NotStarted => return,
            Outcome::Succeeded => {
                let volume = volume(instance.profile(run.task));
                self.cost += i128::from(task_cost(volume, run.end - run.start));
            }
            Outcome::Failed { .. } | Outcome::TimedOut => self.ending = JobEnding::Failed,
            Outcome::Interrupted => {}
        }
        self.start = Some(self.start.map_or(run.start, |start| start.min(run.start)));
        self.end = self.end.max(Some(run.end));
        self.busy += (run.end - run.start).area(run.processors.len());
    }
}

/// A summary of the log entries about the last plan of a job.
#[derive(Clone, Default)]
struct Planned {
    collisions: usize,
    penalty: i128,
    fallback: bool,
}

impl FlowMeasures {
    fn of(instance: &Instance, trace: &Trace, jobs: &[JobMeasures]) -> Self {
        let from = jobs.iter().map(|job| job.release).min().unwrap_or_default();
        let to = jobs.iter().filter_map(|job| job.end).max().unwrap_or(from);
        let count = |wanted: &dyn Fn(&JobMeasures) -> bool| jobs.iter().filter(|job| wanted(job)).count();
        Self {
            in_time: count(&|job| job.is_in_time() == Some(true)),
            with_deadline: count(&|job| job.deadline().is_some()),
            as_told: count(&|job| job.told.is_some_and(|told| job.succeeded_by(told))),
            failed: count(&|job| job.ending == JobEnding::Failed),
            given_up: count(&|job| job.ending == JobEnding::GivenUp),
            cost: jobs.iter().map(|job| job.cost).sum(),
            from,
            to,
            load: LoadBalance::of(instance, trace, to.saturating_since(from)),
            collisions: 0,
            penalty: 0,
            fallbacks: 0,
            changes: 0,
        }
    }

    fn with_log(mut self, instance: &Instance, log: &[LogEntry]) -> Self {
        let mut plans = vec![Planned::default(); instance.jobs().len()];
        for entry in log {
            let plan = &mut plans[instance.job_id(entry.task).index()];
            match entry.what {
                LoggedDecision::Collision { penalty, .. } => {
                    plan.collisions += 1;
                    plan.penalty += i128::from(penalty);
                }
                LoggedDecision::Fallback { .. } => *plan = Planned { fallback: true, ..Planned::default() },
                LoggedDecision::Planned { .. }
                | LoggedDecision::Rejected { .. }
                | LoggedDecision::Unaffordable { .. } => *plan = Planned::default(),
                LoggedDecision::OtherVariant { .. } | LoggedDecision::PlannedAgain { .. } => self.changes += 1,
            }
        }
        self.fallbacks = plans.iter().filter(|plan| plan.fallback).count();
        self.collisions = plans.iter().map(|plan| plan.collisions).sum();
        self.penalty = plans.iter().map(|plan| plan.penalty).sum();
        self
    }
}
