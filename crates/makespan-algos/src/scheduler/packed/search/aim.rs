//! The aim of a search: the objective that it minimises, and its limits.

use makespan_core::{Instance, Job, Objective, Rows};

/// Penalty for each tick by which a schedule ends after the limit.
const BEYOND: f64 = 1e9;

/// The objective that is minimised, a limit, and a bound.
#[derive(Clone, Copy, Debug)]
pub(in crate::scheduler) struct SearchAim {
    pub objective: Objective,
    /// Maximum end of a schedule.
    pub limit: Option<i64>,
    /// A proven bound on the value, in the unit of the search. A search that reaches the bound ends.
    pub floor: f64,
}

/// If a schedule ends after the limit, returns the value plus a penalty. Otherwise, returns the value.
pub(in crate::scheduler::packed) fn beyond(value: f64, limit: Option<i64>, last: i64) -> f64 {
    match limit {
        Some(limit) if last > limit => value + BEYOND * (last - limit) as f64 * (1.0 + value.abs() * 1e-6),
        _ => value,
    }
}

/// Returns the value of the objective for the ends `ends` of jobs. For the mean flow, returns the sum of all flow
/// times.
pub(in crate::scheduler::packed) fn of_ends(objective: Objective, instance: &Instance, ends: &[i64], last: i64) -> f64 {
    let Some(shape) = objective.of_jobs() else { return last as f64 };
    let costs = instance.jobs().iter().zip(ends).map(|(job, &end)| shape.cost(job).of(end));
    if shape.is_sum { costs.sum() } else { costs.fold(0.0, f64::max) }
}

impl SearchAim {
    /// Returns the value of the objective after the end of one job has increased from `old` to `new`. `value` is the
    /// value before this increase, and `last` is the latest end of all jobs.
    #[inline]
    pub(super) fn raised(&self, job: &Job<Rows>, value: f64, [old, new]: [i64; 2], last: i64) -> f64 {
        let Some(shape) = self.objective.of_jobs() else { return last as f64 };
        let cost = shape.cost(job);
        if shape.is_sum { value + (cost.of(new) - cost.of(old)) } else { value.max(cost.of(new)) }
    }
}
