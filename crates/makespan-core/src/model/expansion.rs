//! Bags and compound jobs taken apart: every task a job of its own.

#[cfg(test)]
mod tests;

use std::num::NonZeroU64;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Instance, InstanceError, Job, JobId, Precedence, Task};

/// An instance in which each task of each bag and each compound job is a job, and the way back.
///
/// Policies speak of jobs only. What they are given for an instance with bags or compound jobs is this: a competing
/// bag becomes jobs that share its weight, a best-effort bag becomes best-effort bags of one task. A compound job becomes
/// jobs that share its weight and wait for each other ([`Instance::precedence`]); its walltime, which is for all of
/// them, is not theirs.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The same machines with one job for each task, in file order. Where jobs are compound it knows which jobs wait for
    /// which.
    pub instance: Instance,
    /// For each of its jobs: which task of which job of the original it is.
    pub tasks: Vec<(JobId, u32)>,
    /// For each job of the original, the first of its tasks.
    pub(crate) first: Vec<u32>,
}

impl Expansion {
    /// More tasks than this in all are not taken apart.
    pub const MAX_TASKS: u64 = 10_000_000;

    /// Everything, with names (`bag/17`, `job/task`) and commands, in which `{task}` has become the number of the task
    /// of a bag.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`], and [`InstanceError::TaskName`] or [`InstanceError::SameName`] when a job is
    /// called like a task.
    pub fn of(instance: &Instance) -> Result<Self, InstanceError> {
        Self::named(instance, named)
    }

    /// The same with best-effort tasks as jobs of weight zero, which policies with a queue serve like the rest.
    ///
    /// # Errors
    /// As [`Expansion::of`].
    pub fn without_best_effort(instance: &Instance) -> Result<Self, InstanceError> {
        Self::named(instance, |job, task| Job { count: None, ..named(job, task) })
    }

    fn named(instance: &Instance, part: impl Fn(&Job, u32) -> Job) -> Result<Self, InstanceError> {
        Self::check_count(instance.jobs())?;
        check_names(instance)?;
        let mut expansion = Self::build(instance, |_| true, part);
        if instance.has_compound_jobs() {
            check_distinct(expansion.instance.jobs())?;
            let wholes = expansion.tasks.iter().zip(expansion.instance.jobs());
            let wholes = wholes.filter_map(|(&(id, task), own)| match instance.job(id) {
                job if job.is_compound() => (task == 0).then(|| job.clone()),
                _ => Some(own.clone()),
            });
            let precedence = Precedence::of(wholes.collect());
            expansion.instance = expansion.instance.with_precedence(precedence);
        }
        Ok(expansion)
    }

    /// All but the best-effort bags, for planning: tasks of bags have neither names nor commands, and graphs stay whole.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`]; best-effort tasks are counted too, since they are placed afterwards.
    pub fn competing(instance: &Instance) -> Result<Self, InstanceError> {
        Self::check_count(instance.jobs())?;
        let nameless = |job: &Job, _| Job::new(String::new(), job.profile().clone()).with_release(job.release);
        let mut expansion = Self::build(instance, |job| !job.is_best_effort() && !job.is_compound(), nameless);
        let whole = instance.ids().filter(|&id| instance.job(id).is_compound());
        let mut jobs = expansion.instance.jobs().to_vec();
        for id in whole {
            expansion.first[id.index()] = jobs.len() as u32;
            expansion.tasks.push((id, 0));
            jobs.push(instance.job(id).clone());
        }
        expansion.instance = instance.with_jobs(jobs);
        Ok(expansion)
    }

    /// Refuses more tasks in all than are planned or run one by one.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`].
    pub fn check_count(jobs: &[Job]) -> Result<(), InstanceError> {
        let tasks = jobs.iter().map(Job::tasks).fold(0, u64::saturating_add);
        if tasks > Self::MAX_TASKS { Err(InstanceError::TooManyTasks { tasks }) } else { Ok(()) }
    }

    fn build(instance: &Instance, keep: impl Fn(&Job) -> bool, part: impl Fn(&Job, u32) -> Job) -> Self {
        let (mut jobs, mut tasks, mut first) = (Vec::new(), Vec::new(), Vec::with_capacity(instance.jobs().len()));
        for id in instance.ids() {
            let job = instance.job(id);
            first.push(tasks.len() as u32);
            if !keep(job) {
                continue;
            }
            // Counted before, so that a task's number fits.
            for task in 0..job.tasks() as u32 {
                tasks.push((id, task));
                let simple = !job.is_bag() && !job.is_compound();
                jobs.push(if simple { job.clone() } else { part(job, task).with_weight(share(job)) });
            }
        }
        Self { instance: instance.with_jobs(jobs), tasks, first }
    }
}

/// The weight of one task.
fn share(job: &Job) -> crate::model::Weight {
    let tasks = if job.is_compound() { NonZeroU64::new(job.tasks()) } else { None };
    tasks.map_or_else(|| job.task_weight(), |tasks| job.weight.divided_by(tasks))
}

/// One task of a bag or a compound job with everything that a run needs.
fn named(job: &Job, task: u32) -> Job {
    if job.is_compound() {
        let own = Job::new(job.task_name(task), job.profile_of(task).clone());
        let own = own.with_release(job.release).with_priority(job.priority);
        return Job { task: job.task(task).clone(), ..own };
    }
    let number = task.to_string();
    let command = job.task.command.iter().map(|word| word.replace("{task}", &number)).collect();
    let count = if job.is_best_effort() { NonZeroU64::new(1) } else { None };
    let Job { weight, priority, release, walltime, data, .. } = *job;
    let profile = job.profile().clone();
    let name = job.task_name(task);
    Job { name, weight, priority, release, walltime, task: Task { profile, command }, count, graph: None, data }
}

fn check_distinct(jobs: &[Job]) -> Result<(), InstanceError> {
    let mut names = FxHashSet::default();
    match jobs.iter().find(|job| !names.insert(job.name.as_str())) {
        Some(job) => Err(InstanceError::SameName(job.name.clone())),
        None => Ok(()),
    }
}

fn check_names(instance: &Instance) -> Result<(), InstanceError> {
    let bags = instance.jobs().iter().filter(|job| job.is_bag());
    let counts: FxHashMap<&str, u64> = bags.map(|job| (job.name.as_str(), job.tasks())).collect();
    let like_a_task = |job: &&Job| {
        let (bag, number) = job.name.rsplit_once('/')?;
        let task: u64 = number.parse().ok()?;
        (task.to_string() == number && task < *counts.get(bag)?).then_some(())
    };
    let mut plain = instance.jobs().iter().filter(|job| !job.is_bag());
    match plain.find(|job| like_a_task(job).is_some()) {
        Some(job) => Err(InstanceError::TaskName(job.name.clone())),
        None => Ok(()),
    }
}
