//! Starts and expected starts of planned tasks. The tasks of a gang start together.

use makespan_core::{Decision, Placement, ProcSet, TaskId, Time, Unavailable, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{PlanKeeper, Reservation};
use crate::policy::openings::{closed, expected_arrival, first_open};

impl PlanKeeper {
    /// Computes the expected starts again from the estimates, in the planned order. No task is expected to start
    /// before its planned start, or before its data arrive. Other jobs are planned around the expected starts.
    pub fn project(&mut self, view: &View<'_>) {
        let instance = view.instance;
        let mut open = vec![view.now; instance.processors() as usize];
        let mut ends: FxHashMap<TaskId, (Time, ProcSet)> = FxHashMap::default();
        for run in view.running {
            let end = self.held_until(run, view);
            run.processors.iter().for_each(|id| open[id as usize] = end);
            ends.insert(run.task, (end, run.processors.clone()));
        }
        let closed: Vec<Unavailable> = closed(view).collect();
        let (order, lengths) = self.units(view);
        let mut rest = order.as_slice();
        for length in lengths {
            let (unit, later) = rest.split_at(length);
            rest = later;
            let start = |at: usize, after: Time| {
                let Reservation { at, planned, .. } = &self.upcoming[at];
                let free = at.processors.iter().map(|id| open[id as usize]);
                let arrivals = instance.incoming(at.task).filter_map(|edge| {
                    let from = ends.get(&edge.from).map(|(end, from)| (*end, from));
                    expected_arrival(view, edge, &at.processors, from)
                });
                let first = free.chain(arrivals).fold(after.max(*planned), Time::max);
                first_open(&closed, &at.processors, first, at.end - at.start)
            };
            // Move the start until all tasks of the unit can start at this instant.
            let mut common = view.now;
            loop {
                let next = unit.iter().map(|&at| start(at, common)).fold(common, Time::max);
                if next == common {
                    break;
                }
                common = next;
            }
            for &at in unit {
                let at = &mut self.upcoming[at].at;
                at.end = common + (at.end - at.start);
                at.start = common;
                at.processors.iter().for_each(|id| open[id as usize] = at.end);
                ends.insert(at.task, (at.end, at.processors.clone()));
            }
        }
        self.sort();
    }

    /// Returns the positions of the planned tasks, in the order of expected starts, and the lengths of the units into which
    /// they are divided. The planned tasks of a gang are one unit, at the position of the last of them. Any other task is
    /// a unit.
    fn units(&self, view: &View<'_>) -> (Vec<usize>, Vec<usize>) {
        let all = 0..self.upcoming.len();
        if !view.instance.has_gangs() {
            return (all.clone().collect(), vec![1; all.len()]);
        }
        let positions: FxHashMap<TaskId, usize> = self.upcoming().map(|at| at.task).zip(0..).collect();
        let (mut order, mut lengths) = (Vec::with_capacity(all.len()), Vec::new());
        for at in all {
            let mates = view.instance.gang_mates(self.upcoming[at].at.task);
            let mut unit: Vec<usize> = mates.iter().filter_map(|mate| positions.get(mate).copied()).collect();
            if unit.iter().all(|&other| other < at) {
                unit.push(at);
                lengths.push(unit.len());
                order.append(&mut unit);
            }
        }
        (order, lengths)
    }

    /// Starts tasks. If another planned task of a gang cannot start now, the tasks of this gang keep their reservations.
    pub(super) fn begin_all(&mut self, starting: Vec<Reservation>, view: &View<'_>, decisions: &mut Vec<Decision>) {
        let (ready, held): (Vec<Reservation>, Vec<Reservation>) = if view.instance.has_gangs() {
            let left: FxHashSet<TaskId> = self.upcoming().map(|at| at.task).collect();
            let is_ready =
                |next: &Reservation| view.instance.gang_mates(next.at.task).iter().all(|mate| !left.contains(mate));
            starting.into_iter().partition(is_ready)
        } else {
            (starting, Vec::new())
        };
        for next in ready {
            let Placement { task, ref processors, .. } = next.at;
            decisions.push(Decision::Start { task, processors: processors.clone() });
            self.running.push(next.begun(view.now));
        }
        self.departed |= held.iter().any(|next| next.planned <= view.now);
        if !held.is_empty() {
            self.upcoming.extend(held);
            self.sort();
        }
    }
}
