//! Tasks that wait for other tasks.

use super::Cluster;
use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::online::{Defect, EndedTasks};

/// The progress of the predecessors of each task. The lists are empty if no task waits for another.
#[derive(Clone, Debug, Default)]
pub(super) struct PredecessorProgress {
    /// For each distinct task, the number of its predecessors that have not succeeded. A bag has one distinct task.
    missing: Vec<u64>,
    released: Vec<bool>,
    /// For each task, true if it will never start because a predecessor will never succeed.
    abandoned: Vec<bool>,
    runs: Vec<Option<(Time, ProcSet)>>,
    at_hand: bool,
    /// The state of each task, for jobs that are appended later and wait for the task.
    ends: Vec<End>,
}

/// The state of a task as seen by the tasks that wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Succeeded,
    Failed,
}

impl PredecessorProgress {
    pub fn new(instance: &Instance) -> Self {
        let mut order = Self::default();
        order.grow(instance);
        order
    }

    /// Adds the new tasks of the instance. Returns the new tasks that will never start because they wait for a failed
    /// task.
    pub fn grow(&mut self, instance: &Instance) -> Vec<TaskId> {
        let tasks = instance.tasks() as usize;
        self.ends.resize(tasks, End::Open);
        if instance.edges().is_empty() {
            return Vec::new();
        }
        let mut lost = Vec::new();
        self.released.resize(tasks, false);
        self.abandoned.resize(tasks, false);
        self.runs.resize(tasks, None);
        let known = self.missing.len();
        self.missing.resize(instance.different_tasks(), 0);
        for edge in instance.edges() {
            let to = instance.different(edge.to);
            if to < known {
                continue;
            }
            for task in instance.equal_tasks(edge.from) {
                match self.ends[task.index()] {
                    End::Succeeded => {}
                    End::Open => self.missing[to] += 1,
                    End::Failed => lost.extend(instance.equal_tasks(edge.to)),
                }
            }
        }
        let mut all = Vec::new();
        for task in lost {
            if !std::mem::replace(&mut self.abandoned[task.index()], true) {
                all.push(task);
            }
        }
        for at in 0.. {
            let Some(&task) = all.get(at) else { break };
            all.extend(self.abandon_behind(instance, task));
        }
        all.sort_unstable();
        all
    }

    pub fn ended<'a>(&'a self, used_up: &'a [u64]) -> EndedTasks<'a> {
        EndedTasks { runs: &self.runs, at_hand: self.at_hand, used_up }
    }

    /// Abandons the direct successors of `task`. Returns the successors that were not abandoned before.
    fn abandon_behind(&mut self, instance: &Instance, task: TaskId) -> Vec<TaskId> {
        let behind = instance.outgoing(task).flat_map(|edge| instance.equal_tasks(edge.to));
        behind.filter(|next| !std::mem::replace(&mut self.abandoned[next.index()], true)).collect()
    }
}

impl Cluster<'_> {
    /// Returns this cluster with shared files, so that sending data between nodes takes no time.
    #[must_use]
    pub fn with_data_at_hand(mut self) -> Self {
        self.order.at_hand = true;
        self
    }

    /// Submits a task that was released or interrupted. Returns true if the task is now waiting, and false if one of
    /// its predecessors has not succeeded yet.
    pub fn submit(&mut self, task: TaskId) -> bool {
        self.held.forget(task);
        if let Some(released) = self.order.released.get_mut(task.index()) {
            *released = true;
            if self.order.missing[self.instance.different(task)] > 0 || self.order.abandoned[task.index()] {
                return false;
            }
        }
        self.waiting.insert(task);
        true
    }

    /// Records that a task succeeded at this instant on these processors. Returns the tasks that wait from now on:
    /// they are released, and this task was the last predecessor to succeed.
    pub fn succeed(&mut self, task: TaskId, at: Time, processors: &ProcSet) -> Vec<TaskId> {
        self.order.ends[task.index()] = End::Succeeded;
        if self.order.missing.is_empty() {
            return Vec::new();
        }
        self.order.runs[task.index()] = Some((at, processors.clone()));
        let mut ready = Vec::new();
        for edge in self.instance.outgoing(task) {
            let missing = &mut self.order.missing[self.instance.different(edge.to)];
            *missing -= 1;
            if *missing > 0 {
                continue;
            }
            for next in self.instance.equal_tasks(edge.to) {
                if self.order.released[next.index()] && !self.order.abandoned[next.index()] {
                    self.waiting.insert(next);
                    ready.push(next);
                }
            }
        }
        ready
    }

    /// Records that a task will never succeed. Returns, by ascending id, the tasks that wait for this task directly or
    /// indirectly and therefore never start. No task is returned twice.
    pub fn abandon(&mut self, task: TaskId) -> Vec<TaskId> {
        self.order.ends[task.index()] = End::Failed;
        let (mut lost, mut open) = (Vec::new(), vec![task]);
        while let Some(task) = open.pop() {
            self.order.ends[task.index()] = End::Failed;
            let behind = self.order.abandon_behind(&self.instance, task);
            lost.extend(behind.iter().copied());
            open.extend(behind);
        }
        lost.sort_unstable();
        lost
    }

    /// Returns true if a task may still start: it is in the queue, or it is released and waits for predecessors that
    /// can all still succeed.
    pub fn may_start(&self, task: TaskId) -> bool {
        let PredecessorProgress { released, abandoned, ends, .. } = &self.order;
        let waits_for_others = || {
            let at = task.index();
            released.get(at) == Some(&true) && !abandoned[at] && ends[at] == End::Open && self.run_of(task).is_none()
        };
        self.waiting.contains(task) || waits_for_others()
    }

    /// Cancels a task that has not started. Returns the tasks that wait for this task and therefore never start, like
    /// [`Cluster::abandon`].
    pub fn give_up(&mut self, task: TaskId) -> Vec<TaskId> {
        self.waiting.remove(task);
        if let Some(abandoned) = self.order.abandoned.get_mut(task.index()) {
            *abandoned = true;
        }
        self.abandon(task)
    }

    /// Returns an error if some data of the task have not arrived on these processors.
    pub(super) fn check_data(&self, task: TaskId, processors: &ProcSet) -> Result<(), Defect> {
        for edge in self.instance.incoming(task).filter(|edge| !edge.is_between_jobs(&self.instance)) {
            let arrival = self.order.ended(&[]).arrival(&self.instance, edge, processors);
            if let Some(arrival) = arrival.filter(|&arrival| arrival > self.now) {
                let (job, from) = (self.name(task).into_owned(), self.name(edge.from).into_owned());
                return Err(Defect::Data { job, processors: processors.clone(), from, arrival });
            }
        }
        Ok(())
    }
}
