//! Schedule JSON: what `plan` writes and `verify` reads.
//!
//! Every figure is an exact decimal. Reading keeps what the file states beside the schedule itself, so that a
//! statement that does not follow from the schedule is found by comparing integers.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use write::write_bounds;

use makespan_core::{Bound, Instance, Objective, Schedule};

/// A schedule with what its file states about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleFile {
    /// The spec of the algorithm.
    pub algorithm: String,
    /// The seed, where the algorithm has one.
    pub seed: Option<u64>,
    /// The stated makespan, in ticks.
    pub makespan: i128,
    /// The stated weighted completion, in millionths of a weight times ticks.
    pub weighted_completion: i128,
    /// The stated bounds, at most one an objective, unchecked: see [`Bound::verify`].
    pub bounds: Vec<Bound>,
    /// What the user should know.
    pub remarks: Vec<String>,
    /// The placements.
    pub schedule: Schedule,
}

impl ScheduleFile {
    /// A schedule with its true values, without seed, bounds and remarks.
    pub fn new(instance: &Instance, algorithm: impl Into<String>, schedule: Schedule) -> Self {
        Self {
            algorithm: algorithm.into(),
            seed: None,
            makespan: Objective::Makespan.value(instance, &schedule),
            weighted_completion: Objective::WeightedCompletion.value(instance, &schedule),
            bounds: Vec::new(),
            remarks: Vec::new(),
            schedule,
        }
    }

    /// The stated value of an objective, in its integer unit.
    pub fn stated(&self, objective: Objective) -> i128 {
        match objective {
            Objective::Makespan => self.makespan,
            Objective::WeightedCompletion => self.weighted_completion,
        }
    }

    /// The stated bound on an objective.
    pub fn bound(&self, objective: Objective) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.objective == objective)
    }
}
