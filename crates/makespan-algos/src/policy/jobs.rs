//! Functions for policies that plan jobs with all their tasks.

use std::sync::Arc;

use makespan_core::{Event, Graph, Instance, Job, JobId, NamedTask, Task, TaskId, View, Work};

/// Marks the jobs for which a first task has arrived. Returns these jobs in ascending order.
pub(super) fn new_jobs(heard: &mut Vec<bool>, events: &[Event], instance: &Instance) -> Vec<JobId> {
    let mut new = Vec::new();
    for event in events {
        if let Event::Submitted(task) = *event {
            let job = instance.job_id(task);
            if heard.len() <= job.index() {
                heard.resize(instance.jobs().len(), false);
            }
            if !std::mem::replace(&mut heard[job.index()], true) {
                new.push(job);
            }
        }
    }
    new.sort_unstable();
    new
}

/// Returns, in ascending order, the tasks of a job that must still be started. Omits tasks that have ended or are
/// running. Also omits tasks that can never start, because a predecessor will never end with success.
pub(super) fn unstarted(view: &View<'_>, job: JobId) -> Vec<TaskId> {
    let own = view.instance.job(job);
    if !own.is_compound() {
        return own.task_ids().filter(|&task| view.waiting.contains(task)).collect();
    }
    let at = |task: TaskId| (task.0 - own.first().0) as usize;
    // Find the tasks that run, wait or may still arrive.
    let mut alive = vec![false; own.different_tasks() as usize];
    for run in view.running.iter().filter(|run| own.has_task(run.task)) {
        alive[at(run.task)] = true;
    }
    let mut left = Vec::with_capacity(alive.len());
    for task in view.instance.order(job) {
        let mut open = view.instance.incoming(task).filter(|edge| view.ended.run(edge.from).is_none()).peekable();
        let comes = open.peek().is_some() && open.all(|edge| alive[at(edge.from)]);
        if view.waiting.contains(task) || comes {
            alive[at(task)] = true;
            left.push(task);
        }
    }
    left.sort_unstable();
    left
}

/// Converts a job for policies that plan each task on one processor. A bag becomes a graph without edges.
pub(super) fn as_graph(instance: &Instance, job: JobId) -> Job {
    let submitted = instance.submitted(job);
    let Work::Bag(task, count) = &submitted.work else { return submitted };
    let task = Task::new(task.profile.clone());
    let named = |number: u64| NamedTask { name: Arc::from(number.to_string()), task: task.clone() };
    let graph = Graph::new((0..count.get()).map(named).collect(), Vec::new());
    Job { work: Work::Graph(graph.expect("the names are distinct numbers, and there are no edges")), ..submitted }
}
