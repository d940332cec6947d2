//! The longest makespan allowed.

use makespan_core::{Context, ScheduleError, Scheduler, Time};

/// A limit on the makespan, and the proven bound that it is a multiple of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::scheduler) struct Limit {
    pub(in crate::scheduler) at: Time,
    pub(in crate::scheduler) floor: Time,
}

impl Limit {
    /// This many times the caller's bound, or this one where the caller has none.
    pub(in crate::scheduler) fn new(factor: Option<f64>, own: Time, context: &Context) -> Option<Self> {
        factor.map(|factor| Self::times(factor, context.floor.unwrap_or(own)))
    }

    /// A whole number of ticks at most `factor` times the floor.
    pub(in crate::scheduler) fn times(factor: f64, floor: Time) -> Self {
        let ticks = floor.ticks() as f64 * factor;
        // Rounded down, but never below the floor itself, which a factor of one allows.
        Self { at: Time::from_ticks((ticks as i64).max(floor.ticks())), floor }
    }

    /// Whether a schedule that ends here is within it.
    ///
    /// # Errors
    /// [`ScheduleError::NotFound`] where it is not.
    pub(in crate::scheduler) fn check(self, scheduler: &dyn Scheduler, reached: Time) -> Result<(), ScheduleError> {
        let Self { at: limit, floor } = self;
        if reached <= limit {
            return Ok(());
        }
        Err(ScheduleError::NotFound { scheduler: scheduler.name(), limit, floor, reached })
    }
}
