//! One project under every algorithm.

use std::time::Instant;

use makespan::Planner;
use makespan_core::proof::Paths;
use makespan_core::{Bound, Instance, Objective, Proof};

use super::{Options, Outcome, Run};
use crate::LabError;
use crate::campaign::{at_least, failed, valid, verified};

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
