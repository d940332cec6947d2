//! Jobs as their users submitted them, seen by policies that speak of tasks.

use makespan_core::{Event, Instance, Job, JobId, View};

/// How many whole jobs there are.
pub(super) fn wholes(instance: &Instance) -> usize {
    instance.precedence().map_or(instance.jobs().len(), |precedence| precedence.wholes().len())
}

/// A whole job, and the first of the jobs that are its tasks.
pub(super) fn whole_job(instance: &Instance, whole: usize) -> (JobId, Job) {
    match instance.precedence() {
        Some(precedence) => {
            let whole = &precedence.wholes()[whole];
            (whole.first, whole.job.clone())
        }
        None => (JobId(whole as u32), instance.jobs()[whole].clone()),
    }
}

/// The whole job of a task.
pub(super) fn whole_of(instance: &Instance, job: JobId) -> usize {
    instance.precedence().map_or(job.index(), |precedence| precedence.whole_of(job))
}

/// The tasks of a whole job.
pub(super) fn tasks(instance: &Instance, whole: usize) -> impl Iterator<Item = JobId> + use<> {
    let tasks = match instance.precedence() {
        Some(precedence) => precedence.wholes()[whole].tasks(),
        None => whole as u32..whole as u32 + 1,
    };
    tasks.map(JobId)
}

/// Marks the whole jobs of which a task came for the first time; they are returned, ascending.
pub(super) fn new_wholes(heard: &mut Vec<bool>, events: &[Event], instance: &Instance) -> Vec<usize> {
    heard.resize(wholes(instance), false);
    let mut new = Vec::new();
    for event in events {
        if let Event::Submitted(job) = *event {
            let whole = whole_of(instance, job);
            if !std::mem::replace(&mut heard[whole], true) {
                new.push(whole);
            }
        }
    }
    new.sort_unstable();
    new
}

/// The tasks of a whole job that are still to be started, in the order of the graph: neither ended nor running, and none
/// that waits for one that will never end with success.
pub(super) fn unstarted(view: &View<'_>, whole: usize) -> Vec<JobId> {
    let all: Vec<JobId> = tasks(view.instance, whole).collect();
    let Some(&first) = all.first() else { return all };
    let runs = |job: JobId| view.running.iter().any(|running| running.job == job);
    let Some(precedence) = view.instance.precedence() else {
        return all.into_iter().filter(|&job| view.waiting.contains(job)).collect();
    };
    // Those of which it is known that they run, wait or may still come.
    let mut alive = vec![false; all.len()];
    let mut left = Vec::with_capacity(all.len());
    for task in order(&precedence.wholes()[whole].job) {
        let job = JobId(first.0 + task);
        let mut open = precedence.incoming(job).iter().filter(|from| view.ended.run(from.job).is_none()).peekable();
        let comes = open.peek().is_some() && open.all(|from| alive[(from.job.0 - first.0) as usize]);
        let waits = view.waiting.contains(job) || comes;
        alive[task as usize] = waits || runs(job);
        if waits {
            left.push(job);
        }
    }
    left.sort_unstable();
    left
}

/// Tasks, each after all that it waits for.
fn order(job: &Job) -> Vec<u32> {
    job.graph.as_ref().map_or_else(|| vec![0], |graph| graph.order().to_vec())
}
