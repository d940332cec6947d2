//! When are so many processors free for so long?

/// Processors that are free over time, by number: an earliest fit is asked of this and of nothing else.
///
/// [`Timeline`](crate::Timeline) is what schedules are built on. Others answer the same several times faster for a
/// narrower use.
pub trait FreeTime {
    /// An instant or a duration: [`Time`](crate::Time), or ticks for searches that keep all numbers in flat arrays.
    type Instant: Copy + PartialEq;

    /// Processors that are held, with all that is needed to give them back.
    type Held;

    /// The first instant, not before `after`, from which `width` processors are free for `duration`, the same ones
    /// throughout.
    ///
    /// # Panics
    /// When so many are never free for so long.
    fn earliest_fit(&self, width: u32, duration: Self::Instant, after: Self::Instant) -> Self::Instant;

    /// Whether `width` processors are free from `start` for `duration`, the same ones throughout.
    fn fits(&self, width: u32, start: Self::Instant, duration: Self::Instant) -> bool {
        self.earliest_fit(width, duration, start) == start
    }

    /// Holds `width` processors from `start` to `end`, where they have to be free.
    fn hold(&mut self, width: u32, start: Self::Instant, end: Self::Instant) -> Self::Held;

    /// Gives back what was held.
    fn release(&mut self, held: &Self::Held);
}
