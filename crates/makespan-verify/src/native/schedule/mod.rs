//! Reads and writes Schedule JSON, the file format that `plan` writes and `verify` reads.
//!
//! All values are exact decimals. A [`ScheduleFile`] stores the schedule and the values that the file states. The check
//! compares stated values with the schedule as integers, so rounding cannot hide a contradiction.

mod bound;
mod chains;
mod front;
mod placements;
mod read;
mod strategy;
#[cfg(test)]
mod tests;
mod write;

pub use bound::rational;
pub use bound::{BoundEntry, read_bound, write_bound, write_bounds};
pub use front::FrontEntry;
pub use strategy::{StrategyEntry, VariantEntry};

use std::collections::BTreeMap;

use crate::native::origin::PlanOrigin;
use crate::proof::Paths;
use crate::{Bound, Proof};
use makespan_core::{Instance, Objective, Schedule};

/// A schedule, with all other data in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleFile {
    /// Spec of the algorithm.
    pub algorithm: String,
    /// Seed of the algorithm, if it has one.
    pub seed: Option<u64>,
    /// Program, algorithm and instance, if the file states them.
    pub origin: Option<PlanOrigin>,
    /// Stated makespan, in ticks.
    pub makespan: i128,
    /// Stated weighted completion, in ticks times millionths of weight.
    pub weighted_completion: i128,
    /// Stated values of the objectives other than makespan and weighted completion, in the integer unit of each
    /// objective.
    pub others: BTreeMap<Objective, i128>,
    /// Stated bounds, at most one for each objective. Reading a file does not check their certificates
    /// ([`Bound::verify`] does). Only a bound on cost may be restricted to schedules that end by an instant (see
    /// [`Bound::speaks_of`]).
    pub bounds: Vec<Bound>,
    /// Remarks for the user.
    pub remarks: Vec<String>,
    /// Schedules of a Pareto front, in ascending order of makespan. Empty if the file contains no front.
    pub front: Vec<FrontEntry>,
    /// Variants of a strategy, if the algorithm returns a strategy.
    pub strategy: Option<StrategyEntry>,
    /// The schedule itself. If the file contains a front or a strategy, this is the chosen schedule.
    pub schedule: Schedule,
}

impl ScheduleFile {
    /// Returns the file for a schedule. The file contains the true values of the standard objectives
    /// ([`Objective::standard`]), and no mean flow, cost, seed, origin, bounds or remarks.
    pub fn new(instance: &Instance, algorithm: impl Into<String>, schedule: Schedule) -> Self {
        let others = Objective::standard(instance).filter(|objective| !Objective::STANDARD.contains(objective));
        Self {
            algorithm: algorithm.into(),
            seed: None,
            origin: None,
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

    /// Returns the stated value of an objective, in its integer unit. Makespan and weighted completion are always
    /// stated.
    pub fn stated(&self, objective: Objective) -> Option<i128> {
        match objective {
            Objective::Makespan => Some(self.makespan),
            Objective::WeightedCompletion => Some(self.weighted_completion),
            other => self.others.get(&other).copied(),
        }
    }

    /// Sets the bounds: for each objective, the best of `bounds` that may stand at the top level of a file. Adds a bound
    /// by [`Paths`] on each standard objective without a bound, because `verify` rejects a file without a bound on the
    /// makespan or on the weighted completion. If an objective has a bound but no stated value, computes and adds the
    /// value.
    #[must_use]
    pub fn with_bounds(mut self, instance: &Instance, bounds: &[Bound]) -> Self {
        let may_stand = |bound: &&Bound| match bound.makespan_at_most {
            None => true,
            Some(_) => bound.objective == Objective::Cost && bound.speaks_of(&self.schedule),
        };
        let best = |objective: Objective| {
            let on_it = bounds.iter().filter(|bound| bound.objective == objective).filter(may_stand);
            on_it.max_by(|one, other| one.value.cmp(&other.value)).cloned().or_else(|| {
                let paths = || Bound::proved_by(objective, Proof::Paths(Paths::default()), instance).ok();
                objective.is_standard(instance).then(paths).flatten()
            })
        };
        self.bounds = Objective::OF_SCHEDULES.into_iter().filter_map(best).collect();
        for bound in &self.bounds {
            if self.stated(bound.objective).is_none() {
                self.others.insert(bound.objective, bound.objective.value(instance, &self.schedule));
            }
        }
        self
    }

    /// Returns the stated bound on an objective.
    pub fn bound(&self, objective: Objective) -> Option<&Bound> {
        self.bounds.iter().find(|bound| bound.objective == objective)
    }
}
