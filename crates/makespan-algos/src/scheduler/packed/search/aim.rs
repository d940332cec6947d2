//! What is minimised.

use makespan_core::{Instance, Job, Objective, Rows};

/// What one task beyond the limit counts, for each tick.
const BEYOND: f64 = 1e9;

/// What is minimised.
#[derive(Clone, Copy, Debug)]
pub(in crate::scheduler) struct Aim {
    pub objective: Objective,
    /// No schedule that is longer is wanted.
    pub limit: Option<i64>,
    /// A proven bound on the value, in the unit of the search: a search that reaches it ends.
    pub floor: f64,
}

/// A value, and more where a schedule ends beyond the limit.
pub(in crate::scheduler::packed) fn beyond(value: f64, limit: Option<i64>, last: i64) -> f64 {
    match limit {
        Some(limit) if last > limit => value + BEYOND * (last - limit) as f64 * (1.0 + value.abs() * 1e-6),
        _ => value,
    }
}

/// An objective of the ends of jobs; the sum of flows instead of their mean.
pub(in crate::scheduler::packed) fn of_ends(objective: Objective, instance: &Instance, ends: &[i64], last: i64) -> f64 {
    let each = || instance.jobs().iter().zip(ends);
    let late = |(job, &end): (&Job<Rows>, &i64)| {
        job.deadline.map_or(0.0, |deadline| end.saturating_sub(deadline.ticks()).max(0) as f64)
    };
    match objective {
        Objective::WeightedCompletion => each().map(|(job, &end)| job.weight.millionths() as f64 * end as f64).sum(),
        Objective::MeanFlow => each().map(|(job, &end)| (end - job.release.ticks()) as f64).sum(),
        Objective::MaxLateness => each().map(late).fold(0.0, f64::max),
        Objective::WeightedLateness => each().map(|(job, end)| job.weight.millionths() as f64 * late((job, end))).sum(),
        Objective::Makespan | Objective::Cost | Objective::Throughput => last as f64,
    }
}

/// An objective of ends that was worth `value` until the end of one job rose.
pub(super) fn raised(
    objective: Objective,
    instance: &Instance,
    value: f64,
    job: usize,
    old: i64,
    new: i64,
    last: i64,
) -> f64 {
    let job = &instance.jobs()[job];
    let late = |end: i64| job.deadline.map_or(0, |deadline| end.saturating_sub(deadline.ticks()).max(0)) as f64;
    match objective {
        Objective::WeightedCompletion => value + job.weight.millionths() as f64 * (new - old) as f64,
        Objective::MeanFlow => value + (new - old) as f64,
        Objective::MaxLateness => value.max(late(new)),
        Objective::WeightedLateness => value + job.weight.millionths() as f64 * (late(new) - late(old)),
        Objective::Makespan | Objective::Cost | Objective::Throughput => last as f64,
    }
}
