//! The front of makespan and weighted completion.

use makespan_core::{Objective, Time};

use super::search::{OptimiseRun, SearchResult, SearchTask};
use crate::plan::FrontPoint;

/// Number of limits on the makespan between the shortest schedule and the schedule with the least weighted completion.
const BETWEEN: i128 = 4;
/// The fraction of the time for the schedule with the least makespan, one end of the front.
const SHORTEST: f64 = 0.15;
/// The fraction of the time for the schedule with the least weighted completion, the other end of the front.
const LIGHTEST: f64 = 0.2;

/// Searches for the two ends of the front. Then searches for the least weighted completion under limits on the
/// makespan between the ends. Each point of the front has a proof.
pub(super) fn front(search: &OptimiseRun<'_>, limit: Option<Time>) -> Vec<FrontPoint> {
    let task = |objective, limit, begin, end| SearchTask { objective, limit, begin, end };
    let shortest = search.minimise(task(Objective::Makespan, None, 0.0, SHORTEST), &[]).schedule;
    let ends = SHORTEST + LIGHTEST;
    let lightest =
        search.minimise(task(Objective::WeightedCompletion, limit, SHORTEST, ends), std::slice::from_ref(&shortest));
    let (least, most) = (shortest.makespan(), lightest.schedule.makespan());
    let limits = limits(least, most);
    let mut known = vec![shortest, lightest.schedule.clone()];
    if limits.is_empty() {
        // There is no limit between the two ends, and possibly no schedule within `limit` has been found. Use the
        // remaining time for another search under `limit`.
        let again = search.minimise(task(Objective::WeightedCompletion, limit, ends, 1.0), &known);
        return vec![again.into(), lightest.into()];
    }
    let mut points = Vec::with_capacity(limits.len() + 1);
    let share = (1.0 - ends) / limits.len() as f64;
    for (index, &limit) in limits.iter().enumerate() {
        let begin = ends + share * index as f64;
        let found = search.minimise(task(Objective::WeightedCompletion, Some(limit), begin, begin + share), &known);
        known.push(found.schedule.clone());
        points.push(found.into());
    }
    points.push(lightest.into());
    points
}

impl From<SearchResult> for FrontPoint {
    fn from(found: SearchResult) -> Self {
        Self { schedule: found.schedule, bound: found.bound }
    }
}

/// Returns limits on the makespan: the least makespan, and evenly spaced limits between the least and the greatest
/// makespan. The limits are rounded down to ticks. The number of limits does not depend on the scale of the times, so
/// if all times are multiplied by a factor, all plans are multiplied by this factor.
pub(super) fn limits(least: Time, most: Time) -> Vec<Time> {
    let span = i128::from(most.saturating_since(least).ticks());
    let steps = if span > 0 { BETWEEN } else { 0 };
    (0..steps).map(|step| least + Time::from_ticks((span * step / BETWEEN) as i64)).collect()
}
