//! The start that new plans may not put off further.

use makespan_core::{FreeTime, Reservation, TaskId, Time, View};

use super::Keep;
use super::fixed::Fixed;
use super::kept::Kept;
use super::outlook::Outlook;

/// When the task that has waited longest starts at the latest, and on how many processors.
#[derive(Debug)]
pub(super) struct Promise {
    keep: Keep,
    given: Option<(TaskId, Time, u32)>,
}

impl Promise {
    pub fn new(keep: Keep) -> Self {
        Self { keep, given: None }
    }

    /// Where the task that has waited longest is to be, if these reservations have it later than it was promised and it can have
    /// its place earlier.
    pub fn broken(&self, kept: &Kept, reserved: &[Reservation], outlook: &Outlook) -> Option<Fixed> {
        let (task, start, width) = self.given?;
        let number = kept.number(task)?;
        let planned = kept.start_of(number, reserved)?;
        if planned <= start {
            return None;
        }
        let position = kept.choices.nearest(number, width);
        let choice = kept.choice(number, position);
        let earliest = outlook.skyline.earliest_fit(choice.processors, choice.time, start.ticks());
        let start = Time::from_ticks(earliest);
        (start < planned).then_some(Fixed { number, position, start, choice })
    }

    /// Promises the task that has waited longest that it waits at most twice as long as it is planned to now.
    pub fn renew(&mut self, kept: &Kept, reserved: &[Reservation], view: &View<'_>) {
        if self.keep == Keep::None {
            return;
        }
        let Some(oldest) = kept.oldest() else {
            self.given = None;
            return;
        };
        let Some(number) = kept.number(oldest) else { return };
        let Some(start) = kept.start_of(number, reserved) else { return };
        let latest = start + start.saturating_since(view.instance.release(oldest));
        if self.given.is_none_or(|(task, before, _)| task != oldest || latest < before) {
            self.given = Some((oldest, latest, kept.chosen(number).processors));
        }
    }
}
