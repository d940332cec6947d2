//! The limit on the makespan.

use makespan_core::Time;

use crate::plan::{Context, ScheduleError, Scheduler};

/// A limit on the makespan. The limit is a multiple of a proven bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) struct Limit {
    pub(in crate::scheduler) at: Time,
    pub(in crate::scheduler) floor: Time,
}

impl Limit {
    /// Returns the limit: `factor` times the bound of the caller. If the caller has no bound, the limit is `factor`
    /// times `own`.
    pub(in crate::scheduler) fn new(factor: Option<f64>, own: Time, context: &Context) -> Option<Self> {
        factor.map(|factor| Self::times(factor, context.floor.unwrap_or(own)))
    }

    /// Returns the limit `factor` times the proven bound `floor`, rounded down to ticks.
    pub(in crate::scheduler) fn times(factor: f64, floor: Time) -> Self {
        let ticks = floor.ticks() as f64 * factor;
        // Round down, but not below the floor, because a factor of one must allow the floor.
        Self { at: Time::from_ticks((ticks as i64).max(floor.ticks())), floor }
    }

    /// Checks that `reached`, the end of a schedule, is within the limit.
    ///
    /// # Errors
    /// [`ScheduleError::NotFound`] if the schedule exceeds the limit.
    pub(in crate::scheduler) fn check(self, scheduler: &dyn Scheduler, reached: Time) -> Result<(), ScheduleError> {
        let Self { at: limit, floor } = self;
        if reached <= limit {
            return Ok(());
        }
        Err(ScheduleError::NotFound { scheduler: scheduler.name(), limit, floor, reached })
    }
}
