//! Schedulers and their plans, including the bounds that they prove.

mod front;
mod incumbent;
mod scheduler;

pub use front::{Front, FrontPoint};
pub use incumbent::{Incumbent, IncumbentState};
pub use scheduler::{Context, ForHardDeadlines, Guarantee, ScheduleError, Scheduler};

use makespan_core::tree::SteadyState;
use makespan_core::{Instance, Objective, Schedule, Strategy};
use makespan_verify::Value;

/// The result of a scheduler.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Plan {
    /// One schedule, which contains every job once.
    Schedule(Schedule),
    /// Several schedules that differ in makespan and weighted completion, from which a user can choose.
    Front(Front),
    /// Several schedules of compound jobs that differ in finish, cost and utilisation, from which a user can choose.
    Strategy(Strategy),
    /// A steady state: the rates at which bags of tasks are computed on a tree, and a period in which the numbers of
    /// tasks are whole. The plan has no placements.
    Periodic(Box<SteadyState>),
}

impl Plan {
    /// Returns every schedule of the plan. A steady state has no schedules.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let all: Vec<&Schedule> = match self {
            Self::Schedule(schedule) => vec![schedule],
            Self::Front(front) => front.points().iter().map(|point| &point.schedule).collect(),
            Self::Strategy(strategy) => strategy.variants().iter().map(|variant| &variant.schedule).collect(),
            Self::Periodic(_) => Vec::new(),
        };
        all.into_iter()
    }

    /// Returns the only schedule of the plan, or the chosen schedule of a front or strategy. Returns `None` for a
    /// steady state, and for a front without points.
    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Front(front) => front.points().get(front.chosen()).map(|point| &point.schedule),
            Self::Strategy(strategy) => strategy.variants().get(strategy.chosen()).map(|variant| &variant.schedule),
            Self::Periodic(_) => None,
        }
    }

    /// Like [`Plan::schedule`], but converts the plan into the schedule.
    pub fn into_schedule(self) -> Option<Schedule> {
        match self {
            Self::Schedule(schedule) => Some(schedule),
            Self::Strategy(strategy) => Some(strategy.into_schedule()),
            Self::Front(front) => Some(front.into_schedule()),
            Self::Periodic(_) => None,
        }
    }

    /// Returns the value of an objective. A steady state has only a throughput. Schedules have every objective except
    /// the throughput. Returns `None` in all other cases.
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
