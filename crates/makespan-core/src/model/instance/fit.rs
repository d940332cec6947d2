//! Removal of allotments that exceed the platform or the walltime.

use super::InstanceError;
use super::room::AllotmentFilter;
use super::walltime::{self, Class};
use crate::model::{Graph, Job, NamedTask, Platform, Profile, Task, Time, Work};

/// Returns the jobs with only the allotments on which they can run.
///
/// # Errors
/// If a job cannot run on any allotment, returns the error of the first such job.
pub(super) fn fitted(jobs: Vec<Job>, platform: &Platform) -> Result<Vec<Job>, InstanceError> {
    let (classes, mut room) = (walltime::classes(platform), AllotmentFilter::new(platform));
    jobs.into_iter().map(|job| one(job, platform, &classes, &mut room)).collect()
}

/// Returns a job with only the allotments on which it can run. `classes` are the speed classes of the platform; `room`
/// checks the job's needs for resources.
fn one<'p>(
    mut job: Job,
    platform: &'p Platform,
    classes: &[Class],
    room: &mut AllotmentFilter<'p>,
) -> Result<Job, InstanceError> {
    if let Some(deadline) = job.deadline.filter(|&deadline| deadline < job.release) {
        return Err(InstanceError::Deadline { job: job.name, deadline, release: job.release });
    }
    if let Some(must_end_by) = job.must_end_by.filter(|&must_end_by| must_end_by <= job.release) {
        return Err(InstanceError::HardDeadline { job: job.name, must_end_by, release: job.release });
    }
    let mut limits = JobTaskLimits { platform, classes, room, walltime: job.walltime };
    job.work = match job.work {
        Work::Task(task) => Work::Task(limits.applied(task, || job.name.clone())?),
        Work::Bag(task, count) => Work::Bag(limits.applied(task, || job.name.clone())?, count),
        Work::Graph(graph) => {
            let (tasks, edges, order) = graph.into_parts();
            let each = |NamedTask { name, task }| {
                let task = limits.applied(task, || format!("{}/{name}", job.name))?;
                Ok(NamedTask { name, task })
            };
            let tasks = tasks.into_iter().map(each).collect::<Result<_, InstanceError>>()?;
            Work::Graph(Graph::again(tasks, edges, order))
        }
    };
    Ok(job)
}

/// The limits that all tasks of one job must respect: the speeds, the resources and the walltime.
pub(super) struct JobTaskLimits<'a, 'p> {
    pub platform: &'p Platform,
    /// The speed classes of the platform.
    pub classes: &'a [Class],
    pub room: &'a mut AllotmentFilter<'p>,
    pub walltime: Option<Time>,
}

impl JobTaskLimits<'_, '_> {
    /// Returns the task with the remaining allotments. `name` returns the name of the task for error messages.
    pub fn applied(&mut self, task: Task, name: impl Fn() -> String) -> Result<Task, InstanceError> {
        self.check_machines(&task.profile, &name)?;
        let (needs, processors) = (task.profile.min_processors(), self.platform.processors());
        let too_wide = || InstanceError::TooWide { job: name(), needs, processors };
        let mut profile = task.profile.clone().at_most(processors).ok_or_else(too_wide)?;
        if let Some(walltime) = self.walltime {
            let kept = walltime::kept(profile, walltime, self.platform, self.classes);
            profile = kept.map_err(|shortest| InstanceError::Walltime { job: name(), shortest, walltime })?;
        }
        // If speeds differ, the processors that are fast enough for the walltime may be fewer than the smallest
        // allotment needs.
        let unequal = self.walltime.is_some() && self.classes.len() > 1 && !profile.is_sequential();
        if !task.needs.is_empty() || unequal {
            profile = self.room.left(&task, profile, self.walltime, &name)?;
        }
        Ok(Task { profile, ..task })
    }

    /// Checks that the times on machines, if the profile has any, match the nodes of the platform.
    fn check_machines(&self, profile: &Profile, name: &impl Fn() -> String) -> Result<(), InstanceError> {
        let Some(times) = profile.machine_times() else { return Ok(()) };
        let nodes = self.platform.node_count();
        if times.len() != nodes {
            return Err(InstanceError::MachineTimes { job: name(), times: times.len(), nodes });
        }
        let nowhere = (0..nodes).all(|node| self.platform.time_on(profile, node).is_none());
        if nowhere { Err(InstanceError::Nowhere(name())) } else { Ok(()) }
    }
}
