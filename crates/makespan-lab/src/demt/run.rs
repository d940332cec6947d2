//! One run: an instance, its bounds, and the values of every algorithm.

use std::time::Instant;

use makespan_core::{Bound, Instance, Objective, validate};
use serde::{Deserialize, Serialize};

use super::{Options, Solve};
use crate::LabError;
use crate::generate::{Family, MoldableOptions, generate};

/// Which run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Family of the instance.
    pub family: Family,
    /// How many jobs it has.
    pub jobs: usize,
    /// Which repetition, from 0.
    pub run: u32,
}

/// What one instance gave. Values are in the integer units of their objectives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which run.
    pub key: Key,
    /// Seed that draws the instance again.
    pub instance_seed: u64,
    /// Proven lower bound on the makespan.
    pub makespan_bound: i128,
    /// Proven lower bound on weighted completion.
    pub minsum_bound: i128,
    /// Value of the paper's linear programme as printed: an estimate, not a bound.
    pub minsum_printed: i128,
    /// One an algorithm, in the order of the options.
    pub outcomes: Vec<Outcome>,
}

/// What one algorithm made of the instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// Makespan.
    pub makespan: i128,
    /// Weighted completion.
    pub minsum: i128,
    /// Seconds that scheduling took.
    pub seconds: f64,
}

/// The seed of an instance: all parts of the key stirred into the seed of the campaign, so that neighbouring points
/// share no instance.
fn instance_seed(seed: u64, key: Key) -> u64 {
    [key.family as u64, key.jobs as u64, u64::from(key.run)].into_iter().fold(seed, |state, part| {
        // The finaliser of SplitMix64 (Steele, Lea and Flood 2014).
        let mut mixed = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(part).wrapping_add(1);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}

/// Draws the instance, bounds it, and schedules it by every algorithm. Every bound is verified, every schedule
/// validated, and no value may be below a bound.
pub(super) fn execute(options: &Options, key: Key, solve: &Solve<'_>) -> Result<Run, LabError> {
    let seed = instance_seed(options.seed, key);
    let (family, jobs, processors) = (key.family, key.jobs, options.processors);
    let instance = generate(&MoldableOptions { family, jobs, processors, seed, arrival_rate: None })?;
    let makespan_bound = verified(&makespan_bounds::makespan(&instance), &instance, key)?;
    let minsum_bound = verified(&makespan_bounds::weighted_completion(&instance), &instance, key)?;
    let printed = makespan_bounds::printed_minsum_estimate(&instance);
    let mut outcomes = Vec::with_capacity(options.algorithms.len());
    for algorithm in &options.algorithms {
        let outcome = measure(&instance, algorithm, seed, solve).map_err(|reason| LabError::Scheduler {
            algorithm: algorithm.clone(),
            family: family.to_string(),
            jobs,
            run: key.run,
            reason,
        })?;
        above(Objective::Makespan, outcome.makespan, makespan_bound, algorithm, key)?;
        above(Objective::WeightedCompletion, outcome.minsum, minsum_bound, algorithm, key)?;
        outcomes.push(outcome);
    }
    // Kept as an integer, so that a result read back from the journal has the same digits.
    let minsum_printed = (printed * 1e15).round() as i128;
    Ok(Run { key, instance_seed: seed, makespan_bound, minsum_bound, minsum_printed, outcomes })
}

fn measure(instance: &Instance, algorithm: &str, seed: u64, solve: &Solve<'_>) -> Result<Outcome, String> {
    let begin = Instant::now();
    let schedule = solve(instance, algorithm, seed)?;
    let seconds = begin.elapsed().as_secs_f64();
    validate(instance, &schedule).map_err(|violations| {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        format!("its schedule is invalid: {first}")
    })?;
    Ok(Outcome {
        algorithm: algorithm.to_owned(),
        makespan: Objective::Makespan.value(instance, &schedule),
        minsum: Objective::WeightedCompletion.value(instance, &schedule),
        seconds,
    })
}

fn verified(bound: &Bound, instance: &Instance, key: Key) -> Result<i128, LabError> {
    match bound.verify(instance) {
        Ok(()) => Ok(bound.value),
        Err(error) => Err(wrong(bound.objective, key, error.to_string())),
    }
}

fn above(objective: Objective, value: i128, bound: i128, algorithm: &str, key: Key) -> Result<(), LabError> {
    if value >= bound {
        return Ok(());
    }
    let (value, bound) = (objective.decimal(value), objective.decimal(bound));
    Err(wrong(objective, key, format!("it is {bound}, and {algorithm} reaches {value}")))
}

fn wrong(objective: Objective, key: Key, reason: String) -> LabError {
    let Key { family, jobs, run } = key;
    LabError::Bound { bound: objective.name(), family: family.to_string(), jobs, run, reason }
}
