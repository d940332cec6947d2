//! What starts now.

use makespan_core::{Decision, Left, ProcSet, TaskId, Time, View};

use super::{Tied, entry};
use crate::kernel::packing::{Packing, Part};
use crate::scheduler::{Listed, Remains};

impl Tied {
    /// Starts what the list has now, and then those of bags without weight that delay nothing of it; when something starts next.
    pub(super) fn start(
        &mut self,
        packing: &Packing<'_>,
        remains: &mut Remains<'_, '_>,
        listed: &Listed,
        view: &View<'_>,
        decisions: &mut Vec<Decision>,
    ) -> Option<Time> {
        let mut all = listed.clone();
        let extra = self.best_effort.iter().take(view.free.len() as usize);
        all.list.extend(extra.map(|task| entry(packing, task, 1)));
        let (mut free, mut left) = (view.free.clone(), Left::of(view));
        let mut next: Option<Time> = None;
        let mut wake_at = |at: Time| next = Some(next.map_or(at, |next| next.min(at)));
        let mut started: Vec<TaskId> = Vec::new();
        // Where one of them has no place, none of them starts.
        if remains.carry(&all).is_err() {
            all.list.truncate(listed.list.len());
        }
        if let Ok(carried) = remains.carry(&all) {
            for (place, (own, &start)) in all.list.iter().zip(carried.starts()).enumerate() {
                let start = Time::from_ticks(start);
                if start > view.now {
                    if start < Time::MAX {
                        wake_at(start);
                    }
                    continue;
                }
                if !view.waiting.contains(own.task) {
                    continue;
                }
                let Some(processors) = ids(packing, carried.parts(place), &free) else { continue };
                if let Some(arrival) = view.arrival(own.task, &processors).filter(|&arrival| arrival > view.now) {
                    wake_at(arrival);
                    continue;
                }
                if left.take(own.task, &processors) {
                    free = free.difference(&processors);
                    started.push(own.task);
                    decisions.push(Decision::Start { task: own.task, processors });
                }
            }
        }
        for task in started {
            self.pending.remove(&task);
            self.best_effort.remove(task);
        }
        next
    }
}

/// The lowest free processors of these cells, if there are enough.
fn ids(packing: &Packing<'_>, parts: &[Part], free: &ProcSet) -> Option<ProcSet> {
    let mut all = Vec::new();
    for part in parts {
        let mut own = packing.machines().cells[part.cell as usize].ids.intersection(free);
        all.extend_from_slice(own.take(part.count)?.intervals());
    }
    Some(ProcSet::from_intervals(all))
}
