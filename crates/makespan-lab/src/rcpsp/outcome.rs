//! The result of a run.

use makespan_core::Time;
use serde::{Deserialize, Serialize};

/// What was found for a project. Makespans and bounds are in ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its place among the projects of the campaign.
    pub at: u32,
    /// Its set.
    pub set: String,
    /// Its name.
    pub name: String,
    /// The longest path of activities in their shortest modes.
    pub critical_path: i128,
    /// In the order of the algorithms.
    pub outcomes: Vec<Outcome>,
}

/// What an algorithm did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// When the last activity ends; none where it found no modes that leave enough of what is used up.
    pub makespan: Option<i128>,
    /// The best verified bound; of `optimise` that which it found in its time, if that is better.
    pub bound: i128,
    /// Wall time from the project to the plan; for `optimise` with its bounds.
    pub seconds: f64,
}

impl Outcome {
    /// Whether the plan is proved to be optimal.
    pub fn is_optimal(&self) -> bool {
        self.makespan == Some(self.bound)
    }
}

/// A makespan of a table, in ticks: a unit of time is read as a second.
pub(super) fn ticks(makespan: i64) -> i128 {
    i128::from(makespan) * i128::from(Time::TICKS_PER_SECOND)
}
