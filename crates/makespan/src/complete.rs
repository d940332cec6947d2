//! Complete search for the optimum, after a plan and its bounds have been found.

use makespan_bounds::Clock;
use makespan_bounds::complete::{self, CompleteWork};
use makespan_core::{Instance, Objective, Schedule};
use makespan_verify::Bound;

/// The share of a planner's time limit that is kept for complete search.
pub(crate) const SHARE: f64 = 0.35;
/// The share of the remaining work for an objective, if other objectives follow.
const PART: f64 = 0.7;
/// Maximum number of conflicts for all objectives together, without a time limit: at most `MAX_CONFLICTS`, and this
/// number divided by the number of tasks. A conflict takes longer if there are more tasks.
const CONFLICTS_TIMES_TASKS: u64 = 60_000;
const MAX_CONFLICTS: u64 = 10_000;

/// The work for all objectives together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort<'a> {
    pub(crate) clock: &'a Clock,
    /// True if the clock expires. Otherwise, the number of conflicts is limited, so that the result does not depend on
    /// the speed of the machine.
    pub(crate) is_timed: bool,
}

/// Searches completely for each objective whose bound is below the value of the schedule, and replaces bounds by better
/// ones. The objective `goal` comes first: if a better schedule for this objective is found, it replaces the schedule.
pub(crate) fn improve(
    instance: &Instance,
    goal: Option<Objective>,
    schedule: &mut Schedule,
    bounds: &mut [Bound],
    effort: Effort,
) {
    if !complete::is_meant(instance) {
        return;
    }
    let mut order: Vec<usize> = (0..bounds.len()).filter(|&at| bounds[at].makespan_at_most.is_none()).collect();
    order.sort_by_key(|&at| Some(bounds[at].objective) != goal);
    let mut conflicts = (CONFLICTS_TIMES_TASKS / instance.tasks()).min(MAX_CONFLICTS);
    for (place, &at) in order.iter().enumerate() {
        let objective = bounds[at].objective;
        if bounds[at].value >= objective.value(instance, schedule).into() || effort.clock.is_over() {
            continue;
        }
        let share = if place + 1 < order.len() { PART } else { 1.0 };
        let part = (conflicts as f64 * share) as u64;
        conflicts -= part;
        let clock = effort.clock.part(share);
        let work = CompleteWork { clock: &clock, conflicts: if effort.is_timed { u64::MAX } else { part } };
        let completed = complete::search(instance, objective, schedule, Some(&bounds[at]), work);
        if let Some(better) = completed.bound.filter(|better| better.value > bounds[at].value) {
            bounds[at] = better;
            makespan_bounds::by_last_job(instance, bounds);
        }
        if let Some(better) = completed.schedule.filter(|_| goal == Some(objective)) {
            *schedule = better;
        }
    }
}
