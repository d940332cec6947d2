//! Applies the changes of a scenario to a log.

use makespan_core::{Actual, Instance, Job, Platform, ProcSet, Rows, Time, Unavailable, counted};
use makespan_formats::Estimates;
use makespan_slurm::forecast::RandomRunTimes;
use miette::{Result, miette};

use crate::slurm_policy;

use super::super::log::Log;
use super::super::words::{left_out, named};
use super::super::{live, rules};
use super::closed::ClosedPeriod;
use super::parse::{JobSelector, Scenario, ScenarioChange, ShareHolder};
use super::platform::{more_nodes, resized, with_processors};

/// The log and the policy of a scenario.
pub struct Variant {
    pub name: String,
    pub policy: String,
    pub log: Log,
    /// True if the policy knows the real run times.
    is_clairvoyant: bool,
    /// Notes for the user.
    pub remarks: Vec<String>,
}

impl Variant {
    /// Applies a scenario to a log. `usual` is the policy if the scenario names none.
    pub fn of(scenario: &Scenario, log: &Log, usual: &str) -> Result<Self> {
        let wrong = |problem: String| miette!("--scenario '{}': {problem}", scenario.name);
        let mut variant = Self {
            name: scenario.name.clone(),
            policy: usual.to_owned(),
            log: log.clone(),
            is_clairvoyant: false,
            remarks: Vec::new(),
        };
        let grown = variant.change_queue(scenario).map_err(wrong)?;
        // `without` is applied first, so that removed jobs are not counted as too wide for fewer nodes.
        let is_done = |change: &&ScenarioChange| is_of_queue(change) || grown && is_of_nodes(change);
        let mut changes: Vec<&ScenarioChange> = scenario.changes.iter().filter(|change| !is_done(change)).collect();
        changes.sort_by_key(|change| !matches!(change, ScenarioChange::Without(..)));
        for change in changes {
            variant.change(change).map_err(wrong)?;
        }
        variant.leave_out_the_impossible().map_err(wrong)?;
        Ok(variant)
    }

    /// Returns the log with the run times that `times` draws in simulation `number`. Returns `None` if the log is not the
    /// queue of a cluster.
    pub fn drawn(&self, times: &RandomRunTimes, number: u32) -> Option<Result<Log, String>> {
        let actual = self.log.live.as_ref()?.drawn(&self.log.instance, times, number);
        let mut log = Log { actual, ..self.log.clone() };
        Some(if self.is_clairvoyant { reveal(&mut log).map(|()| log) } else { Ok(log) })
    }

    /// Changes the queue of a cluster: adds nodes, adds the jobs that fit only on the larger cluster, and applies the
    /// changes of the scenario that do not apply to logs. Returns true if nodes were added.
    fn change_queue(&mut self, scenario: &Scenario) -> Result<bool, String> {
        let amount = scenario.changes.iter().find_map(|change| match change {
            ScenarioChange::Nodes(amount) => Some(*amount),
            _ => None,
        });
        let more = amount.and_then(|amount| more_nodes(self.log.instance.platform(), amount));
        let changes: Vec<&ScenarioChange> = scenario.changes.iter().filter(|change| is_of_queue(change)).collect();
        let Some(live) = self.log.live.clone() else {
            return if changes.is_empty() { Ok(false) } else { Err(ONLY_QUEUES.to_owned()) };
        };
        let states_fair_share =
            scenario.policy().is_some_and(|policy| slurm_policy::value(policy, "weight_fairshare").is_some());
        if more.is_none() && changes.is_empty() && !states_fair_share {
            return Ok(false);
        }
        let mut queue = more.map_or_else(|| live.queue.clone(), |more| live.queue.with_more_nodes(more));
        let mut closed = Vec::new();
        if states_fair_share {
            queue.separate_fair_share()?;
            if !queue.has_several_users() {
                let name = &self.name;
                self.remarks
                    .push(format!("{name}: no effect: weight_fairshare, because all pending jobs are of one user"));
            }
        }
        for change in changes {
            match change {
                ScenarioChange::Queue(change) => queue.change(change)?,
                ScenarioChange::Shares(ShareHolder::Account(name), shares) => {
                    queue.set_shares(Some(name), None, *shares)?;
                }
                ScenarioChange::Shares(ShareHolder::User(name), shares) => {
                    queue.set_shares(None, Some(name), *shares)?;
                }
                ScenarioChange::Closed(nodes) => closed.push(ClosedPeriod::add(nodes, &mut queue)?),
                _ => {}
            }
        }
        let (log, new) = live::changed(queue, &self.log.instance)?;
        let told =
            log.remarks.iter().filter(|remark| !self.log.remarks.contains(remark) && remark.contains("left out"));
        self.remarks.extend(told.map(|remark| format!("{}: {remark}", self.name)));
        self.log = log;
        if let Some(now) = self.log.live.clone().filter(|now| now.queue.adds_fair_share) {
            self.policy = now.policy(&self.policy).unwrap_or_else(|| self.policy.clone());
        }
        if let Some(now) = &self.log.live {
            let told = closed.iter().flat_map(|period| period.remarks(&live, now));
            self.remarks.extend(told.map(|told| format!("{}: {told}", self.name)));
        }
        if more.is_some() {
            self.remarks.extend(live.new_nodes().map(|what| format!("{}: {what}", self.name)));
        }
        if !new.is_empty() {
            let jobs = if new.len() == 1 { "job" } else { "jobs" };
            self.remarks.push(format!(
                "{}: {jobs} {} can run on this cluster, but not on the present cluster",
                self.name,
                named(&new)
            ));
        }
        Ok(more.is_some())
    }

