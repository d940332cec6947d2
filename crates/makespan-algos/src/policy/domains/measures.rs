//! Waits of owners' jobs on domains, and waits, response times and charges of users' jobs.

use std::collections::{BTreeMap, BTreeSet};

use makespan_core::{Instance, JobId, LogEntry, LoggedDecision, Outcome, Run, Time, Trace, ended_jobs};

use super::DomainRules;
use crate::kernel::chains::tariff::Tariff;

/// The input of [`DomainMeasures::of`].
#[derive(Clone, Copy, Debug)]
pub struct DomainScene<'a> {
    /// The jobs of owners and users.
    pub instance: &'a Instance,
    /// The domains.
    pub rules: &'a [DomainRules],
    /// The jobs of users. If users submit their jobs to local queues, these jobs are also in the lists of owners.
    pub users: &'a [JobId],
    /// The budgets of users' jobs, in thousandths.
    pub budgets: &'a BTreeMap<JobId, i64>,
}

/// Measures of owners and users of domains. Times are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct DomainMeasures {
    /// Mean wait of the owner's jobs, for each domain. `None` if no job of the owner ended. Waits are computed
    /// as in [`makespan_core::Measures`].
    pub owners_wait: Vec<Option<f64>>,
    /// Mean wait of the users' jobs that succeeded.
    pub users_wait: Option<f64>,
    /// Mean time from the submission of a user's job to its end.
    pub users_response: Option<f64>,
    /// Measures of each job of a user.
    pub users: Vec<UserJobMeasures>,
    /// Total number of times that jobs switched to another variant or were planned again.
    pub changes: usize,
}

/// Measures of the job of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserJobMeasures {
    /// The job.
    pub job: JobId,
    /// The end of the job, or `None` if the job did not succeed.
    pub end: Option<Time>,
    /// Whether the job succeeded by its deadline. `None` if it has no deadline.
    pub is_in_time: Option<bool>,
    /// Sum of the charges for the tasks that succeeded, in thousandths. Charges are computed from expected run times.
    pub charge: i64,
    /// The budget in thousandths, if the job has one.
    pub budget: Option<i64>,
    /// The positions of the domains in which tasks of the job succeeded, in ascending order.
    pub domains: Vec<usize>,
}

/// The runs of a job.
#[derive(Clone, Default)]
struct JobRuns {
    last: Time,
    succeeded: u64,
    charge: i64,
    domains: Vec<usize>,
}

impl DomainMeasures {
    /// Measures a trace. `log` contains the log entries of the policy.
    pub fn of(scene: &DomainScene<'_>, trace: &Trace, log: &[LogEntry]) -> Self {
        let DomainScene { instance, rules, .. } = *scene;
        let runs = job_runs(scene, trace);
        let ended = ended_jobs(instance, trace);
        let mean_wait = |is_own: &dyn Fn(&Run, JobId) -> bool| {
            let own = ended.iter().filter(|run| is_own(run, instance.job_id(run.task)));
            mean(own.map(|run| (run.start - instance.release(run.task)).seconds()))
        };
        let all_users: BTreeSet<JobId> = scene.users.iter().copied().collect();
        let owners_wait = rules.iter().map(|domain| {
            let owners: BTreeSet<JobId> = domain.owners.iter().copied().collect();
            mean_wait(&|_, job| owners.contains(&job) && !all_users.contains(&job))
        });
        let users: Vec<UserJobMeasures> = scene.users.iter().map(|&job| scene.user(job, &runs[job.index()])).collect();
        let whole = || users.iter().filter(|user| user.end.is_some());
        let response = |user: &UserJobMeasures| Some((user.end? - instance.job(user.job).release).seconds());
        let is_change = |entry: &&LogEntry| {
            matches!(entry.what, LoggedDecision::OtherVariant { .. } | LoggedDecision::PlannedAgain { .. })
        };
        Self {
            owners_wait: owners_wait.collect(),
            users_wait: mean_wait(&|run, job| run.outcome == Outcome::Succeeded && all_users.contains(&job)),
            users_response: mean(whole().filter_map(response)),
            changes: log.iter().filter(is_change).count(),
            users,
        }
    }

    /// Returns the number of users' jobs that succeeded by their deadline.
    pub fn in_time(&self) -> usize {
        self.users.iter().filter(|user| user.is_in_time == Some(true)).count()
    }

    /// Returns the number of users' jobs that did not succeed.
    pub fn unfinished(&self) -> usize {
        self.users.iter().filter(|user| user.end.is_none()).count()
    }

    /// Returns the number of users' jobs that succeeded with charges above their budget.
    pub fn over_budget(&self) -> usize {
        self.users.iter().filter(|user| user.end.is_some() && user.is_over_budget()).count()
    }

    /// Returns the charges of all users' jobs that succeeded, in units of volume per time.
    pub fn charges(&self) -> f64 {
        self.users.iter().filter(|user| user.end.is_some()).map(|user| user.charge as f64 / 1e3).sum()
    }

    /// Returns the number of users' jobs that succeeded with tasks in several domains.
    pub fn divided(&self) -> usize {
        self.users.iter().filter(|user| user.end.is_some() && user.domains.len() > 1).count()
    }
}

impl UserJobMeasures {
    /// Returns whether the charges exceed the budget.
    pub fn is_over_budget(&self) -> bool {
        self.budget.is_some_and(|budget| self.charge > budget)
    }
}

impl DomainScene<'_> {
    fn user(&self, job: JobId, runs: &JobRuns) -> UserJobMeasures {
        let own = self.instance.job(job);
        let end = (runs.succeeded == own.tasks()).then_some(runs.last);
        UserJobMeasures {
            job,
            end,
            is_in_time: own.deadline.map(|deadline| end.is_some_and(|end| end <= deadline)),
            charge: runs.charge,
            budget: self.budgets.get(&job).copied(),
            domains: runs.domains.clone(),
        }
    }
}

fn job_runs(scene: &DomainScene<'_>, trace: &Trace) -> Vec<JobRuns> {
    let instance = scene.instance;
    let mut prices = vec![0; instance.processors() as usize];
    let mut sites = vec![0; instance.processors() as usize];
    for (at, domain) in scene.rules.iter().enumerate() {
        domain.processors.iter().for_each(|id| (prices[id as usize], sites[id as usize]) = (domain.price, at));
    }
    let tariff = Tariff::new(prices, BTreeMap::new());
    let mut all = vec![JobRuns::default(); instance.jobs().len()];
    for run in trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
        let own = &mut all[instance.job_id(run.task).index()];
        own.last = own.last.max(run.end);
        own.succeeded += 1;
        own.charge += tariff.charge_of(instance, run.task, &run.processors);
        own.domains.extend(run.processors.last().map(|id| sites[id as usize]));
    }
    for own in &mut all {
        own.domains.sort_unstable();
        own.domains.dedup();
    }
    all
}

/// Returns the arithmetic mean, or `None` if there are no values.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
