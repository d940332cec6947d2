//! What a scheduler is, and what it returns: a plan, with the bounds that it proved on its way.

mod front;
mod scheduler;
mod stop;

pub use front::{Front, FrontPoint};
pub use scheduler::{Context, Guarantee, ScheduleError, Scheduler, Unsupported};
pub use stop::Stop;

use crate::schedule::{Schedule, Strategy};

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

impl Plan {
    /// Every schedule of the plan.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        let all: Vec<&Schedule> = match self {
            Self::Schedule(schedule) => vec![schedule],
            Self::Front(front) => front.points().iter().map(|point| &point.schedule).collect(),
            Self::Strategy(strategy) => strategy.variants().iter().map(|variant| &variant.schedule).collect(),
        };
        all.into_iter()
    }

    /// The schedule, for a plan that is one; the chosen one of a front or a strategy.
    pub fn into_schedule(self) -> Schedule {
        match self {
            Self::Schedule(schedule) => schedule,
            Self::Strategy(strategy) => strategy.into_schedule(),
            Self::Front(front) => front.into_schedule(),
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
