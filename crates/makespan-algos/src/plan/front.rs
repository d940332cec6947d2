//! Fronts: several schedules, from which a user can choose.

use makespan_core::{Instance, Objective, Schedule, Time, undominated};
use makespan_verify::Bound;

/// Several schedules, of which none dominates another in makespan and weighted completion. The comparison ignores
/// best-effort bags that were added to the schedules later.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    points: Vec<FrontPoint>,
    chosen: usize,
}

/// A schedule of a front.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPoint {
    /// The schedule.
    pub schedule: Schedule,
    /// A lower bound on the weighted completion. A bound without a condition on the makespan is valid for all
    /// schedules. A bound with a condition is valid for all schedules that meet the condition, which include this
    /// schedule.
    pub bound: Option<Bound>,
}

impl Front {
    /// Creates a front of the points that no other point dominates, sorted by makespan. The chosen point minimises the
    /// product of makespan and weighted completion. So if another point is better in one objective by some factor, it
    /// is worse in the other objective by at least this factor.
    pub fn new(instance: &Instance, points: Vec<FrontPoint>) -> Self {
        let figures = |point: &FrontPoint| {
            [Objective::Makespan, Objective::WeightedCompletion].map(|each| each.value(instance, &point.schedule))
        };
        let points = undominated(points, figures);
        let product = |point: &FrontPoint| {
            let [makespan, weighted] = figures(point);
            makespan as f64 * weighted as f64
        };
        let chosen = (0..points.len()).min_by(|&a, &b| product(&points[a]).total_cmp(&product(&points[b])));
        Self { chosen: chosen.unwrap_or(0), points }
    }

    /// Replaces each point by `each(point)`. The order of the points and the position of the chosen point stay
    /// unchanged.
    pub fn map(self, each: impl FnMut(FrontPoint) -> FrontPoint) -> Self {
        Self { points: self.points.into_iter().map(each).collect(), chosen: self.chosen }
    }

    /// Returns the front of the points with a makespan of at most `end`. A new point is chosen among the points that
    /// remain.
    #[must_use]
    pub fn within(self, instance: &Instance, end: Time) -> Self {
        let keeps = |point: &FrontPoint| point.schedule.makespan() <= end;
        if self.points.iter().all(keeps) {
            return self;
        }
        Self::new(instance, self.points.into_iter().filter(keeps).collect())
    }

    /// Returns the points, sorted by ascending makespan and so by descending weighted completion.
    pub fn points(&self) -> &[FrontPoint] {
        &self.points
    }

    /// Returns the position of the chosen point.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// Returns the schedule of the chosen point, or an empty schedule if there is no point.
    pub fn into_schedule(mut self) -> Schedule {
        if self.chosen < self.points.len() {
            self.points.swap_remove(self.chosen).schedule
        } else {
            Schedule::default()
        }
    }
}
