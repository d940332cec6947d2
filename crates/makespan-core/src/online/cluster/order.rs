//! Tasks that wait for others.

use super::Cluster;
use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::online::{Defect, Ended};

/// Where each task stands with what it waits for; empty where none does.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// Of each different task how many of those that it waits for have not ended with success.
    missing: Vec<u64>,
    released: Vec<bool>,
    /// Tasks that will never start.
    abandoned: Vec<bool>,
    runs: Vec<Option<(Time, ProcSet)>>,
    at_hand: bool,
    /// How each task ended, for jobs that come later and wait for it.
    ends: Vec<End>,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum End {
    #[default]
    Open,
    Succeeded,
    Failed,
}

impl Order {
    pub fn new(instance: &Instance) -> Self {
        let mut order = Self::default();
        order.grow(instance);
        order
    }

    /// Takes in the tasks that were not there before. Returned are those of them that will never start.
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

    pub fn ended<'a>(&'a self, used_up: &'a [u64]) -> Ended<'a> {
        Ended { runs: &self.runs, at_hand: self.at_hand, used_up }
    }

    /// The tasks that wait for this one and were not given up before.
    fn abandon_behind(&mut self, instance: &Instance, task: TaskId) -> Vec<TaskId> {
        let behind = instance.outgoing(task).flat_map(|edge| instance.equal_tasks(edge.to));
        behind.filter(|next| !std::mem::replace(&mut self.abandoned[next.index()], true)).collect()
    }
}

impl Cluster<'_> {
    /// The same cluster, on which data need no time between nodes: they are in files that all see.
    #[must_use]
    pub fn with_data_at_hand(mut self) -> Self {
        self.order.at_hand = true;
        self
    }

    /// A task is released, or was interrupted. Whether it is among the waiting ones now: it is not while anything that it
    /// waits for has not ended with success.
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

    /// A task has ended with success, at this instant and on these processors. Returned are the tasks that waited for it
    /// last and are released: they are among the waiting ones now.
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

    /// A task will never end with success. Returned, by ascending id, are the tasks that wait for it, directly or through
    /// others, and will never start; none is returned twice.
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

    /// Whether a task may still start: it is among the waiting ones, or released and waits for others that may succeed.
    pub fn may_start(&self, task: TaskId) -> bool {
        let Order { released, abandoned, ends, .. } = &self.order;
        let waits_for_others = || {
            let at = task.index();
            released.get(at) == Some(&true) && !abandoned[at] && ends[at] == End::Open && self.run_of(task).is_none()
        };
        self.waiting.contains(task) || waits_for_others()
    }

    /// A task that has not started is taken back: it never will. Returned are those that wait for it, as by [`Cluster::abandon`].
    pub fn give_up(&mut self, task: TaskId) -> Vec<TaskId> {
        self.waiting.remove(task);
        if let Some(abandoned) = self.order.abandoned.get_mut(task.index()) {
            *abandoned = true;
        }
        self.abandon(task)
    }

    /// Refuses processors that some data of a task have not reached.
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
