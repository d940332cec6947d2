//! What a scheduler returns.

use crate::Schedule;

/// The outcome of planning.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Plan {
    /// Every job placed once.
    Schedule(Schedule),
}

impl Plan {
    /// The schedule, for a plan that is one.
    pub fn into_schedule(self) -> Schedule {
        match self {
            Self::Schedule(schedule) => schedule,
        }
    }
}

impl From<Schedule> for Plan {
    fn from(schedule: Schedule) -> Self {
        Self::Schedule(schedule)
    }
}
