//! Sort keys that order tasks without a position in the current plan.

use makespan_core::{JobId, Objective, TaskId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::survey::Survey;
use crate::kernel::packing::{Packing, Row};
use crate::policy::improve::PlanSortKey;

/// The keys of all remaining tasks.
pub(super) struct Keys<'k> {
    given: &'k FxHashMap<TaskId, (u32, u32)>,
    /// The key of each row. A row is a task or the equal tasks of a bag.
    of_rows: FxHashMap<Row, PlanSortKey>,
}

impl<'k> Keys<'k> {
    pub fn of(
        packing: &Packing<'_>,
        survey: &Survey,
        objective: Objective,
        given: &'k FxHashMap<TaskId, (u32, u32)>,
    ) -> Self {
        let instance = packing.instance();
        let fastest = |row: Row| packing.choices_of(row).map(|choice| packing.fastest(choice)).min().unwrap_or(0);
        let least = |row: Row| packing.choices_of(row).map(|choice| packing.area(choice)).fold(f64::INFINITY, f64::min);
        let mut ranks: FxHashMap<Row, f64> = FxHashMap::default();
        let mut areas: FxHashMap<JobId, f64> = FxHashMap::default();
        for &row in survey.rows.iter().rev() {
            let behind = instance.outgoing(packing.first_of(row)).map(|edge| packing.row_of(edge.to));
            let behind = behind.filter_map(|next| ranks.get(&next)).copied().fold(0.0, f64::max);
            ranks.insert(row, fastest(row) as f64 + behind);
            *areas.entry(packing.job_of(row)).or_default() += least(row) * survey.count(row) as f64;
        }
        let figure = |row: Row| {
            let id = packing.job_of(row);
            let job = instance.job(id);
            match objective.of_jobs() {
                None => 0.0,
                Some(shape) if shape.is_tardiness() => job.deadline.map_or(f64::MAX, |due| due.ticks() as f64),
                Some(shape) if shape.is_weighted() => areas[&id] / job.weight.as_f64().max(1e-6),
                Some(_) => areas[&id],
            }
        };
        let of_rows = survey.rows.iter().map(|&row| (row, PlanSortKey(1, figure(row), -ranks[&row]))).collect();
        Self { given, of_rows }
    }

    pub fn of_task(&self, packing: &Packing<'_>, task: TaskId) -> PlanSortKey {
        match self.given.get(&task) {
            Some(&(place, _)) => PlanSortKey(0, f64::from(place), 0.0),
            None => self.of_rows.get(&packing.row_of(task)).copied().unwrap_or(PlanSortKey(2, 0.0, 0.0)),
        }
    }

    /// Returns up to `most` tasks, including the task that has waited longest. The other tasks are taken in the order
    /// of their keys. A task is skipped if one of its predecessors was not taken.
    pub fn chosen(&self, packing: &Packing<'_>, survey: &Survey, most: usize) -> FxHashSet<TaskId> {
        if survey.alive.len() <= most {
            return survey.alive.iter().copied().collect();
        }
        let instance = packing.instance();
        let mut order = survey.alive.clone();
        order.sort_by(|&a, &b| self.of_task(packing, a).cmp(&self.of_task(packing, b)).then(a.cmp(&b)));
        let free = |task: &TaskId| {
            let mut before = instance.incoming(*task).map(|edge| packing.row_of(edge.from));
            before.all(|row| survey.count(row) == 0)
        };
        let oldest = order.iter().copied().filter(free).min_by_key(|&task| (instance.release(task), task));
        let mut chosen: FxHashSet<TaskId> = oldest.into_iter().collect();
        let mut counts: FxHashMap<Row, u64> = FxHashMap::default();
        chosen.iter().for_each(|&task| *counts.entry(packing.row_of(task)).or_default() += 1);
        for task in order {
            let mut before = instance.incoming(task).map(|edge| packing.row_of(edge.from));
            let is_complete = |row: Row| counts.get(&row).copied().unwrap_or(0) == survey.count(row);
            if chosen.len() < most && before.all(is_complete) && chosen.insert(task) {
                *counts.entry(packing.row_of(task)).or_default() += 1;
            }
        }
        chosen
    }
}
