//! One matrix under every algorithm.

use std::time::Instant;

use makespan::Planner;
use makespan_core::{Instance, Objective, Schedule};
use serde::{Deserialize, Serialize};

use super::{Key, Options};
use crate::LabError;
use crate::campaign::{at_least, failed, valid, verified};

/// What was found on a matrix. Makespans and bounds are in ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which matrix.
    pub key: Key,
    /// Seed of the matrix, if drawn, and of the algorithms.
    pub seed: u64,
    /// What no schedule can be below: the best of all verified bounds.
    pub bound: i128,
    /// In the order of the algorithms.
    pub outcomes: Vec<Outcome>,
}

/// What an algorithm did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// When the last task ends.
    pub makespan: i128,
    /// Wall time from the matrix to the plan; for `optimise` with its bounds.
    pub seconds: f64,
}

impl Run {
    /// How far an algorithm is above the bound, in per cent.
    pub fn gap(&self, algorithm: &str) -> Option<f64> {
        let outcome = self.outcomes.iter().find(|outcome| outcome.algorithm == algorithm)?;
        Some((outcome.makespan as f64 / self.bound as f64 - 1.0) * 100.0)
    }
}

/// Draws or reads the matrix and plans it. Schedules are validated and bounds verified after the clock has stopped.
pub(super) fn measure(options: &Options, key: Key) -> Result<Run, LabError> {
    let (instance, seed) = (options.instance(key)?, options.seed_of(key));
    let best = makespan_bounds::best(&instance, Objective::Makespan);
    let best = best.map_err(|error| failed("the bound", key, error.to_string()))?;
    let mut bound = verified(&best, &instance, key)?;
    let mut outcomes = Vec::new();
    for algorithm in options.algorithms() {
        let failed = |reason: String| failed(&algorithm, key, reason);
        let begin = Instant::now();
        let planner = Planner::new().algorithm(&algorithm).seed(seed);
        let searches = algorithm.starts_with("optimise");
        let planned = if searches { planner.plan(&instance) } else { planner.plan_unproved(&instance) };
        let mut planned = planned.map_err(|error| failed(error.to_string()))?;
        let bounds = if searches { std::mem::take(&mut planned.bounds) } else { Vec::new() };
        let schedule = planned.into_schedule().map_err(|error| failed(error.to_string()))?;
        let seconds = begin.elapsed().as_secs_f64();
        valid(&instance, &schedule).map_err(failed)?;
        for other in bounds.iter().filter(|bound| bound.objective == Objective::Makespan) {
            bound = bound.max(verified(other, &instance, key)?);
        }
        outcomes.push(Outcome { makespan: makespan(&instance, &schedule), algorithm, seconds });
    }
    for outcome in &outcomes {
        at_least(bound, Objective::Makespan, outcome.makespan, &outcome.algorithm, key)?;
    }
    Ok(Run { key, seed, bound, outcomes })
}

fn makespan(instance: &Instance, schedule: &Schedule) -> i128 {
    Objective::Makespan.value(instance, schedule)
}
