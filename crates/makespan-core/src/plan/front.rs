//! Fronts: schedules to choose from.

use crate::model::{Instance, Time};
use crate::proof::Bound;
use crate::schedule::{Objective, Schedule, undominated};

/// Schedules of which none dominates another in makespan and weighted completion. If best-effort bags were added
/// afterwards, this holds for the schedules without these bags.
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
    /// A bound on weighted completion, among all schedules that meet a condition on the makespan that this schedule
    /// also meets. Without a condition, among all schedules.
    pub bound: Option<Bound>,
}

impl Front {
    /// Creates a front of the points that no other point dominates, sorted by makespan. The chosen point minimises the
    /// product of makespan and weighted completion: any improvement of one objective loses a larger factor of the
    /// other.
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

    /// Changes each point. The order and the chosen point remain.
    pub fn map(self, each: impl FnMut(FrontPoint) -> FrontPoint) -> Self {
        Self { points: self.points.into_iter().map(each).collect(), chosen: self.chosen }
    }

    /// Returns the front of the points that end by `end`. The chosen point is chosen among them.
    #[must_use]
    pub fn within(self, instance: &Instance, end: Time) -> Self {
        let keeps = |point: &FrontPoint| point.schedule.makespan() <= end;
        if self.points.iter().all(keeps) {
            return self;
        }
        Self::new(instance, self.points.into_iter().filter(keeps).collect())
    }

    /// Returns the points, by ascending makespan and descending weighted completion.
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
