//! One project under every algorithm.

use std::time::Instant;

use makespan::Planner;
use makespan_core::proof::Paths;
use makespan_core::{Bound, Instance, Objective, Proof, Time};
use serde::{Deserialize, Serialize};

use super::Options;
use crate::LabError;
use crate::campaign::{at_least, failed, valid, verified};

/// What was found for a project. Makespans and bounds are in ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its place among the projects of the campaign.
    pub at: u32,
    /// Its set.
    pub set: String,
    /// Its name.
    pub name: String,
    /// The longest path of activities in their shortest modes.
    pub critical_path: i128,
    /// In the order of the algorithms.
    pub outcomes: Vec<Outcome>,
}

/// What an algorithm did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub algorithm: String,
    /// When the last activity ends; none where it found no modes that leave enough of what is used up.
    pub makespan: Option<i128>,
    /// The best verified bound; of `optimise` that which it found in its time, if that is better.
    pub bound: i128,
    /// Wall time from the project to the plan; for `optimise` with its bounds.
    pub seconds: f64,
}

impl Outcome {
    /// Whether the plan is proved to be optimal.
    pub fn is_optimal(&self) -> bool {
        self.makespan == Some(self.bound)
    }
}

/// Reads or draws the project and plans it. Schedules are validated and bounds verified after the clock has stopped.
pub(super) fn measure(options: &Options, at: u32) -> Result<Run, LabError> {
    let file = &options.files()[at as usize];
    let instance = file.instance()?;
    let best = makespan_bounds::best(&instance, Objective::Makespan);
    let best = best.map_err(|error| failed("the bound", file, error.to_string()))?;
    let (proved, mut all) = (verified(&best, &instance, file)?, 0);
    let mut outcomes = Vec::new();
    for algorithm in options.algorithms() {
        let failed = |reason: String| failed(&algorithm, file, reason);
        let begin = Instant::now();
        let planner = Planner::new().algorithm(&algorithm).seed(options.seed);
        let searches = algorithm.starts_with("optimise");
        let planned = if searches { planner.plan(&instance) } else { planner.plan_unproved(&instance) };
        let seconds = || begin.elapsed().as_secs_f64();
        let mut planned = match planned {
            Ok(planned) => planned,
            Err(error) if error.to_string().contains("no allotments that leave enough") => {
                outcomes.push(Outcome { makespan: None, bound: proved, seconds: seconds(), algorithm });
                continue;
            }
            Err(error) => return Err(failed(error.to_string())),
        };
        let bounds = if searches { std::mem::take(&mut planned.bounds) } else { Vec::new() };
        let schedule = planned.into_schedule().map_err(|error| failed(error.to_string()))?;
        let seconds = seconds();
        valid(&instance, &schedule).map_err(failed)?;
        let mut bound = proved;
        for other in bounds.iter().filter(|bound| bound.objective == Objective::Makespan) {
            bound = bound.max(verified(other, &instance, file)?);
        }
        all = bound.max(all);
        let makespan = Some(Objective::Makespan.value(&instance, &schedule));
        outcomes.push(Outcome { algorithm, makespan, bound, seconds });
    }
    for outcome in &outcomes {
        if let Some(makespan) = outcome.makespan {
            at_least(all, Objective::Makespan, makespan, &outcome.algorithm, file)?;
        }
    }
    let (set, name) = (file.set.clone(), file.name.clone());
    Ok(Run { at, set, name, critical_path: critical_path(&instance, file)?, outcomes })
}

fn critical_path(instance: &Instance, key: impl std::fmt::Display) -> Result<i128, LabError> {
    let bound = Bound::proved_by(Objective::Makespan, Proof::Paths(Paths::default()), instance);
    let bound = bound.map_err(|error| failed("the longest path", &key, error.to_string()))?;
    verified(&bound, instance, key)
}

/// A makespan of a table, in ticks: a unit of time is read as a second.
pub(super) fn ticks(makespan: i64) -> i128 {
    i128::from(makespan) * i128::from(Time::TICKS_PER_SECOND)
}
