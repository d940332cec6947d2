//! Attempts the paper's construction on one instance, with many guesses of the makespan.

use makespan_algos::kernel::hierarchical::{Cluster, ConstructionPart, Partition, PlacedTask, build, partition};
use makespan_bounds::dual;
use makespan_core::{Instance, Objective, Placement, Profile, Schedule, TaskId, Time};
use makespan_verify::{Bound, Proof};
use serde::{Deserialize, Serialize};

use super::HierarchicalKey;
use crate::LabError;
use crate::campaign::{failed, valid, verified};

/// Counts of attempted guesses, by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Guesses {
    /// Number of attempted guesses.
    pub attempted: u64,
    /// Number of accepted guesses that met the guarantee. This means that the schedule takes at most 2 - 2/k times the
    /// guess (3/2 times for k = 2), and that the construction placed every job in one of its parts.
    pub met: u64,
    /// Number of accepted guesses that did not meet the guarantee. This means that the schedule is too long, or that
    /// the construction placed some job in none of its parts.
    pub missed: u64,
    /// Number of refuted guesses with a verified certificate.
    pub refuted: u64,
    /// Number of guesses that were neither accepted nor refuted. This happens if the table of the knapsack would be too
    /// large, and dual prices do not lead to a decision either.
    pub undecided: u64,
    /// For accepted guesses, the maximum of the length of the schedule divided by the guess.
    pub longest: f64,
}

impl Guesses {
    /// Combines the counts of two sets of guesses.
    pub(super) fn and(self, other: &Self) -> Self {
        Self {
            attempted: self.attempted + other.attempted,
            met: self.met + other.met,
            missed: self.missed + other.missed,
            refuted: self.refuted + other.refuted,
            undecided: self.undecided + other.undecided,
            longest: self.longest.max(other.longest),
        }
    }
}

/// Attempts twenty guesses from 0.9 to 1.85 times the bound. Also attempts the smallest guess that the dual search does
/// not refute, and the guess one tick below this smallest guess.
pub(super) fn attempt(instance: &Instance, key: HierarchicalKey, bound: &Bound) -> Result<Guesses, LabError> {
    let profiles: Vec<&Profile> = instance.simple_jobs().map(|job| job.profile()).collect();
    let least = dual::search(profiles.iter().copied(), instance.processors()).guess;
    let around = (18..38).map(|twentieths| bound.value.integer() * twentieths / 20);
    let around = around.map(|ticks| Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX)));
    let mut guesses = Guesses::default();
    for guess in around.chain([least, least - Time::TICK]).filter(|&guess| guess > Time::ZERO) {
        guesses = guesses.and(&one(instance, &profiles, key, guess)?);
    }
    Ok(guesses)
}

/// Attempts one guess. Returns an error if the schedule is invalid, or if the certificate of a refutation proves
/// nothing.
fn one(instance: &Instance, profiles: &[&Profile], key: HierarchicalKey, guess: Time) -> Result<Guesses, LabError> {
    let cluster = Cluster { nodes: key.nodes, each: key.each };
    let attempted = Guesses { attempted: 1, ..Guesses::default() };
    let first_shelf = match partition(profiles, cluster, guess) {
        Partition::Refuted(rejection) => {
            let bound = Bound::proved_by(Objective::Makespan, Proof::Rejection(rejection), instance);
            let bound = bound.map_err(|error| failed("shelves", key, format!("guess {guess}: {error}")))?;
            verified(&bound, instance, key)?;
            return Ok(Guesses { refuted: 1, ..attempted });
        }
        Partition::Undecided(_) => return Ok(Guesses { undecided: 1, ..attempted }),
        Partition::Chosen(first_shelf) => first_shelf,
    };
    let placed = build(profiles, cluster, &first_shelf, guess);
    let schedule = Schedule::new(placed.iter().map(placement).collect());
    valid(instance, &schedule).map_err(|reason| failed("shelves", key, format!("guess {guess}: {reason}")))?;
    let length = schedule.makespan();
    let met = length <= cluster.height(guess) && placed.iter().all(|placed| placed.part != ConstructionPart::Left);
    let longest = length.ticks() as f64 / guess.ticks() as f64;
    Ok(Guesses { met: u64::from(met), missed: u64::from(!met), longest, ..attempted })
}

/// Converts a placed task to a placement of a schedule.
pub(super) fn placement(placed: &PlacedTask) -> Placement {
    Placement {
        task: TaskId::at(placed.task),
        start: placed.start,
        end: placed.end,
        processors: placed.processors.clone(),
    }
}
