//! Bags taken apart: every task a job of its own.

use rustc_hash::FxHashMap;

use crate::{Instance, InstanceError, Job, JobId, Placement, Schedule, Task};

/// An instance in which each task of each bag is a job, and the way back.
///
/// Schedulers and policies speak of jobs only. What they are given for an instance with bags is this: a competing
/// bag becomes jobs that share its weight, a best-effort bag becomes best-effort bags of one task.
#[derive(Clone, Debug)]
pub struct Expansion {
    /// The same machines with one job for each task, in file order.
    pub instance: Instance,
    /// For each of its jobs: which task of which job of the original it is.
    pub tasks: Vec<(JobId, u32)>,
    /// For each job of the original, the first of its tasks.
    first: Vec<u32>,
}

impl Expansion {
    /// More tasks than this in all are not taken apart.
    pub const MOST_TASKS: u64 = 10_000_000;

    /// Everything, with names (`bag/17`) and commands, in which `{task}` has become the number of the task.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`], and [`InstanceError::TaskName`] when a job is called like a task.
    pub fn of(instance: &Instance) -> Result<Self, InstanceError> {
        Self::check(instance.jobs())?;
        check_names(instance)?;
        Ok(Self::build(instance, |_| true, named))
    }

    /// All but the best-effort bags, for planning: tasks have neither names nor commands.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`]; best-effort tasks are counted too, since they are placed afterwards.
    pub fn competing(instance: &Instance) -> Result<Self, InstanceError> {
        Self::check(instance.jobs())?;
        let nameless = |job: &Job, _| Job::new(String::new(), job.profile().clone()).with_release(job.release);
        Ok(Self::build(instance, |job| !job.is_best_effort(), nameless))
    }

    fn check(jobs: &[Job]) -> Result<(), InstanceError> {
        match jobs.iter().find(|job| job.is_compound()) {
            Some(job) => Err(InstanceError::Compound(job.name.clone())),
            None => Self::check_count(jobs),
        }
    }

    /// Refuses more tasks in all than are planned or run one by one.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`].
    pub fn check_count(jobs: &[Job]) -> Result<(), InstanceError> {
        let tasks = jobs.iter().map(Job::tasks).fold(0, u64::saturating_add);
        if tasks > Self::MOST_TASKS { Err(InstanceError::TooManyTasks { tasks }) } else { Ok(()) }
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
                jobs.push(if job.is_bag() { part(job, task).with_weight(job.task_weight()) } else { job.clone() });
            }
        }
        Self { instance: instance.with_jobs(jobs), tasks, first }
    }

    /// A placement of the expanded instance, in the terms of the original.
    pub fn original(&self, placement: &Placement) -> Placement {
        let (job, task) = self.tasks[placement.job.index()];
        Placement { job, task, ..placement.clone() }
    }

    /// A schedule of the expanded instance, in the terms of the original.
    pub fn original_schedule(&self, schedule: &Schedule) -> Schedule {
        let original = |(placement, group)| (self.original(placement), group);
        Schedule::with_groups(schedule.grouped().map(original).collect())
    }

    /// A schedule of the original, in the terms of the expanded instance, of which it must not lack a job.
    pub fn expanded_schedule(&self, schedule: &Schedule) -> Schedule {
        let expanded = |placement: &Placement| {
            let job = JobId(self.first[placement.job.index()] + placement.task);
            Placement { job, task: 0, ..placement.clone() }
        };
        Schedule::new(schedule.placements().iter().map(expanded).collect())
    }
}

/// One task of a bag with everything that a run needs.
fn named(job: &Job, task: u32) -> Job {
    let number = task.to_string();
    let command = job.task.command.iter().map(|word| word.replace("{task}", &number)).collect();
    let count = if job.is_best_effort() { std::num::NonZeroU64::new(1) } else { None };
    let Job { weight, release, walltime, data, .. } = *job;
    let profile = job.profile().clone();
    let name = job.task_name(task);
    Job { name, weight, release, walltime, task: Task { profile, command }, count, graph: None, data }
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

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::{Platform, ProcSet, Profile, Time, Weight};

    fn job(name: &str, count: u64, weight: u64) -> Job {
        let mut job = Job::new(name, Profile::rigid(1, Time::from_ticks(5)).unwrap())
            .with_weight(Weight::from_millionths(weight).unwrap());
        job.count = NonZeroU64::new(count);
        job.task.command = vec!["run".into(), "--part={task}".into()];
        job
    }

    fn instance(jobs: Vec<Job>) -> Instance {
        Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap()
    }

    #[test]
    fn every_task_becomes_a_job_and_goes_back() {
        let instance = instance(vec![job("a", 0, 7), job("b", 3, 8), job("c", 2, 0)]);
        let all = Expansion::of(&instance).unwrap();
        let names: Vec<&str> = all.instance.jobs().iter().map(|job| job.name.as_str()).collect();
        assert_eq!(names, ["a", "b/0", "b/1", "b/2", "c/0", "c/1"]);
        let weights: Vec<u64> = all.instance.jobs().iter().map(|job| job.weight.millionths()).collect();
        assert_eq!(weights, [7, 2, 2, 2, 0, 0]);
        let best_effort: Vec<bool> = all.instance.jobs().iter().map(Job::is_best_effort).collect();
        assert_eq!(best_effort, [false, false, false, false, true, true]);
        assert_eq!(all.instance.jobs()[3].task.command[1], "--part=2");
        assert_eq!(all.instance.jobs()[0].task.command[1], "--part={task}", "a job that is no bag keeps its command");
        let place = |job| Placement {
            job: JobId(job),
            task: 0,
            start: Time::ZERO,
            end: Time::TICK,
            processors: ProcSet::first(1),
        };
        let schedule = Schedule::new((0..6).map(place).collect());
        let original = all.original_schedule(&schedule);
        let tasks: Vec<(u32, u32)> = original.placements().iter().map(|p| (p.job.0, p.task)).collect();
        assert_eq!(tasks, [(0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]);
        assert_eq!(all.expanded_schedule(&original), schedule);
        let competing = Expansion::competing(&instance).unwrap();
        assert_eq!(competing.tasks, [(0, 0), (1, 0), (1, 1), (1, 2)].map(|(job, task)| (JobId(job), task)));
    }

    #[test]
    fn names_of_tasks_and_their_number_are_limited() {
        let clash = Expansion::of(&instance(vec![job("b", 3, 0), job("b/2", 0, 1)])).unwrap_err();
        assert_eq!(clash, InstanceError::TaskName("b/2".into()));
        for name in ["b/3", "b/02", "c/0", "b/"] {
            assert!(Expansion::of(&instance(vec![job("b", 3, 0), job(name, 0, 1)])).is_ok(), "{name}");
        }
        let many = instance(vec![job("b", 10_000_000, 0), job("a", 0, 1)]);
        let refused = Expansion::competing(&many).unwrap_err();
        assert!(refused.to_string().starts_with("there are 10000001 tasks in all, and at most 10000000"), "{refused}");
    }
}
