//! The remaining tasks of an instance, and the state from which they are planned.

use makespan_core::{TaskId, TaskSet, Time, View};
use rustc_hash::{FxHashMap, FxHashSet};

use super::DependentPlan;
use crate::kernel::packing::{Packing, RemainingTasks, Row};

/// The tasks that have not started and can still start.
pub(super) struct Survey {
    /// The tasks in topological order.
    pub alive: Vec<TaskId>,
    /// The rows of the tasks, in the order of the tasks. A row is a task or the equal tasks of a bag.
    pub rows: Vec<Row>,
    /// The number of tasks that have not started, for each row of equal tasks.
    counts: FxHashMap<Row, u64>,
    /// The last expected end of the running tasks, for each row of equal tasks.
    running: FxHashMap<Row, i64>,
}

impl Survey {
    pub fn of(packing: &Packing<'_>, view: &View<'_>, tied: &DependentPlan) -> Self {
        let View { now, instance, .. } = *view;
        let mut running: FxHashMap<Row, i64> = FxHashMap::default();
        for run in view.running {
            let end = run.expected_end(instance, now).ticks();
            let last = running.entry(packing.row_of(run.task)).or_insert(end);
            *last = end.max(*last);
        }
        let mut dead: FxHashSet<Row> = tied.failed.iter().map(|&task| packing.row_of(task)).collect();
        let mut survey = Self { alive: Vec::new(), rows: Vec::new(), counts: FxHashMap::default(), running };
        for task in in_order(packing, tied) {
            let row = packing.row_of(task);
            let before = || instance.incoming(packing.first_of(row)).map(|edge| packing.row_of(edge.from));
            let waits = view.waiting.contains(task);
            if !waits && before().any(|row| dead.contains(&row)) {
                dead.insert(row);
                continue;
            }
            let awaits = |row: Row| survey.counts.contains_key(&row) || survey.running.contains_key(&row);
            if waits || instance.release(task) > now || before().any(awaits) {
                survey.alive.push(task);
                if survey.rows.last() != Some(&row) {
                    survey.rows.push(row);
                }
                *survey.counts.entry(row).or_default() += 1;
            }
        }
        survey
    }

    /// Returns the number of tasks of a row of equal tasks that have not started.
    pub fn count(&self, row: Row) -> u64 {
        self.counts.get(&row).copied().unwrap_or(0)
    }

    /// Returns the state from which the tasks `list` are planned, followed by the tasks `best_effort`. The state
    /// contains the held processors and resources, and the earliest start and the number of unfinished predecessors of
    /// each row of equal tasks.
    pub fn begun(
        &self,
        packing: &Packing<'_>,
        view: &View<'_>,
        list: &[crate::kernel::packing::ListEntry],
        best_effort: &TaskSet,
    ) -> RemainingTasks {
        let View { now, instance, .. } = *view;
        let running = view.running.iter().map(|run| (run.processors.clone(), run.expected_end(instance, now).ticks()));
        let down = view.down.iter().map(|down| (down.processors.clone(), down.end.max(now + Time::TICK).ticks()));
        let mut begun = RemainingTasks {
            now: now.ticks(),
            taken: running.chain(down).collect(),
            held: view.held(),
            waits: vec![RemainingTasks::ABSENT; packing.rows().len()],
            ready: vec![now.ticks(); packing.rows().len()],
            ends: FxHashMap::default(),
        };
        let mut counts: FxHashMap<Row, u64> = FxHashMap::default();
        list.iter().for_each(|entry| *counts.entry(packing.row_of(entry.task)).or_default() += 1);
        for &row in counts.keys() {
            let first = packing.first_of(row);
            let mut ready = now.ticks().max(packing.release_of(row));
            let mut waits = 0;
            for edge in instance.incoming(first) {
                let from = packing.row_of(edge.from);
                // Treat a predecessor outside the list as a task that never ends. Tasks outside the list are planned
                // after all tasks of the list.
                waits += if counts.contains_key(&from) || self.count(from) == 0 {
                    counts.get(&from).copied().unwrap_or(0)
                } else {
                    RemainingTasks::ABSENT
                };
                ready = self.running.get(&from).copied().unwrap_or(0).max(ready);
                if packing.has_transfers() {
                    see_data(packing, view, edge.from, &mut begun);
                }
            }
            begun.waits[row.index()] = waits;
            begun.ready[row.index()] = ready;
        }
        for task in best_effort.iter().take(view.free.len() as usize) {
            begun.waits[packing.row_of(task).index()] = 0;
        }
        begun
    }
}

/// If `task` runs or has ended, adds its end and its processors to `begun`. The data of the task are sent from these
/// processors.
fn see_data(packing: &Packing<'_>, view: &View<'_>, task: TaskId, begun: &mut RemainingTasks) {
    let ended = view.ended.run(task).map(|(end, on)| (end.ticks(), on));
    let runs = || {
        let run = view.running.iter().find(|run| run.task == task)?;
        Some((run.expected_end(view.instance, view.now).ticks(), &run.processors))
    };
    if let Some((end, processors)) = ended.or_else(runs) {
        begun.ends.entry(task).or_insert_with(|| (end, RemainingTasks::parts(packing, processors)));
    }
}

/// Returns the tasks that have not started, in topological order.
fn in_order(packing: &Packing<'_>, tied: &DependentPlan) -> Vec<TaskId> {
    let mut place = vec![0_u32; packing.rows().len()];
    (0..).zip(packing.order()).for_each(|(at, row)| place[row.index()] = at);
    let mut order: Vec<TaskId> = tied.pending.iter().copied().collect();
    order.sort_unstable_by_key(|&task| (place[packing.row_of(task).index()], task));
    order
}
