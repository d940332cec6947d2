//! One plan: its value, its proof and its time.

use std::time::Instant;

use makespan::{Planned, Planner};
use makespan_core::{Instance, Objective};
use serde::{Deserialize, Serialize};

use super::Options;
use crate::LabError;
use crate::campaign::{self, Setting, at_least, failed, valid, verified};

/// The algorithm of the catalogue that stands beside the optimiser.
const REFERENCE: &str = "demt";

/// Which plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Of what and in what time.
    pub setting: Setting,
    /// Of which instance.
    pub instance: campaign::Key,
}

/// What the optimiser made of an instance. Values are in the integer unit of the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Which plan.
    pub key: Key,
    /// Seed that draws the instance again.
    pub instance_seed: u64,
    /// Value of the objective.
    pub value: i128,
    /// What no schedule can be below, verified.
    pub bound: i128,
    /// The value that DEMT reaches.
    pub demt: i128,
    /// Wall time from the instance to the plan with its bounds.
    pub seconds: f64,
}

impl Measurement {
    /// Value over bound.
    pub fn ratio(&self) -> f64 {
        self.value as f64 / self.bound as f64
    }

    /// DEMT's value over the same bound.
    pub fn demt_ratio(&self) -> f64 {
        self.demt as f64 / self.bound as f64
    }
}

/// Draws the instance and plans it. The schedule is validated and every bound verified, after the clock has stopped.
pub(super) fn measure(options: &Options, key: Key) -> Result<Measurement, LabError> {
    let Key { setting, instance: drawn } = key;
    let (instance, seed) = (options.instances.draw(drawn)?, options.instances.seed_of(drawn));
    let spec = setting.spec(options.search.searches);
    let failed = |reason: String| failed(&spec, drawn, reason);
    let begin = Instant::now();
    let planned = (options.plan)(&instance, &spec, seed).map_err(failed)?;
    let seconds = begin.elapsed().as_secs_f64();
    let schedule = planned.schedule().ok_or_else(|| failed("it plans no placements".into()))?;
    valid(&instance, schedule).map_err(failed)?;
    let objective = setting.objective;
    let mut most: Option<i128> = None;
    for bound in &planned.bounds {
        let proved = verified(bound, &instance, drawn)?;
        if bound.makespan_at_most.is_some() {
            // It speaks of some schedules only, and is nothing to measure all plans against.
            continue;
        }
        let value = bound.objective.value(&instance, schedule);
        at_least(proved, bound.objective, value, &spec, drawn)?;
        if bound.objective == objective {
            most = most.max(Some(proved));
        }
    }
    let bound = most.filter(|&bound| bound > 0).ok_or_else(|| failed(format!("no bound on the {objective}")))?;
    let demt = reference(&instance, objective, seed).map_err(|reason| campaign::failed(REFERENCE, drawn, reason))?;
    at_least(bound, objective, demt, REFERENCE, drawn)?;
    let value = objective.value(&instance, schedule);
    Ok(Measurement { key, instance_seed: seed, value, bound, demt, seconds })
}

/// The value that DEMT reaches.
fn reference(instance: &Instance, objective: Objective, seed: u64) -> Result<i128, String> {
    let planned = Planner::new().algorithm(REFERENCE).seed(seed).plan_unproved(instance);
    let schedule = planned.and_then(Planned::into_schedule).map_err(|error| error.to_string())?;
    Ok(objective.value(instance, &schedule))
}
