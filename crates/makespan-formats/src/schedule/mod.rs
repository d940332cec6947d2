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
    /// The mean flow, in thousandths of a tick, where it is stated.
    pub mean_flow: Option<i128>,
    /// The cost, in thousandths, where it is stated.
    pub cost: Option<i128>,
    /// The largest lateness, in ticks, where it is stated.
    pub max_lateness: Option<i128>,
    /// The weighted lateness, in millionths of a weight times ticks, where it is stated.
    pub weighted_lateness: Option<i128>,
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
        let late = |objective: Objective| instance.has_deadlines().then(|| objective.value(instance, &schedule));
        let [max_lateness, weighted_lateness] = Objective::OF_DEADLINES.map(late);
        Self {
            algorithm: algorithm.into(),
            seed: None,
            makespan: Objective::Makespan.value(instance, &schedule),
            weighted_completion: Objective::WeightedCompletion.value(instance, &schedule),
            mean_flow: None,
            cost: None,
            max_lateness,
            weighted_lateness,
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
            Objective::MeanFlow => self.mean_flow,
            Objective::Cost => self.cost,
            Objective::MaxLateness => self.max_lateness,
            Objective::WeightedLateness => self.weighted_lateness,
            Objective::Throughput => None,
        }
    }

    /// The stated bound on an objective.
    pub fn bound(&self, objective: Objective) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.objective == objective)
    }
}
