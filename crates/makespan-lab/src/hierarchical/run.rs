//! One instance: its bound, every algorithm's plan, and the attempted guesses.

use std::time::Instant;

use makespan_algos::kernel::hierarchical::Cluster;
use makespan_core::{Bound, Context, Instance, Objective};
use serde::{Deserialize, Serialize};

use super::guesses::{Guesses, attempt};
use super::{Key, Options, Population};
use crate::LabError;
use crate::campaign::{at_least, failed, stirred, valid, verified};

/// What one instance gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which instance.
    pub key: Key,
    /// Seed that draws it again.
    pub instance_seed: u64,
    /// What no makespan can be below, in ticks; verified.
    pub bound: i128,
    /// One an algorithm, in the order of the options.
    pub outcomes: Vec<Outcome>,
    /// What became of the guesses.
    pub guesses: Guesses,
}

/// What one algorithm made of the instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// The makespan in ticks, or why the algorithm does not plan such instances.
    pub makespan: Result<i128, String>,
    /// Whether the makespan is within the algorithm's guarantee of the bound; `None` without a guarantee.
    pub within_guarantee: Option<bool>,
    /// Seconds that planning took.
    pub seconds: f64,
}

impl Run {
    /// Makespan over bound.
    pub fn ratio(&self, outcome: &Outcome) -> Option<f64> {
        outcome.makespan.as_ref().ok().map(|&makespan| makespan as f64 / self.bound as f64)
    }
}

/// Draws the instance, bounds it, plans it by every algorithm and attempts guesses. The bound is verified, every
/// schedule validated with best placement, and none may be below the bound.
pub(super) fn execute(options: &Options, key: Key) -> Result<Run, LabError> {
    let Key { population, each, nodes, jobs, run } = key;
    let at = Population::ALL.iter().position(|&known| known == population).unwrap_or_default();
    let parts = [at as u64, u64::from(each), u64::from(nodes), jobs as u64, u64::from(run)];
    let seed = stirred(options.seed, parts);
    let instance = population.draw(Cluster { nodes, each }, jobs, seed)?;
    let bound = makespan_bounds::makespan(&instance);
    let proved = verified(&bound, &instance, key)?;
    let mut outcomes = Vec::new();
    for algorithm in options.algorithms() {
        let outcome = measure(&instance, &bound, &algorithm, seed).map_err(|reason| failed(&algorithm, key, reason))?;
        if let Ok(makespan) = outcome.makespan {
            at_least(proved, Objective::Makespan, makespan, &algorithm, key)?;
        }
        outcomes.push(outcome);
    }
    let guesses = attempt(&instance, key, &bound)?;
    Ok(Run { key, instance_seed: seed, bound: proved, outcomes, guesses })
}

fn measure(instance: &Instance, bound: &Bound, spec: &str, seed: u64) -> Result<Outcome, String> {
    let scheduler = makespan::scheduler(spec).map_err(|error| error.to_string())?;
    let algorithm = spec.to_owned();
    if let Err(reason) = scheduler.supports(instance) {
        let makespan = Err(reason.to_string());
        return Ok(Outcome { algorithm, makespan, within_guarantee: None, seconds: 0.0 });
    }
    let begin = Instant::now();
    let plan = scheduler.schedule(instance, &mut Context::with_seed(seed)).map_err(|error| error.to_string())?;
    let seconds = begin.elapsed().as_secs_f64();
    let schedule = plan.into_schedule().ok_or("it plans no placements")?;
    valid(instance, &schedule)?;
    let value = Objective::Makespan.value(instance, &schedule);
    let guarantee = scheduler.guarantee(instance, Objective::Makespan);
    let within_guarantee = guarantee.map(|guarantee| guarantee.holds(value, bound.value.integer()));
    Ok(Outcome { algorithm, makespan: Ok(value), within_guarantee, seconds })
}
