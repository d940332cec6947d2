//! An instance of which something has begun.

use makespan_core::{HeldAmount, ProcSet, TaskId};
use rustc_hash::FxHashMap;

use crate::kernel::packing::{Packing, Part, Row};

/// What is to be inserted after an instant, and what is in its way.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begun {
    /// The instant, in ticks.
    pub now: i64,
    /// Processors that are not to be had before an instant: of tasks that run, and down.
    pub taken: Vec<(ProcSet, i64)>,
    /// What is held of resources, and what is used up.
    pub held: Vec<HeldAmount>,
    /// For each row how many tasks of the list it waits for; [`Begun::ABSENT`] of a row that is not in the list.
    pub waits: Vec<u64>,
    /// For each row from when on its tasks may start, as far as that does not depend on the list.
    pub ready: Vec<i64>,
    /// When tasks end, or have ended, whose data others of the list wait for, and where.
    pub ends: FxHashMap<TaskId, (i64, Vec<Part>)>,
}

impl Begun {
    /// More tasks than there are.
    pub const ABSENT: u64 = u64::MAX / 2;

    /// The processors of each cell among some.
    pub fn parts(packing: &Packing<'_>, processors: &ProcSet) -> Vec<Part> {
        let counts = packing.machines().cells.iter().map(|cell| cell.ids.intersection(processors).len());
        (0..).zip(counts).filter(|part| part.1 > 0).map(|(cell, count)| Part { cell, count }).collect()
    }

    /// Rows of the list that wait for nothing in it.
    pub(super) fn ready_rows(&self) -> impl Iterator<Item = Row> + '_ {
        let rows = (0..self.waits.len()).map(Row::at);
        rows.zip(&self.waits).filter(|(_, waits)| **waits == 0).map(|(row, _)| row)
    }
}
