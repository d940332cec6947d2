//! What a scheduler is, and what it returns: a plan, with the bounds that it proved on its way.

mod front;
mod scheduler;
mod stop;

pub use front::{Front, FrontPoint};
pub use scheduler::{Context, Guarantee, ScheduleError, Scheduler, Unsupported};
pub use stop::Stop;

use crate::model::Instance;
use crate::proof::Value;
use crate::schedule::{Objective, Schedule, Strategy};
use crate::tree::SteadyState;

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
    /// Rates at which bags of tasks are computed on a tree, with a period of whole tasks; it has no placements.
    Periodic(Box<SteadyState>),
}

impl Plan {
    /// Every schedule of the plan; none of a steady state.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let all: Vec<&Schedule> = match self {
            Self::Schedule(schedule) => vec![schedule],
            Self::Front(front) => front.points().iter().map(|point| &point.schedule).collect(),
            Self::Strategy(strategy) => strategy.variants().iter().map(|variant| &variant.schedule).collect(),
            Self::Periodic(_) => Vec::new(),
        };
        all.into_iter()
    }

    /// The schedule, for a plan that is one; the chosen one of a front or a strategy; `None` of a steady state, and of a front
    /// without points.
    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Front(front) => front.points().get(front.chosen()).map(|point| &point.schedule),
            Self::Strategy(strategy) => strategy.variants().get(strategy.chosen()).map(|variant| &variant.schedule),
            Self::Periodic(_) => None,
        }
    }

    /// The same schedule, owned.
    pub fn into_schedule(self) -> Option<Schedule> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Strategy(strategy) => Some(strategy.into_schedule()),
            Self::Front(front) => Some(front.into_schedule()),
            Self::Periodic(_) => None,
        }
    }

    /// The value of an objective: of a steady state its throughput, of the schedule all others; `None` of what it does not have.
    pub fn value(&self, objective: Objective, instance: &Instance) -> Option<Value> {
        match (self, objective) {
            (Self::Periodic(state), Objective::Throughput) => Some(state.throughput.clone().into()),
            (_, Objective::Throughput) => None,
            (plan, objective) => plan.schedule().map(|schedule| objective.value(instance, schedule).into()),
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

impl From<SteadyState> for Plan {
    fn from(state: SteadyState) -> Self {
        Self::Periodic(Box::new(state))
    }
}
