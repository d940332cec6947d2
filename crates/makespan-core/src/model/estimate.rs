//! The source of a task's times.

/// The source of a task's times. The [`crate::Profile`] of the task contains times in any case, even if the true times
/// are unknown.
///
/// Schedulers treat guessed times like stated times. A bound on an instance with guesses is proved only under the
/// condition that the guesses are right. Output that shows this bound must add [`crate::Instance::condition`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Estimate {
    /// The times are stated by the user or in the file.
    #[default]
    Stated,
    /// The times are learned from earlier runs.
    Learned {
        /// Number of earlier runs from which the times are learned.
        runs: u32,
        /// Standard deviation of the run times divided by their mean; 0 for a single run.
        spread: f64,
    },
    /// The times are unknown: the profile contains default times or the times of other tasks.
    Guessed,
}

impl Estimate {
    /// Returns true if the times are guessed.
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::Guessed)
    }
}
