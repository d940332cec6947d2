//! Where data are.

use crate::model::{Dependence, Instance, ProcSet, ResourceId, TaskId, Time};

/// When and where the tasks ended that others wait for. Data stay where they were made, and travel from there as soon as
/// they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ended<'a> {
    /// For each task; empty where no task waits for another.
    pub(crate) runs: &'a [Option<(Time, ProcSet)>],
    /// Whether data are at hand everywhere at once.
    pub(crate) at_hand: bool,
    /// For each resource how much has been used up; empty where nothing is.
    pub(crate) used_up: &'a [u64],
}

impl<'a> Ended<'a> {
    /// When and where a task ended with success; `None` when it did not, or nothing waits for any task.
    pub fn run(&self, task: TaskId) -> Option<(Time, &'a ProcSet)> {
        self.runs.get(task.index())?.as_ref().map(|(end, processors)| (*end, processors))
    }

    /// How much of a consumable has been used up by tasks that run or have run.
    pub fn used_up(&self, resource: ResourceId) -> u64 {
        self.used_up.get(resource.index()).copied().unwrap_or(0)
    }

    /// When what is carried along an edge has arrived on these processors: the end of the task that it comes from and the
    /// slowest transfer from any of its nodes to any of theirs. `None` when that has not ended.
    pub fn arrival(&self, instance: &Instance, edge: &Dependence, processors: &ProcSet) -> Option<Time> {
        let (end, from) = self.run(edge.from)?;
        if self.at_hand {
            return Some(end);
        }
        Some(end + instance.platform().transfer_between(from, processors, edge.payload))
    }
}
