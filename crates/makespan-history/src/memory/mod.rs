//! Predicts the memory that a job needs from the peaks of earlier runs of like commands.
//!
//! A [`MemoryModel`] has two parts. The first part is the typical peak: the median of the peaks, or a robust line over
//! the size of the input files if the line predicts peaks better. The second part is a factor: the reservation divided
//! by the typical peak. The factor minimises the expected waste, which includes the waste of attempts that are killed
//! because the reservation was too small. It is at least the factor that 95 % of the runs needed, and at most a margin
//! above the factor that the largest run needed. Both parts are judged by runs that did not take part in the fit
//! (cross-validation).
//!
//! A run that was killed for lack of memory needed at least its peak or its reservation (a censored observation).
//!
//! The idea of choosing a reservation by its expected waste is from C. Witt, D. Wagner and U. Leser, "Feedback-based
//! resource allocation for batch scheduling of scientific workflows", HPCS 2019,
//! doi:10.1109/HPCS48598.2019.9188055.

mod advice;
mod fit;
mod predictor;
mod reservation;

pub use advice::{MEMORY_SHARE, MIN_JOBS, MemoryAdvice, MemoryUse, advise};
pub use predictor::{LearnedMemory, MemoryPredictor};

use fit::{FittedPeak, TypicalPeak, best};
use reservation::ReservationCosts;

/// Smallest prediction in bytes. The kernel counts smaller peaks only roughly.
const LEAST: f64 = (16_u64 << 20) as f64;
/// Predictions are multiples of this number of bytes.
const STEP: u64 = 1 << 20;
/// Largest prediction in bytes.
const MOST: u64 = (i64::MAX as u64) / STEP * STEP;

/// An observed run of a command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MemoryRun {
    /// Peak memory in bytes. For a run that was killed for lack of memory, the larger of its peak and its reservation.
    pub peak: u64,
    /// Size in bytes of the files among the arguments, if known.
    pub inputs: Option<u64>,
    /// True if the run was killed for lack of memory, so that it needed more than `peak`.
    pub is_killed: bool,
}

/// The kind of runs from which a model is learned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryBasis {
    /// Runs of one command with inputs of one size. Their peaks differ little.
    SameCommand,
    /// Runs of commands that do similar work with different arguments.
    LikeCommands,
}

impl MemoryBasis {
    /// Returns the assumed standard deviation of the logarithm of a single peak.
    const fn assumed_deviation(self) -> f64 {
        match self {
            Self::SameCommand => 0.05,
            Self::LikeCommands => 0.3,
        }
    }
}

/// The consequence for a run that uses more memory than its reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExcessRule {
    /// The run is killed, because its reservation is also its limit.
    Kill,
    /// The run continues while the machine has free memory, because other runs use less than their reservations.
    Tolerate,
}

/// The memory of like commands, learned from their runs.
///
/// ```
/// use makespan_history::memory::{ExcessRule, MemoryBasis, MemoryModel, MemoryRun};
///
/// let gib = |peak: f64| (peak * 1e9) as u64;
/// let run = |inputs: u64| MemoryRun { peak: gib(1.0 + inputs as f64 / 1e9), inputs: Some(inputs), is_killed: false };
/// let runs: Vec<MemoryRun> = (1..20).map(|size| run(size * 100_000_000)).collect();
/// let model = MemoryModel::of(&runs, MemoryBasis::LikeCommands, ExcessRule::Kill).unwrap();
/// let predicted = model.predict(Some(5_000_000_000));
/// assert!((gib(6.0)..gib(9.0)).contains(&predicted), "{predicted}");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryModel {
    typical: TypicalPeak,
    factor: f64,
    /// Number of runs from which the model is learned.
    pub runs: u32,
    /// Standard deviation of the peaks divided by the typical peaks; 0 for a single run.
    pub spread: f64,
}

impl MemoryModel {
    /// Learns from runs. Runs without a peak are ignored. Returns `None` if no run has a peak.
    pub fn of(runs: &[MemoryRun], basis: MemoryBasis, excess: ExcessRule) -> Option<Self> {
        let needs = fit::needs(runs);
        let costs = ReservationCosts { basis, excess };
        let FittedPeak { typical, factor, deviation: spread, .. } = best(&needs, costs)?;
        Some(Self { typical, factor, runs: u32::try_from(needs.len()).unwrap_or(u32::MAX), spread })
    }

    /// Returns the memory in bytes to reserve for a run with input files of this size.
    pub fn predict(&self, inputs: Option<u64>) -> u64 {
        let bytes = (self.typical.at(inputs.map(|bytes| bytes as f64)) * self.factor).max(LEAST);
        let steps = (bytes / STEP as f64).ceil() as u64;
        steps.saturating_mul(STEP).min(MOST)
    }
}

#[cfg(test)]
mod tests;
