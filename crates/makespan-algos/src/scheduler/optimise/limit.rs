//! The limit on the makespan.

use makespan_core::Time;

use crate::plan::{Context, ScheduleError, Scheduler};

/// A limit on the makespan, and the proven bound of which it is a multiple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) struct Limit {
    pub(in crate::scheduler) at: Time,
    pub(in crate::scheduler) floor: Time,
}

impl Limit {
    /// Returns `factor` times the caller's bound, or `factor` times `own` if the caller has none.
    pub(in crate::scheduler) fn new(factor: Option<f64>, own: Time, context: &Context) -> Option<Self> {
        factor.map(|factor| Self::times(factor, context.floor.unwrap_or(own)))
    }

    /// Returns a limit of a whole number of ticks, at most `factor` times the floor.
    pub(in crate::scheduler) fn times(factor: f64, floor: Time) -> Self {
        let ticks = floor.ticks() as f64 * factor;
        // Round down, but not below the floor, because a factor of one allows exactly the floor.
        Self { at: Time::from_ticks((ticks as i64).max(floor.ticks())), floor }
    }

    /// Checks that a schedule that ends at `reached` keeps the limit.
    ///
    /// # Errors
    /// [`ScheduleError::NotFound`] if it does not.
    pub(in crate::scheduler) fn check(self, scheduler: &dyn Scheduler, reached: Time) -> Result<(), ScheduleError> {
        let Self { at: limit, floor } = self;
        if reached <= limit {
            return Ok(());
        }
        Err(ScheduleError::NotFound { scheduler: scheduler.name(), limit, floor, reached })
    }
}
