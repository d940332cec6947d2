//! The parameters of the job-flow metascheduler.

use std::cmp::Ordering;

use makespan_core::Time;

use crate::kernel::chains::method::Method;
use crate::policy::Starts;

/// The rule that decides when jobs are planned, and which jobs are planned together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Each job is planned when it arrives, around earlier jobs.
    Arrival,
    /// One job is planned at a time. The next job is planned when the previous job has ended.
    Consecutive,
    /// Jobs are collected in a buffer. The time of the buffer begins when a job enters the empty buffer. At the end of
    /// this time, all jobs in the buffer are planned together.
    Buffer(Time),
    /// At each arrival, the new job and all jobs without started tasks are planned together. These jobs are also
    /// planned again when processors return.
    Replan,
}

/// The instant at which the time to a deadline begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The release of the job. So the time in a buffer is part of the time to the deadline.
    #[default]
    Arrival,
    /// The instant at which the job is planned for the first time.
    Handover,
}

/// The treatment of a job that cannot meet its deadline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// The job runs although it is late.
    #[default]
    Run,
    /// The job is cancelled.
    Reject,
}

/// The objective that decides between plans if their late jobs have equal weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// The greatest average utilisation, as in the paper: the mean load of the processors from now to the end of the
    /// flow.
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
    /// Plans reserve time once a processor has failed or a task has exceeded its estimate.
    #[default]
    Auto,
    /// All plans reserve time.
    Always,
    /// No plan reserves time. Plans may use the whole time to the deadline.
    Never,
}

/// The rules of the job-flow metascheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFlowRules {
    /// The rule that decides when jobs are planned, and which jobs are planned together.
    pub serve: Serve,
    /// The objective that decides between plans if their late jobs have equal weights.
    pub goal: Goal,
    /// The instant at which the time to a deadline begins.
    pub clock: Clock,
    /// The treatment of late jobs.
    pub late: Late,
    /// The condition under which plans reserve time to repeat the longest task of the job.
    pub spare: Spare,
    /// The condition under which planned tasks start.
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
    /// The weight and the number of late or cancelled jobs for each priority, beginning with the highest.
    pub late: Vec<(i128, usize)>,
    /// Number of late or cancelled jobs for which an earlier plan was in time.
    pub broken: usize,
    /// Sum of the times by which jobs end after their wanted end. Only jobs that end in time are included.
    pub shortfall: i128,
    /// Cost: the sum of 1000 V / T over the tasks, with volumes V and run times T.
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
            // Compare the quotients busy / span. Both values are for the same number of processors. A greater quotient
            // is better.
            Goal::Utilisation => other.busy.saturating_mul(self.span).cmp(&self.busy.saturating_mul(other.span)),
            Goal::Cost => self.cost.cmp(&other.cost),
            Goal::Finish => self.ends.cmp(&other.ends),
        };
        late.then_with(by_goal).then_with(|| (self.span, self.ends).cmp(&(other.span, other.ends)))
    }
}
