//! Tasks that wait for others.

use super::Cluster;
use crate::model::{Instance, ProcSet, TaskId, Time};
use crate::online::{Defect, Ended};

/// Where each task stands with what it waits for; empty where none does.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// How many of those that a task waits for have not ended with success.
    missing: Vec<u32>,
    released: Vec<bool>,
    /// Tasks that will never start.
    abandoned: Vec<bool>,
    runs: Vec<Option<(Time, ProcSet)>>,
    at_hand: bool,
}

impl Order {
    pub fn new(instance: &Instance) -> Self {
        let mut order = Self::default();
        order.grow(instance);
        order
    }

    /// Takes in the tasks that were not there before.
    pub fn grow(&mut self, instance: &Instance) {
        if instance.edges().is_empty() {
            return;
        }
        let tasks = instance.tasks() as usize;
        let new = (self.missing.len()..tasks).map(TaskId::at);
        self.missing.extend(new.map(|task| instance.incoming(task).len() as u32));
        self.released.resize(tasks, false);
        self.abandoned.resize(tasks, false);
        self.runs.resize(tasks, None);
    }

    pub fn ended(&self) -> Ended<'_> {
        Ended { runs: &self.runs, at_hand: self.at_hand }
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
        if let Some(released) = self.order.released.get_mut(task.index()) {
            *released = true;
            if self.order.missing[task.index()] > 0 || self.order.abandoned[task.index()] {
                return false;
            }
        }
        self.waiting.insert(task);
        true
    }

    /// A task has ended with success, at this instant and on these processors. Returned are the tasks that waited for it
    /// last and are released: they are among the waiting ones now.
    pub fn succeed(&mut self, task: TaskId, at: Time, processors: &ProcSet) -> Vec<TaskId> {
        if self.order.missing.is_empty() {
            return Vec::new();
        }
        self.order.runs[task.index()] = Some((at, processors.clone()));
        let mut ready = Vec::new();
        for edge in self.instance.outgoing(task) {
            let next = edge.to.index();
            self.order.missing[next] -= 1;
            if self.order.missing[next] == 0 && self.order.released[next] && !self.order.abandoned[next] {
                self.waiting.insert(edge.to);
                ready.push(edge.to);
            }
        }
        ready
    }

    /// A task will never end with success. Returned, by ascending id, are the tasks that wait for it, directly or through
    /// others, and will never start; none is returned twice.
    pub fn abandon(&mut self, task: TaskId) -> Vec<TaskId> {
        let (mut lost, mut open) = (Vec::new(), vec![task]);
        while let Some(task) = open.pop() {
            for edge in self.instance.outgoing(task) {
                let abandoned = &mut self.order.abandoned[edge.to.index()];
                if !std::mem::replace(abandoned, true) {
                    lost.push(edge.to);
                    open.push(edge.to);
                }
            }
        }
        lost.sort_unstable();
        lost
    }

    /// Refuses processors that some data of a task have not reached.
    pub(super) fn check_data(&self, task: TaskId, processors: &ProcSet) -> Result<(), Defect> {
        for edge in self.instance.incoming(task) {
            let arrival = self.order.ended().arrival(&self.instance, edge, processors);
            if let Some(arrival) = arrival.filter(|&arrival| arrival > self.now) {
                let (job, from) = (self.name(task).into_owned(), self.name(edge.from).into_owned());
                return Err(Defect::Data { job, processors: processors.clone(), from, arrival });
            }
        }
        Ok(())
    }
}
