//! Schedule JSON: what `plan` writes and `verify` reads.
//!
//! Every figure is an exact decimal. Reading keeps what the file states beside the schedule itself, so that a
//! statement that does not follow from the schedule is found by comparing integers.

mod bound;
mod front;
mod placements;
mod read;
mod strategy;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use bound::rational;
pub use bound::{BoundEntry, read_bound, write_bound, write_bounds};
pub use front::FrontEntry;
pub use strategy::{StrategyEntry, VariantEntry};

use std::collections::BTreeMap;

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
    /// The values that the file states for other objectives, in the integer unit of each objective.
    pub others: BTreeMap<Objective, i128>,
    /// The stated bounds, at most one an objective, unchecked: see [`Bound::verify`]. Only that on the cost may speak of the
    /// schedules that end by some instant; see [`Bound::speaks_of`].
    pub bounds: Vec<Bound>,
    /// What the user should know.
    pub remarks: Vec<String>,
    /// The schedules to choose from, by makespan; empty where there is one only.
    pub front: Vec<FrontEntry>,
    /// The variants of a strategy, where the algorithm gives one.
    pub strategy: Option<StrategyEntry>,
    /// The placements.
    pub schedule: Schedule,
}

impl ScheduleFile {
    /// A schedule with its true standard values ([`Objective::standard`]), without mean flow, cost, seed, bounds and remarks.
    pub fn new(instance: &Instance, algorithm: impl Into<String>, schedule: Schedule) -> Self {
        let others = Objective::standard(instance).filter(|objective| !Objective::STANDARD.contains(objective));
        Self {
            algorithm: algorithm.into(),
            seed: None,
            makespan: Objective::Makespan.value(instance, &schedule),
            weighted_completion: Objective::WeightedCompletion.value(instance, &schedule),
            others: others.map(|objective| (objective, objective.value(instance, &schedule))).collect(),
            bounds: Vec::new(),
            remarks: Vec::new(),
            front: Vec::new(),
            strategy: None,
            schedule,
        }
    }

    /// The stated value of an objective, in its integer unit; the standard ones are always stated.
    pub fn stated(&self, objective: Objective) -> Option<i128> {
        match objective {
            Objective::Makespan => Some(self.makespan),
            Objective::WeightedCompletion => Some(self.weighted_completion),
            other => self.others.get(&other).copied(),
        }
    }

    /// Sets the bounds. If an objective has a bound but no stated value, calculates and adds the value.
    #[must_use]
    pub fn with_bounds(mut self, instance: &Instance, bounds: &[Bound]) -> Self {
        self.bounds = bounds.to_vec();
        for objective in Objective::OF_SCHEDULES {
            if self.stated(objective).is_none() && self.bound(objective).is_some() {
                self.others.insert(objective, objective.value(instance, &self.schedule));
            }
        }
        self
    }

    /// The stated bound on an objective.
    pub fn bound(&self, objective: Objective) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.objective == objective)
    }
}
