//! What can be chosen in a job-flow metascheduler.

use std::cmp::Ordering;

use makespan_core::Time;

use crate::kernel::chains::method::Method;
use crate::policy::Starts;

/// Which jobs are planned together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Each job when it comes, onto what earlier ones left.
    Arrival,
    /// One job at a time, as they came: the next when the one before has ended.
    Consecutive,
    /// All that come within this time of the first that comes into an empty buffer.
    Buffer(Time),
    /// Each job that comes, and with it all of which no task has started; these also when processors are up again.
    Replan,
}

/// From when on the time to a deadline counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// From the release of the job: time in a buffer counts.
    #[default]
    Arrival,
    /// From when the job is handed over to be planned for the first time.
    Handover,
}

/// What becomes of a job for which no plan is in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Late {
    /// It runs, late.
    #[default]
    Run,
    /// It is given up.
    Reject,
}

/// Which flow of jobs is better, of those with equally little weight of late jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Goal {
    /// That of the greatest average utilisation of processors from now to its end: the paper's.
    Utilisation,
    /// The cheapest.
    #[default]
    Cost,
    /// That of the least sum of the ends of its jobs, each times its weight.
    Finish,
}

/// Whether plans leave room for what may go wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spare {
    /// As soon as a processor has gone down, or a task has taken longer than estimated.
    #[default]
    Auto,
    /// From the beginning.
    Always,
    /// Never: all the time to the deadline is used.
    Never,
}

/// How a job-flow is served.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JobFlowRules {
    /// Which jobs are planned together.
    pub serve: Serve,
    /// Which flow is better.
    pub goal: Goal,
    /// From when on the time to a deadline counts.
    pub clock: Clock,
    /// What becomes of late jobs.
    pub late: Late,
    /// Whether plans leave time for the longest task of the job to run again.
    pub spare: Spare,
    /// When tasks start.
    pub starts: Starts,
    /// How each job is planned.
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

/// Figures of jobs that are planned together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Value {
    /// For each priority, the highest first: the weight of the jobs that end too late, or are given up, and how many they are.
    pub late: Vec<(i128, usize)>,
    /// How many of these were planned in time before.
    pub broken: usize,
    /// How far those in time end after what is wanted of them.
    pub shortfall: i128,
    /// In thousandths.
    pub cost: i128,
    /// How long processors are held for them.
    pub busy: i128,
    /// The sum of the ends of jobs, each times its weight.
    pub ends: i128,
    /// From now to the last end.
    pub span: i128,
}

impl Value {
    /// Less is better.
    pub fn compare(&self, other: &Self, goal: Goal) -> Ordering {
        let promises = |value: &Self| (value.broken, value.shortfall);
        let late = self.late.cmp(&other.late).then_with(|| promises(self).cmp(&promises(other)));
        let by_goal = || match goal {
            // Greater busy / span first; the number of processors is the same.
            Goal::Utilisation => other.busy.saturating_mul(self.span).cmp(&self.busy.saturating_mul(other.span)),
            Goal::Cost => self.cost.cmp(&other.cost),
            Goal::Finish => self.ends.cmp(&other.ends),
        };
        late.then_with(by_goal).then_with(|| (self.span, self.ends).cmp(&(other.span, other.ends)))
    }
}