    /// Removes the jobs that the cluster never starts, because a policy that ignores the cluster's rules would start
    /// these jobs.
    fn leave_out_the_impossible(&mut self) -> Result<(), String> {
        let Some(unheeded) = rules::of(&self.policy, &self.log) else { return Ok(()) };
        if let Some(told) = rules::told(&unheeded, &self.policy) {
            self.remarks.push(format!("{}: {told}", self.name));
        }
        let never = rules::never(&self.log.instance, &unheeded.never);
        if !never.is_empty() {
            self.log.keep(|_, job| !never.contains(&job.name))?;
            self.remarks.push(format!("{}: {}", self.name, rules::left_out(&never)));
        }
        Ok(())
    }

    /// Sets the policy. If the policy is `slurm` and the log is the queue of a cluster, the cluster's parameters remain,
    /// except those that the scenario states.
    fn set_policy(&mut self, policy: &str) {
        let of_cluster = self.log.live.as_ref().and_then(|live| live.policy(policy));
        self.policy = of_cluster.unwrap_or_else(|| policy.to_owned());
        let adds = self.log.live.as_ref().map(|live| live.queue.adds_fair_share);
        let is_without = |name: &&&str| match adds {
            Some(adds) => slurm_policy::value(policy, name).is_some() && !(adds && OF_FAIR_SHARE.contains(*name)),
            None => false,
        };
        let without: Vec<&str> = PRIORITIES.iter().filter(is_without).copied().collect();
        if !without.is_empty() {
            self.remarks.push(format!(
                "{}: no effect: {}, because jobs keep the priorities that Slurm states, unless the fair share is \
                 simulated (weight_fairshare)",
                self.name,
                without.join(", ")
            ));
        }
    }

    fn change(&mut self, change: &ScenarioChange) -> Result<(), String> {
        match change {
            ScenarioChange::Policy(policy) => self.set_policy(policy),
            ScenarioChange::Without(whose, name) => {
                let keep = |_: &Instance, job: &Job<Rows>| !is_of(job, *whose, name);
                let left = self.log.keep(keep)?;
                if left == 0 {
                    return Err(format!("there is no job of {} `{name}`", whose.word()));
                }
                self.remarks.push(format!("{}: {}", self.name, left_out(left)));
            }
            ScenarioChange::Nodes(amount) => self.resize(&resized(self.log.instance.platform(), *amount)?)?,
            ScenarioChange::Processors(amount) => {
                self.resize(&with_processors(self.log.instance.platform(), *amount)?)?;
            }
            ScenarioChange::Load(factor) => {
                if self.log.is_present() {
                    return Err("no further jobs arrive in this queue, so a load changes nothing; simulate a log with this load".to_owned());
                }
                let first = self.log.instance.first_release();
                if self.log.instance.all_submitted().iter().all(|job| job.release == first) {
                    return Err("all jobs are submitted at the same instant, so a load changes nothing; simulate jobs with release dates".to_owned());
                }
                let jobs = self.log.instance.all_submitted().into_iter().map(|job| {
                    let after = Time::from_ticks(((job.release - first).ticks() as f64 / factor).round() as i64);
                    job.with_release(first + after)
                });
                self.log.instance = self.log.instance.with_jobs(jobs.collect());
            }
            // Changes of a queue have already been applied.
            ScenarioChange::Queue(_)
            | ScenarioChange::Closed(_)
            | ScenarioChange::Shares(..)
            | ScenarioChange::Estimates(Estimates::User) => {}
            ScenarioChange::Estimates(Estimates::Clairvoyant) => {
                self.is_clairvoyant = true;
                reveal(&mut self.log)?;
            }
        }
        Ok(())
    }

