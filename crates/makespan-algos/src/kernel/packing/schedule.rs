//! Assigns processor ids to the tasks of an executed list.

use makespan_core::{Placement, ProcSet, Schedule, Time};

use super::{HeldPart, ListEntry, Packing};

/// An executed list. For the task at each position, the list contains its start, its end, and its range in `parts`.
pub(super) struct ExecutedList<'c> {
    pub starts: &'c [i64],
    pub ends: &'c [i64],
    pub held: &'c [(u32, u32)],
    pub parts: &'c [HeldPart],
}

/// Returns the schedule of an executed list. The tasks are handled in the order of their starts. Each task takes the
/// lowest free ids of the cells that it holds.
pub(super) fn of(packing: &Packing<'_>, list: &[ListEntry], carried: &ExecutedList<'_>) -> Schedule {
    let mut free: Vec<ProcSet> = packing.machines.cells.iter().map(|cell| cell.ids.clone()).collect();
    let mut changes: Vec<(i64, bool, u32)> = Vec::with_capacity(2 * list.len());
    for place in 0..list.len() {
        changes.push((carried.starts[place], true, place as u32));
        changes.push((carried.ends[place], false, place as u32));
    }
    changes.sort_unstable();
    let mut given: Vec<Vec<ProcSet>> = vec![Vec::new(); list.len()];
    let mut placements = Vec::with_capacity(list.len());
    for (at, starts, place) in changes {
        let place = place as usize;
        let (first, end) = carried.held[place];
        let parts = &carried.parts[first as usize..end as usize];
        if !starts {
            for (part, ids) in parts.iter().zip(std::mem::take(&mut given[place])) {
                free[part.cell as usize].insert(&ids);
            }
            continue;
        }
        let take = |part: &HeldPart| free[part.cell as usize].take(part.count).expect("the held amounts were free");
        given[place] = parts.iter().map(take).collect();
        let ids = given[place].iter().flat_map(|ids| ids.intervals().iter().copied()).collect();
        placements.push(Placement {
            task: list[place].task,
            start: Time::from_ticks(at),
            end: Time::from_ticks(carried.ends[place]),
            processors: ProcSet::from_intervals(ids),
        });
    }
    Schedule::new(placements)
}
