//! The state of an instance after some tasks have started or ended.

use makespan_core::{HeldAmount, ProcSet, TaskId};
use rustc_hash::FxHashMap;

use crate::kernel::packing::{HeldPart, Packing, Row};

/// The remaining tasks at an instant, and the state that restricts them.
#[derive(Clone, Debug, Default)]
pub(crate) struct RemainingTasks {
    /// The instant, in ticks.
    pub now: i64,
    /// Processors that run a task or are down, each set with the instant until which it is unavailable.
    pub taken: Vec<(ProcSet, i64)>,
    /// The amounts of resources that are held or used up.
    pub held: Vec<HeldAmount>,
    /// For each row of equal tasks, the number of tasks of the list that the row waits for, or
    /// [`RemainingTasks::ABSENT`] if the row is not in the list.
    pub waits: Vec<u64>,
    /// For each row of equal tasks, a lower bound on the start of its tasks that does not depend on the list.
    pub ready: Vec<i64>,
    /// The ends and the parts of started tasks, if tasks of the list wait for their data.
    pub ends: FxHashMap<TaskId, (i64, Vec<HeldPart>)>,
}

impl RemainingTasks {
    /// The value in `waits` for a row of equal tasks that is not in the list. This value exceeds any number of tasks.
    pub const ABSENT: u64 = u64::MAX / 2;

    /// Returns each cell that contains some of `processors`, with the number of these processors.
    pub fn parts(packing: &Packing<'_>, processors: &ProcSet) -> Vec<HeldPart> {
        let counts = packing.machines().cells.iter().map(|cell| cell.ids.intersection(processors).len());
        (0..).zip(counts).filter(|part| part.1 > 0).map(|(cell, count)| HeldPart { cell, count }).collect()
    }

    /// Returns the rows of equal tasks that are in the list and wait for no task of the list.
    pub(super) fn ready_rows(&self) -> impl Iterator<Item = Row> + '_ {
        let rows = (0..self.waits.len()).map(Row::at);
        rows.zip(&self.waits).filter(|(_, waits)| **waits == 0).map(|(row, _)| row)
    }
}
