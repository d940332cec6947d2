//! The location of data from tasks that ended.

use crate::model::{Dependence, Instance, ProcSet, ResourceId, TaskId, Time};

/// Ends and processors of the tasks that other tasks wait for. Data remain where they were produced, and every transfer
/// starts as soon as they exist.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended<'a> {
    /// The end and processors of each task; empty if no task waits for another.
    pub(crate) runs: &'a [Option<(Time, ProcSet)>],
    /// True if data are available everywhere at once.
    pub(crate) at_hand: bool,
    /// The used up amount of each resource; may be empty if there is none.
    pub(crate) used_up: &'a [u64],
}

impl<'a> Ended<'a> {
    /// Returns the end and the processors of a task that succeeded. Returns `None` for other tasks, or if no task waits
    /// for another.
    pub fn run(&self, task: TaskId) -> Option<(Time, &'a ProcSet)> {
        self.runs.get(task.index())?.as_ref().map(|(end, processors)| (*end, processors))
    }

    /// Returns the amount of a consumable that running and ended tasks have used up.
    pub fn used_up(&self, resource: ResourceId) -> u64 {
        self.used_up.get(resource.index()).copied().unwrap_or(0)
    }

    /// Returns the instant at which the payload of an edge has arrived on these processors: the end of the first task
    /// plus the slowest transfer from any of its nodes to any of these. Returns `None` if the first task has not
    /// succeeded.
    pub fn arrival(&self, instance: &Instance, edge: &Dependence, processors: &ProcSet) -> Option<Time> {
        let (end, from) = self.run(edge.from)?;
        if self.at_hand {
            return Some(end);
        }
        Some(end + instance.platform().transfer_between(from, processors, edge.payload))
    }
}
