//! What a scheduler returns.

use crate::{Bound, Instance, Objective, Schedule, Strategy};

/// The outcome of planning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Plan {
    /// Every job placed once.
    Schedule(Schedule),
    /// Several schedules to choose from, by makespan and weighted completion.
    Front(Front),
    /// Several schedules of compound jobs to choose from, by finish, cost and utilisation.
    Strategy(Strategy),
}

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
    pub fn new(instance: &Instance, mut points: Vec<FrontPoint>) -> Self {
        let figures = |point: &FrontPoint| {
            let value = |objective: Objective| objective.value(instance, &point.schedule);
            (value(Objective::Makespan), value(Objective::WeightedCompletion))
        };
        points.sort_by_cached_key(figures);
        let mut least = i128::MAX;
        points.retain(|point| {
            let weighted = figures(point).1;
            let kept = weighted < least;
            least = least.min(weighted);
            kept
        });
        let product = |point: &FrontPoint| {
            let (makespan, weighted) = figures(point);
            makespan as f64 * weighted as f64
        };
        let chosen = (0..points.len()).min_by(|&a, &b| product(&points[a]).total_cmp(&product(&points[b])));
        Self { chosen: chosen.unwrap_or(0), points }
    }

    /// The same points in the same order, each changed; the chosen one stays chosen.
    pub fn map(self, each: impl FnMut(FrontPoint) -> FrontPoint) -> Self {
        Self { points: self.points.into_iter().map(each).collect(), chosen: self.chosen }
    }

    /// The points, by makespan: their weighted completion falls.
    pub fn points(&self) -> &[FrontPoint] {
        &self.points
    }

    /// The position of the chosen point.
    pub fn chosen(&self) -> usize {
        self.chosen
    }
}

impl Plan {
    /// Every schedule of the plan.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let all: Vec<&Schedule> = match self {
            Self::Schedule(schedule) => vec![schedule],
            Self::Front(front) => front.points.iter().map(|point| &point.schedule).collect(),
            Self::Strategy(strategy) => strategy.variants().iter().map(|variant| &variant.schedule).collect(),
        };
        all.into_iter()
    }

    /// The schedule, for a plan that is one; the chosen one of a front or a strategy.
    pub fn into_schedule(self) -> Schedule {
        match self {
            Self::Schedule(schedule) => schedule,
            Self::Strategy(strategy) => strategy.into_schedule(),
            Self::Front(mut front) => {
                let chosen = front.chosen;
                if chosen < front.points.len() {
                    front.points.swap_remove(chosen).schedule
                } else {
                    Schedule::default()
                }
            }
        }
    }
}

impl From<Schedule> for Plan {
    fn from(schedule: Schedule) -> Self {
        Self::Schedule(schedule)
    }
}

impl From<Front> for Plan {
    fn from(front: Front) -> Self {
        Self::Front(front)
    }
}

impl From<Strategy> for Plan {
    fn from(strategy: Strategy) -> Self {
        Self::Strategy(strategy)
    }
}
