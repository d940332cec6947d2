//! Queries for free processors over time.

/// The number of free processors over time. Every search for an earliest fit uses this trait.
/// [`Timeline`](crate::Timeline) is the general implementation. Other implementations are several times faster in
/// special cases.
pub trait FreeTime {
    /// An instant or a duration: [`Time`](crate::Time), or a number of ticks in searches that use flat arrays of
    /// numbers.
    type Instant: Copy + PartialEq;

    /// Reserved processors, with the data to release them.
    type Held;

    /// Returns the earliest instant at or after `after` at which a job can start that needs `width` processors for
    /// `duration`. The processors of the job do not change while it runs.
    ///
    /// # Panics
    /// Panics if this number of processors is never free for `duration`.
    fn earliest_fit(&self, width: u32, duration: Self::Instant, after: Self::Instant) -> Self::Instant;

    /// Returns true if `width` processors are free from `start` for `duration` without a change of processors.
    fn fits(&self, width: u32, start: Self::Instant, duration: Self::Instant) -> bool {
        self.earliest_fit(width, duration, start) == start
    }

    /// Reserves `width` processors from `start` to `end`. At least `width` processors must be free.
    fn hold(&mut self, width: u32, start: Self::Instant, end: Self::Instant) -> Self::Held;

    /// Releases reserved processors.
    fn release(&mut self, held: &Self::Held);
}
