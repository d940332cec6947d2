//! How the times of a task are known.

/// How the times of a task are known. Its [`crate::Profile`] has numbers in any case.
///
/// What is guessed is planned like what is stated. A bound on an instance with guesses is a proof about these numbers only, so
/// whoever shows one says so ([`crate::Instance::condition`]).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Estimate {
    /// The user or the file states them.
    #[default]
    Stated,
    /// They are from earlier runs.
    Learned {
        /// How many runs.
        runs: u32,
        /// The standard deviation of their times over the mean; 0 of one run.
        spread: f64,
    },
    /// Nobody knows them: the numbers are a default, or those of other tasks.
    Guessed,
}

impl Estimate {
    /// Whether nobody knows the times.
    pub const fn is_guess(self) -> bool {
        matches!(self, Self::Guessed)
    }
}
