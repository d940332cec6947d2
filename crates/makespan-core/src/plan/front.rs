//! Schedules to choose from.

use crate::model::{Instance, Time};
use crate::proof::Bound;
use crate::schedule::{Objective, Schedule, undominated};

/// Schedules of which none is at once shorter and of no more weighted completion than another, nor the reverse; where
/// best-effort bags were filled in afterwards, that was so before.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    points: Vec<FrontPoint>,
    chosen: usize,
}

/// A schedule of a front.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPoint {
    /// What runs where and when.
    pub schedule: Schedule,
    /// On weighted completion, among schedules of at most a makespan that this one keeps; without a condition, among
    /// all.
    pub bound: Option<Bound>,
}

impl Front {
    /// Of these points those that no other beats, by makespan. Chosen is the one whose makespan times weighted completion
    /// is least: nothing can be gained on one objective without losing a larger part of the other.
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

    /// The same points in the same order, each changed; the chosen one stays chosen.
    pub fn map(self, each: impl FnMut(FrontPoint) -> FrontPoint) -> Self {
        Self { points: self.points.into_iter().map(each).collect(), chosen: self.chosen }
    }

    /// The points that end by an instant; chosen is the one that would be of them alone.
    #[must_use]
    pub fn within(self, instance: &Instance, end: Time) -> Self {
        let keeps = |point: &FrontPoint| point.schedule.makespan() <= end;
        if self.points.iter().all(keeps) {
            return self;
        }
        Self::new(instance, self.points.into_iter().filter(keeps).collect())
    }

    /// The points, by makespan: their weighted completion falls.
    pub fn points(&self) -> &[FrontPoint] {
        &self.points
    }

    /// The position of the chosen point.
    pub fn chosen(&self) -> usize {
        self.chosen
    }

    /// The schedule of the chosen point; one without placements if there is no point.
    pub fn into_schedule(mut self) -> Schedule {
        if self.chosen < self.points.len() {
            self.points.swap_remove(self.chosen).schedule
        } else {
            Schedule::default()
        }
    }
}
