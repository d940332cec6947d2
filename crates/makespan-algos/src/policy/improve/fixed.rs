//! A task of the plan with a fixed start and fixed processors.

use makespan_core::{FreeTime, Reservation, Time};

use crate::free_time::Skyline;
use crate::kernel::choices::Choice;

/// A task with its slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed {
    pub number: u32,
    /// The index of its allotment.
    pub position: u32,
    pub start: Time,
    pub choice: Choice,
}

impl Fixed {
    /// Holds the slot in `skyline`, and returns the reservation.
    pub fn hold(&self, skyline: &mut Skyline) -> Reservation {
        let (start, Choice { processors, time }) = (self.start.ticks(), self.choice);
        skyline.hold(processors, start, start + time)
    }
}
