//! Checks that the names of jobs and tasks are unique.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Instance, InstanceError};
use crate::model::{Graph, Job, JobId, Rows, TaskId};

/// The ids of all jobs by name. The map is empty until jobs are appended to the instance for the first time.
#[derive(Clone, Debug, Default)]
pub(super) struct Names(FxHashMap<Box<str>, JobId>);

impl Names {
    /// Returns an error if a new job has the name of an existing job.
    pub fn check_new(&mut self, there: &[Job<Rows>], new: &[Job]) -> Result<(), InstanceError> {
        if self.0.is_empty() {
            self.add(there.iter().map(|job| job.name.as_str().into()).collect(), 0);
        }
        match new.iter().find(|job| self.0.contains_key(job.name.as_str())) {
            Some(job) => Err(InstanceError::DuplicateName(job.name.clone())),
            None => Ok(()),
        }
    }

    /// Adds the names of new jobs. The first new job has the id `before`.
    pub fn add(&mut self, new: Vec<Box<str>>, before: u32) {
        self.0.extend(new.into_iter().zip((before..).map(JobId)));
    }

    /// Returns the job with this name.
    pub fn id(&self, name: &str) -> Option<JobId> {
        self.0.get(name).copied()
    }
}

/// Maximum length of a job or task name, in bytes. The limit keeps tables in reports narrow, because a column is as
/// wide as the longest name in it.
const LONGEST: usize = 1 << 16;

/// Returns an error if a name is duplicate or too long.
pub(super) fn check_names(jobs: &[Job]) -> Result<(), InstanceError> {
    let of_tasks = jobs.iter().filter_map(|job| job.work.graph()).flat_map(Graph::tasks).map(|task| &*task.name);
    let mut all = jobs.iter().map(|job| job.name.as_str()).chain(of_tasks);
    if let Some(long) = all.find(|name| name.len() > LONGEST) {
        return Err(InstanceError::LongName { start: long.chars().take(40).collect(), length: long.len() });
    }
    let mut names = FxHashSet::default();
    match jobs.iter().find(|job| !names.insert(job.name.as_str())) {
        Some(job) => Err(InstanceError::DuplicateName(job.name.clone())),
        None => Ok(()),
    }
}

impl Instance {
    /// Returns the task with this name ([`Instance::name`]). Takes O(jobs). In addition, takes O(tasks of the job) for
    /// each job with a name that is a prefix of `name`.
    pub fn task_named(&self, name: &str) -> Option<TaskId> {
        let may = |job: &&Job<Rows>| {
            name.strip_prefix(job.name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.jobs().iter().filter(may).find_map(|job| job.task_ids().find(|&task| self.name(task) == name))
    }

    /// Checks that no job has the name of a task, and that there are at most [`Instance::MAX_TASKS`] tasks. Simulations
    /// and runs require a unique name for each task.
    ///
    /// # Errors
    /// [`InstanceError::TooManyTasks`], [`InstanceError::TaskName`] and [`InstanceError::SameName`].
    pub fn check_task_names(&self) -> Result<(), InstanceError> {
        self.check_task_count()?;
        if self.has_bags() {
            self.check_bags()?;
        }
        if !self.has_compound_jobs() {
            return Ok(());
        }
        let mut names = FxHashSet::default();
        match self.task_ids().map(|task| self.name(task)).find(|name| !names.insert(name.clone())) {
            Some(name) => Err(InstanceError::SameName(name.into_owned())),
            None => Ok(()),
        }
    }

    fn check_bags(&self) -> Result<(), InstanceError> {
        let bags = self.jobs().iter().filter(|job| job.is_bag());
        let counts: FxHashMap<&str, u64> = bags.map(|job| (job.name.as_str(), job.tasks())).collect();
        let like_a_task = |job: &&Job<Rows>| {
            let (bag, number) = job.name.rsplit_once('/')?;
            let task: u64 = number.parse().ok()?;
            (task.to_string() == number && task < *counts.get(bag)?).then_some(())
        };
        let mut plain = self.jobs().iter().filter(|job| !job.is_bag());
        match plain.find(|job| like_a_task(job).is_some()) {
            Some(job) => Err(InstanceError::TaskName(job.name.clone())),
            None => Ok(()),
        }
    }
}
