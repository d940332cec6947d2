//! What waits, what runs, and what has ended.

use std::borrow::Cow;

use makespan_core::{Cluster, Instance, Outcome, ProcSet, Run, TaskId, Time, View};

use crate::Progress;
use crate::gpus::Gpus;

/// How long after a period begins a task may be expected to end that starts before it. A policy that planned the task to end just
/// then is woken a little late, and on a busy machine some seconds late.
const GRACE: Time = Time::from_seconds(60);

/// The state of a run as its policy and its observer see it.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub cluster: Cluster<'a>,
    /// Where the platform states any.
    pub gpus: Option<Gpus>,
    pub runs: Vec<Run>,
    /// Tasks that have come to their last end.
    pub ended: u64,
    /// Tasks to be released, the latest first.
    pub unreleased: Vec<TaskId>,
}

impl<'a> State<'a> {
    /// A state in which these tasks are still to be released, these runs have ended, and so many tasks run already.
    pub fn new(instance: &'a Instance, mut open: Vec<TaskId>, runs: Vec<Run>, taken: usize) -> Self {
        open.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.release(id), id)));
        // Commands share their files.
        let mut cluster = Cluster::new(instance).with_data_at_hand().with_grace(GRACE);
        for run in runs.iter().filter(|run| run.outcome == Outcome::Succeeded) {
            cluster.succeed(run.task, run.end, &run.processors);
        }
        // Submitted again, a task has used up nothing.
        for run in runs.iter().filter(|run| run.outcome != Outcome::NotStarted) {
            cluster.has_used_up(run.task, &run.processors);
        }
        let ended = instance.tasks() - (open.len() + taken) as u64;
        Self { cluster, gpus: Gpus::new(instance), runs, ended, unreleased: open }
    }

    /// Machines and tasks, with the estimates that hold now.
    pub fn instance(&self) -> &Instance {
        self.cluster.instance()
    }

    /// A task that starts on these processors gets its GPUs.
    pub fn take_gpus(&mut self, task: TaskId, processors: &ProcSet) {
        if let Some(gpus) = &mut self.gpus {
            gpus.take(self.cluster.instance(), task, processors);
        }
    }

    /// These tasks have come, and are to be released.
    pub fn add(&mut self, tasks: impl Iterator<Item = TaskId>) {
        self.unreleased.extend(tasks);
        let instance = self.cluster.instance();
        self.unreleased.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.release(id), id)));
    }

    /// A task holds nothing any more.
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

    /// The next task whose release date has come.
    pub fn release(&mut self, now: Time) -> Option<TaskId> {
        let instance = self.cluster.instance();
        self.unreleased.pop_if(|id| instance.release(*id) <= now)
    }

    /// When the next task is released.
    pub fn next_release(&self) -> Option<Time> {
        self.unreleased.last().map(|&id| self.instance().release(id))
    }
}
