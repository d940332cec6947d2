//! What a platform and a walltime leave of a job.

use super::InstanceError;
use super::walltime::{self, Class};
use crate::model::{Graph, Job, NamedTask, Platform, Profile, Task, Work};

/// The jobs with the allotments on which they can run.
///
/// # Errors
/// The first job that cannot run.
pub(super) fn fitted(jobs: Vec<Job>, platform: &Platform) -> Result<Vec<Job>, InstanceError> {
    let classes = walltime::classes(platform);
    jobs.into_iter().map(|job| one(job, platform, &classes)).collect()
}

/// `classes` are those of the platform.
fn one(mut job: Job, platform: &Platform, classes: &[Class]) -> Result<Job, InstanceError> {
    if let Work::Graph(graph) = job.work {
        let graph = each(&job.name, graph, platform)?;
        job.work = Work::Graph(graph);
        return Ok(job);
    }
    let Job { name, walltime, work, .. } = &mut job;
    let Some(task) = work.task_mut() else { return Ok(job) };
    check_machines(name, &task.profile, platform)?;
    let (needs, processors) = (task.profile.min_processors(), platform.processors());
    let profile = task.profile.clone().at_most(processors);
    let mut profile = profile.ok_or_else(|| InstanceError::TooWide { job: name.clone(), needs, processors })?;
    if let Some(walltime) = *walltime {
        let kept = walltime::kept(profile, walltime, platform, classes);
        profile = kept.map_err(|shortest| InstanceError::Walltime { job: name.clone(), shortest, walltime })?;
    }
    task.profile = profile;
    Ok(job)
}

/// Each task of a compound job for itself. Its walltime is for all of them, and is no rule of a schedule.
fn each(job: &str, graph: Graph, platform: &Platform) -> Result<Graph, InstanceError> {
    let processors = platform.processors();
    let (tasks, edges, order) = graph.into_parts();
    let clip = |NamedTask { name, task }: NamedTask| {
        let full_name = || format!("{job}/{name}");
        if task.profile.machine_times().is_some() {
            check_machines(&full_name(), &task.profile, platform)?;
        }
        if task.profile.max_processors() <= processors {
            return Ok(NamedTask { name, task });
        }
        let needs = task.profile.min_processors();
        let too_wide = || InstanceError::TooWide { job: full_name(), needs, processors };
        let profile = task.profile.at_most(processors).ok_or_else(too_wide)?;
        Ok(NamedTask { task: Task { profile, ..task }, name })
    };
    let tasks = tasks.into_iter().map(clip).collect::<Result<_, InstanceError>>()?;
    Ok(Graph::again(tasks, edges, order))
}

/// Whether the times on machines, if there are any, are those of this platform's nodes. `name` is the job's or the task's.
fn check_machines(name: &str, profile: &Profile, platform: &Platform) -> Result<(), InstanceError> {
    let Some(times) = profile.machine_times() else { return Ok(()) };
    let nodes = platform.node_count();
    if times.len() != nodes {
        return Err(InstanceError::MachineTimes { job: name.to_owned(), times: times.len(), nodes });
    }
    let nowhere = (0..nodes).all(|node| platform.time_on(profile, node).is_none());
    if nowhere { Err(InstanceError::Nowhere(name.to_owned())) } else { Ok(()) }
}
