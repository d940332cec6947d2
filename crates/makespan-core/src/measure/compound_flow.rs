//! What is measured of a flow of compound jobs.

mod load;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use load::LoadBalance;

use crate::model::{Area, Instance, Job, Rows, Time};
use crate::online::{LogEntry, Logged, Outcome, Run, Trace};
use crate::schedule::{task_cost, volume};

/// Figures of jobs and of the flow that they are, beside [`crate::Measures`].
///
/// Source: the statistics of A. Tselishchev and V. V. Toporkov, "Compound job scheduling and job-flows management in
/// distributed computing", 54th IWK, Ilmenau 2009, section 4: "the overall cost of every job execution and the whole
/// job-flow, average load balance of CPUs and others". What balance is they do not say; see [`LoadBalance`].
#[derive(Clone, Debug, PartialEq)]
pub struct CompoundMeasures {
    /// One for each job of the instance, in its order.
    pub jobs: Vec<JobMeasures>,
    /// All of them together.
    pub flow: FlowMeasures,
}

/// Figures of one job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobMeasures {
    /// When it was submitted.
    pub release: Time,
    /// When its first task started, if one did.
    pub start: Option<Time>,
    /// When the last of its tasks that ran ended.
    pub end: Option<Time>,
    /// What became of it.
    pub ending: JobEnding,
    /// By when its user wants it ended.
    pub stated: Option<Time>,
    /// By when the policy says that it has to end, the last time that it spoke of it. It may give a job the same time from a
    /// later instant than the release, and a deadline to a job that states none.
    pub told: Option<Time>,
    /// In thousandths: the sum of [`crate::task_cost`] over the tasks that succeeded, by the time that each really took.
    pub cost: i128,
    /// How long processors ran its tasks, with what was interrupted, added up.
    pub busy: Area,
}

/// What became of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobEnding {
    /// All its tasks succeeded.
    Succeeded,
    /// A task failed or reached its walltime.
    Failed,
    /// A task was given up, and none failed.
    GivenUp,
}

/// Figures of the whole flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowMeasures {
    /// Jobs that end by their deadline ([`JobMeasures::deadline`]) with success.
    pub in_time: usize,
    /// Jobs that have a deadline.
    pub with_deadline: usize,
    /// Jobs that end with success by when the policy said that they have to.
    pub as_told: usize,
    /// Jobs of which a task failed.
    pub failed: usize,
    /// Jobs that were given up.
    pub given_up: usize,
    /// The sum over the jobs, in thousandths.
    pub cost: i128,
    /// From the first release.
    pub from: Time,
    /// To the last end.
    pub to: Time,
    /// How evenly processors are loaded between these.
    pub load: LoadBalance,
    /// Collisions that the policy told of in the last plan of each job. Those of plans that it replaced are not counted.
    pub collisions: usize,
    /// What they are charged with.
    pub penalty: i128,
    /// Jobs for which, in the last plan, a list schedule was taken.
    pub fallbacks: usize,
    /// How often a job went over to another variant or was planned again.
    pub changes: usize,
}

impl JobMeasures {
    /// By when it has to end: its own deadline, else what the policy told.
    pub fn deadline(&self) -> Option<Time> {
        self.stated.or(self.told)
    }

    /// Whether it succeeded by its deadline; `None` where it has none.
    pub fn is_in_time(&self) -> Option<bool> {
        self.deadline().map(|deadline| self.succeeded_by(deadline))
    }

    fn succeeded_by(&self, deadline: Time) -> bool {
        self.ending == JobEnding::Succeeded && self.end.is_some_and(|end| end <= deadline)
    }
}

impl FlowMeasures {
    /// From the first release to the last end.
    pub fn span(&self) -> Time {
        self.to.saturating_since(self.from)
    }
}

impl JobEnding {
    /// The word in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::GivenUp => "given_up",
        }
    }
}

impl CompoundMeasures {
    /// Measures what happened to an instance with compound jobs or with deadlines; `None` for others. `log` is what the policy told of it, by
    /// time, and empty of most policies. O(tasks + entries).
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
            // It waits for a task that failed or was given up.
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

/// What was told of the last plan of a job.
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
                Logged::Collision { penalty, .. } => {
                    plan.collisions += 1;
                    plan.penalty += i128::from(penalty);
                }
                Logged::Fallback { .. } => *plan = Planned { fallback: true, ..Planned::default() },
                Logged::Planned { .. } | Logged::Rejected { .. } => *plan = Planned::default(),
                Logged::OtherVariant { .. } | Logged::PlannedAgain { .. } => self.changes += 1,
            }
        }
        self.fallbacks = plans.iter().filter(|plan| plan.fallback).count();
        self.collisions = plans.iter().map(|plan| plan.collisions).sum();
        self.penalty = plans.iter().map(|plan| plan.penalty).sum();
        self
    }
}