    /// Replaces the platform. Leaves out the jobs that cannot run on the new platform.
    fn resize(&mut self, platform: &Platform) -> Result<(), String> {
        let most = platform.processors();
        let too_wide = self
            .log
            .keep(|instance, job| job.task_ids().all(|task| instance.profile(task).min_processors() <= most))?;
        if too_wide > 0 {
            self.remarks.push(format!(
                "{}: {}, because they need more processors than remain",
                self.name,
                left_out(too_wide)
            ));
        }
        let closed = within(self.log.instance.unavailable(), platform.processors());
        let on = |jobs| Instance::new(platform.clone(), jobs, closed.clone());
        if on(self.log.instance.all_submitted()).is_err() {
            // Some jobs need more of a resource than any remaining node has.
            let is_possible = |instance: &Instance, job: &Job<Rows>| {
                let own = instance.submitted(instance.job_id(job.first()));
                on(vec![own.with_after(Vec::<String>::new())]).is_ok()
            };
            let count = left_out(self.log.keep(is_possible)?);
            self.remarks
                .push(format!("{}: {count}, because no remaining node has the resources that they need", self.name));
        }
        self.log.instance = on(self.log.instance.all_submitted()).map_err(|error| error.to_string())?;
        let (left, again) = live::left(&self.log.running, &self.log.instance);
        if again > 0 {
            let again = counted(again, "job");
            self.remarks.push(format!("{}: {again} on nodes that are removed will start again", self.name));
        }
        self.log.running = left;
        Ok(())
    }
}

/// Replaces the estimates by the real run times.
fn reveal(log: &mut Log) -> Result<(), String> {
    let Log { instance, actual, .. } = &*log;
    let Actual::Profiles(profiles) = actual else { return Ok(()) };
    let mut jobs = instance.all_submitted();
    for (job, id) in jobs.iter_mut().zip(instance.ids()) {
        let first = instance.job(id).first().index();
        let own = &profiles[first..];
        job.work.tasks_mut().zip(own).for_each(|(task, profile)| task.profile = profile.clone());
        // A walltime is removed if the job really ran longer.
        if job.walltime.is_some_and(|limit| own[0].longest() > limit) {
            job.walltime = None;
        }
    }
    let (platform, closed) = (instance.platform().clone(), instance.unavailable().to_vec());
    log.instance = Instance::new(platform, jobs, closed).map_err(|error| error.to_string())?;
    log.actual = Actual::AsEstimated;
    Ok(())
}

/// The error for changes of a queue if the input is a log.
const ONLY_QUEUES: &str = "job=, qos=, shares=, drain= and maintenance= change the queue of a cluster, but this is a \
                           log or an instance; read a queue with --from slurm or --from FOLDER";

fn is_of_queue(change: &ScenarioChange) -> bool {
    matches!(change, ScenarioChange::Queue(_) | ScenarioChange::Closed(_) | ScenarioChange::Shares(..))
}

/// Parameters of the policy `slurm` for priorities.
const PRIORITIES: [&str; 10] = [
    "weight_age",
    "weight_job_size",
    "weight_partition",
    "weight_qos",
    "weight_tres",
    "max_age",
    "favor",
    "half_life",
    "calc_period",
    "fair",
];
/// Parameters that have an effect if the policy computes the fair share.
const OF_FAIR_SHARE: [&str; 3] = ["half_life", "calc_period", "fair"];

fn is_of_nodes(change: &ScenarioChange) -> bool {
    matches!(change, ScenarioChange::Nodes(_))
}

/// Limits closed periods to the first `processors` processors of the platform.
fn within(closed: &[Unavailable], processors: u32) -> Vec<Unavailable> {
    let all = ProcSet::first(processors);
    let own = |period: &Unavailable| Unavailable { processors: period.processors.intersection(&all), ..period.clone() };
    closed.iter().map(own).filter(|period| !period.processors.is_empty()).collect()
}

/// Returns true if a job belongs to the user, account, QOS or partition `name`, or is named `name`.
fn is_of(job: &Job<Rows>, whose: JobSelector, name: &str) -> bool {
    let submission = job.submission.as_deref();
    let is = |text: Option<&str>| text == Some(name);
    match whose {
        JobSelector::Job => job.name == name,
        JobSelector::User => match submission.and_then(|own| own.user.as_deref()) {
            Some(user) => user == name,
            None => job.user.is_some_and(|user| user.to_string() == name),
        },
        JobSelector::Account => is(submission.and_then(|own| own.account.as_deref())),
        JobSelector::Qos => is(submission.and_then(|own| own.qos.as_deref())),
        JobSelector::Partition => submission.is_some_and(|own| own.partitions.iter().any(|one| **one == *name)),
    }
}
