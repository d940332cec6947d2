//! The waiting, running and finished tasks.

use std::borrow::Cow;

use makespan_core::{Cluster, Instance, Outcome, ProcSet, Run, TaskId, Time, View};

use crate::Progress;
use crate::gpus::Gpus;

/// Time by which the expected end of a task may exceed the begin of an unavailable period. If a policy planned a task
/// to end exactly at the begin of the period, the task may start a little late, or some seconds late on a busy
/// machine.
const GRACE: Time = Time::from_seconds(60);

/// State of a run, as the policy and the observer see it.
#[derive(Debug)]
pub(crate) struct SessionState<'a> {
    pub cluster: Cluster<'a>,
    /// The GPUs, if the platform states any.
    pub gpus: Option<Gpus>,
    pub runs: Vec<Run>,
    /// Number of tasks that will not run again.
    pub ended: u64,
    /// Tasks that are not released yet, from the latest to the earliest release date.
    pub unreleased: Vec<TaskId>,
}

impl<'a> SessionState<'a> {
    /// Creates a state. `open` are the tasks to be released, `runs` the ended runs, and `taken` the number of running
    /// tasks.
    pub fn new(instance: &'a Instance, mut open: Vec<TaskId>, runs: Vec<Run>, taken: usize) -> Self {
        open.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.release(id), id)));
        // The commands share their files, so data transfers take no time.
        let mut cluster = Cluster::new(instance).with_data_at_hand().with_grace(GRACE);
        for run in runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
            cluster.succeed(run.task, run.end, &run.processors);
        }
        // A task that was not started has used no consumables.
        for run in runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
            cluster.has_used_up(run.task, &run.processors);
        }
        let ended = instance.tasks() - (open.len() + taken) as u64;
        Self { cluster, gpus: Gpus::new(instance), runs, ended, unreleased: open }
    }

    /// Returns the instance with the current estimates.
    pub fn instance(&self) -> &Instance {
        self.cluster.instance()
    }

    /// Assigns GPUs to a task that starts on these processors.
    pub fn take_gpus(&mut self, task: TaskId, processors: &ProcSet) {
        if let Some(gpus) = &mut self.gpus {
            gpus.take(self.cluster.instance(), task, processors);
        }
    }

    /// Adds tasks that have arrived, to be released later.
    pub fn add(&mut self, tasks: impl Iterator<Item = TaskId>) {
        self.unreleased.extend(tasks);
        let instance = self.cluster.instance();
        self.unreleased.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.release(id), id)));
    }

    /// Releases all resources that a task holds.
    pub fn end(&mut self, task: TaskId) {
        self.cluster.end(task);
        if let Some(gpus) = &mut self.gpus {
            gpus.give_back(task);
        }
    }

    pub fn progress(&self, now: Time) -> Progress<'_> {
        let view = View { now, ..self.cluster.view() };
        Progress { view, runs: &self.runs, ended: self.ended, unreleased: self.unreleased.len() }
    }

    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        self.cluster.name(task)
    }

    /// Returns the next task with a release date that has passed.
    pub fn release(&mut self, now: Time) -> Option<TaskId> {
        let instance = self.cluster.instance();
        self.unreleased.pop_if(|id| instance.release(*id) <= now)
    }

    /// Returns the next release date.
    pub fn next_release(&self) -> Option<Time> {
        self.unreleased.last().map(|&id| self.instance().release(id))
    }
}
