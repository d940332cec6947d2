//! The parameters of the job-flow metascheduler.

use std::cmp::Ordering;

use makespan_core::Time;

use crate::kernel::chains::method::Method;
use crate::policy::Starts;

/// The instants at which jobs are planned, and the jobs that are planned together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Each job on arrival, around earlier jobs.
    Arrival,
    /// One job at a time: the next one after the previous one has ended.
    Consecutive,
    /// Jobs are collected in a buffer: after a job enters the empty buffer, all jobs that arrive within this time are
    /// planned together with it.
    Buffer(Time),
    /// Each job on arrival, together with all jobs without started tasks. These jobs are also planned again when processors return.
    Replan,
}

/// The instant from which the time to a deadline is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The release of the job. The time in a buffer is part of the time to the deadline.
    #[default]
    Arrival,
    /// The instant at which the job is planned for the first time.
    Handover,
}

/// The treatment of a job that cannot meet its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// The job runs and is late.
    #[default]
    Run,
    /// The job is cancelled.
    Reject,
}

/// The objective that decides among plans in which the late jobs have equal weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The greatest average utilisation of processors from now to the end of the flow, as in the paper.
    Utilisation,
    /// The least cost.
    #[default]
    Cost,
    /// The least sum over jobs of weight times end.
    Finish,
}

/// The condition under which plans reserve time for failures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spare {
    /// After a processor has failed, or a task has exceeded its estimate.
    #[default]
    Auto,
    /// From the beginning.
    Always,
    /// Never: plans may use the whole time to the deadline.
    Never,
}

/// The rules of the job-flow metascheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFlowRules {
    /// The jobs that are planned together.
    pub serve: Serve,
    /// The objective.
    pub goal: Goal,
    /// The instant from which the time to a deadline is measured.
    pub clock: Clock,
    /// The treatment of late jobs.
    pub late: Late,
    /// The condition under which plans reserve time to repeat the longest task of the job.
    pub spare: Spare,
    /// The instants at which tasks start.
    pub starts: Starts,
    /// The method by which each job is planned.
    pub method: Method,
}

impl Default for JobFlowRules {
    fn default() -> Self {
        Self {
            serve: Serve::Replan,
            goal: Goal::default(),
            clock: Clock::default(),
            late: Late::default(),
            spare: Spare::default(),
            starts: Starts::default(),
            method: Method::default(),
        }
    }
}

/// The value of jobs that are planned together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// For each priority, the highest first, the weight and the number of jobs that are late or cancelled.
    pub late: Vec<(i128, usize)>,
    /// Number of late or cancelled jobs that were in time in an earlier plan.
    pub broken: usize,
    /// Sum, over the jobs that end in time, of the time from the wanted end to the planned end of the job.
    pub shortfall: i128,
    /// Cost, in thousandths.
    pub cost: i128,
    /// Processor time that the jobs hold.
    pub busy: i128,
    /// Sum over jobs of weight times end.
    pub ends: i128,
    /// Time from now to the last end.
    pub span: i128,
}

impl Value {
    /// Compares two values. Less is better.
    pub fn compare(&self, other: &Self, goal: Goal) -> Ordering {
        let promises = |value: &Self| (value.broken, value.shortfall);
        let late = self.late.cmp(&other.late).then_with(|| promises(self).cmp(&promises(other)));
        let by_goal = || match goal {
            // Compare busy / span, because the number of processors is equal. A greater quotient is better.
            Goal::Utilisation => other.busy.saturating_mul(self.span).cmp(&self.busy.saturating_mul(other.span)),
            Goal::Cost => self.cost.cmp(&other.cost),
            Goal::Finish => self.ends.cmp(&other.ends),
        };
        late.then_with(by_goal).then_with(|| (self.span, self.ends).cmp(&(other.span, other.ends)))
    }
}
