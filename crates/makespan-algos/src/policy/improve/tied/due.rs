//! Starts the tasks that may start now.

use makespan_core::{Decision, FreeAmounts, ProcSet, TaskId, Time, View};

use super::{DependentPlan, entry};
use crate::kernel::packing::{HeldPart, Packing};
use crate::scheduler::{DecodedList, Remains};

impl DependentPlan {
    /// Returns the list `listed`, extended by waiting tasks of bags without weight. The added tasks come last, so they
    /// delay no task of `listed`.
    pub(super) fn with_best_effort(
        &self,
        packing: &Packing<'_>,
        remains: &mut Remains<'_, '_>,
        listed: &DecodedList,
        view: &View<'_>,
    ) -> DecodedList {
        let mut all = listed.clone();
        let extra = self.best_effort.iter().take(view.free.len() as usize);
        all.list.extend(extra.map(|task| entry(packing, task, 1)));
        // Remove tasks that do not fit. The tasks of a bag are equal. So if a task does not fit, also remove the later
        // tasks of its bag.
        while let Err(at) = remains.carry(&all) {
            let planned = listed.list.len();
            if at < planned {
                all.list.truncate(planned);
                break;
            }
            let bag = packing.row_of(all.list[at].task);
            let behind = all.list.split_off(at);
            all.list.extend(behind.into_iter().filter(|entry| packing.row_of(entry.task) != bag));
        }
        all
    }

    /// Starts the tasks that are due now according to the list `all`. Returns the next instant at which a task may
    /// start.
    pub(super) fn start(
        &mut self,
        packing: &Packing<'_>,
        remains: &mut Remains<'_, '_>,
        all: &DecodedList,
        view: &View<'_>,
        decisions: &mut Vec<Decision>,
    ) -> Option<Time> {
        let (mut free, mut left) = (view.free.clone(), FreeAmounts::of(view));
        let mut next: Option<Time> = None;
        let mut wake_at = |at: Time| next = Some(next.map_or(at, |next| next.min(at)));
        let mut started: Vec<TaskId> = Vec::new();
        if let Ok(carried) = remains.carry(all) {
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
        // Also wake up when processors open, because tasks of bags without weight may start then. The plan does not
        // contain these tasks.
        let opens = view.instance.unavailable().iter().map(|period| period.end).filter(|&end| end > view.now).min();
        let opens = opens.filter(|_| !self.best_effort.is_empty());
        next.into_iter().chain(opens).min()
    }
}

/// Returns the processors of a task: from each cell in `parts`, the free processors with the lowest ids. Returns
/// `None` if a cell has too few free processors.
fn ids(packing: &Packing<'_>, parts: &[HeldPart], free: &ProcSet) -> Option<ProcSet> {
    let mut all = Vec::new();
    for part in parts {
        let mut own = packing.machines().cells[part.cell as usize].ids.intersection(free);
        all.extend_from_slice(own.take(part.count)?.intervals());
    }
    Some(ProcSet::from_intervals(all))
}
