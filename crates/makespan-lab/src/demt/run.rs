//! One run: an instance, its bounds, and the values of every algorithm.

use std::time::Instant;

use makespan_core::{Instance, Objective};
use serde::{Deserialize, Serialize};

use super::{Options, Solve};
use crate::LabError;
use crate::campaign::{Key, at_least, failed, valid, verified};

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

/// Draws the instance, bounds it, and schedules it by every algorithm. Every bound is verified, every schedule
/// validated, and no value may be below a bound.
pub(super) fn execute(options: &Options, key: Key) -> Result<Run, LabError> {
    let seed = options.instances.seed_of(key);
    let instance = options.instances.draw(key)?;
    let makespan_bound = verified(&makespan_bounds::makespan(&instance), &instance, key)?;
    let minsum_bound = verified(&makespan_bounds::weighted_completion(&instance), &instance, key)?;
    let printed = makespan_bounds::printed_minsum_estimate(&instance);
    let mut outcomes = Vec::new();
    for algorithm in options.algorithms() {
        let outcome = measure(&instance, &algorithm, seed, options.solve);
        let outcome = outcome.map_err(|reason| failed(&algorithm, key, reason))?;
        at_least(makespan_bound, Objective::Makespan, outcome.makespan, &algorithm, key)?;
        at_least(minsum_bound, Objective::WeightedCompletion, outcome.minsum, &algorithm, key)?;
        outcomes.push(outcome);
    }
    // Kept as an integer, so that a result read back from the journal has the same digits.
    let minsum_printed = (printed * 1e15).round() as i128;
    Ok(Run { key, instance_seed: seed, makespan_bound, minsum_bound, minsum_printed, outcomes })
}

fn measure(instance: &Instance, algorithm: &str, seed: u64, solve: Solve) -> Result<Outcome, String> {
    let begin = Instant::now();
    let schedule = solve(instance, algorithm, seed)?;
    let seconds = begin.elapsed().as_secs_f64();
    valid(instance, &schedule)?;
    Ok(Outcome {
        algorithm: algorithm.to_owned(),
        makespan: Objective::Makespan.value(instance, &schedule),
        minsum: Objective::WeightedCompletion.value(instance, &schedule),
        seconds,
    })
}
