//! What an instance asks of its compound jobs.

use std::sync::Arc;

use super::{InstanceError, check_row};
use crate::model::{Job, Load, Platform, Profile, Route, Task, Time};

/// All tasks one after the other on the slowest processor, each after the slowest transfer of all its data.
pub(super) fn horizon(platform: &Platform, jobs: &[Job]) -> i128 {
    let computing = platform.kinds().map(|(node, _)| node).filter(|node| node.processors > 0);
    let slowest = computing.map(|node| node.speed).fold(f64::INFINITY, f64::min);
    let route = slowest_route(platform);
    let of_job = |job: &Job| {
        let time = |profile: &Profile| {
            let own = profile.machine_times().is_some();
            let longest = profile.longest();
            i128::from(if own { longest } else { longest.divided_by(slowest) }.ticks())
        };
        let Some(graph) = &job.graph else { return time(job.profile()).saturating_mul(i128::from(job.tasks())) };
        let tasks: i128 = graph.tasks().iter().map(|task| time(&task.task.profile)).sum();
        tasks + graph.edges().iter().map(|edge| i128::from(route.time(edge.load).ticks())).sum::<i128>()
    };
    jobs.iter().map(of_job).fold(0, i128::saturating_add)
}

/// No route is slower than all links in a row.
fn slowest_route(platform: &Platform) -> Route {
    // Equal nodes that stand once have no links.
    let links = || platform.kinds().filter_map(|(node, _)| node.link).chain(platform.interconnect());
    Route {
        latency: links().map(|link| link.latency).sum(),
        bandwidth: links().map(|link| link.bandwidth).fold(f64::INFINITY, f64::min),
        takes_time: true,
    }
}

/// Whether any of these loads may take time between two tasks.
pub(super) fn takes_time(platform: &Platform, mut loads: impl Iterator<Item = Load>) -> bool {
    let computing: usize = platform.kinds().filter(|(node, _)| node.processors > 0).map(|(_, count)| count).sum();
    let route = slowest_route(platform);
    (computing > 1 || platform.has_local_transfers()) && loads.any(|load| route.time(load) > Time::ZERO)
}

/// Each task of a compound job for itself. Its walltime is for all of them, and is no rule of a schedule.
pub(super) fn fitted(job: Job, platform: &Platform) -> Result<Job, InstanceError> {
    let processors = platform.processors();
    let Some(graph) = &job.graph else { return Ok(job) };
    if job.count.is_some() {
        return Err(InstanceError::CompoundBag(job.name));
    }
    for task in graph.tasks().iter().filter(|task| task.task.profile.machine_times().is_some()) {
        check_row(&format!("{}/{}", job.name, task.name), &task.task.profile, platform)?;
    }
    let fits = |task: &Task| task.profile.max_processors() <= processors;
    if graph.tasks().iter().all(|task| fits(&task.task)) {
        return Ok(job);
    }
    let clip = |name: &str, task: Task| {
        let needs = task.profile.min_processors();
        let too_wide = || InstanceError::TooWide { job: format!("{}/{name}", job.name), needs, processors };
        Ok(Task { profile: task.profile.at_most(processors).ok_or_else(too_wide)?, ..task })
    };
    let graph = Arc::unwrap_or_clone(Arc::clone(graph)).with_tasks(clip)?;
    Ok(Job { graph: Some(Arc::new(graph)), ..job })
}
