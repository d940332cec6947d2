//! The nodes at which the data of ended tasks are.

use crate::model::{Dependence, Instance, ProcSet, ResourceId, TaskId, Time};

/// The end and the processors of each succeeded task that other tasks wait for. The data of the task are at the nodes
/// of these processors. Every transfer of the data starts when the task ends.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndedTasks<'a> {
    /// For each task that succeeded, its end and its processors. The list is empty if no task waits for another.
    pub(crate) runs: &'a [Option<(Time, ProcSet)>],
    /// True if data are available on all nodes as soon as they are produced.
    pub(crate) at_hand: bool,
    /// For each resource, the amount that tasks have used up. The list may be empty if nothing has been used up.
    pub(crate) used_up: &'a [u64],
}

impl<'a> EndedTasks<'a> {
    /// Returns the end and the processors of a task that succeeded. Returns `None` for other tasks, and for every task
    /// if no task of the instance waits for another.
    pub fn run(&self, task: TaskId) -> Option<(Time, &'a ProcSet)> {
        self.runs.get(task.index())?.as_ref().map(|(end, processors)| (*end, processors))
    }

    /// Returns the amount of a consumable that running and ended tasks have used up.
    pub fn used_up(&self, resource: ResourceId) -> u64 {
        self.used_up.get(resource.index()).copied().unwrap_or(0)
    }

    /// Returns the instant at which the payload of an edge has arrived on these processors: the end of the edge's first
    /// task, plus the longest transfer time from a node of the first task to a node of these processors. Returns `None`
    /// if the first task has not succeeded.
    pub fn arrival(&self, instance: &Instance, edge: &Dependence, processors: &ProcSet) -> Option<Time> {
        let (end, from) = self.run(edge.from)?;
        if self.at_hand {
            return Some(end);
        }
        Some(end + instance.platform().transfer_between(from, processors, edge.payload))
    }
}
