//! The source of a task's times, or of its memory.

/// The source of a task's times, or of the amount of memory that the task needs. The [`crate::Profile`] of the task
/// contains times in any case, even if the true times are unknown.
///
/// Schedulers treat guessed times like stated times. A bound on an instance with guesses is proved only under the
/// condition that the guesses are right. Output that shows this bound must add [`crate::Instance::condition`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Estimate {
    /// The times or the amount are stated by the user or in the file.
    #[default]
    Stated,
    /// The times or the amount are learned from earlier runs.
    Learned {
        /// Number of earlier runs from which the times or the amount are learned.
        runs: u32,
        /// Standard deviation of the run times, or of the peaks of memory, divided by their mean; 0 for a single run.
        spread: f64,
    },
    /// The times are unknown: the profile contains default times or the times of other tasks. If the memory is
    /// guessed, the amount is a default.
    Guessed,
}

impl Estimate {
    /// Returns true if the times or the amount are guessed.
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::Guessed)
    }
}
