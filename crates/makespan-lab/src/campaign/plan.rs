//! Plans of one instance by several algorithms, with their bounds and times.

use std::fmt::Display;
use std::time::Instant;

use makespan::Planner;
use makespan_algos::Context;
use makespan_core::{Instance, Objective, Schedule};
use serde::{Deserialize, Serialize};

use super::{AnyRun, GridRun, at_least, failed, valid, verified};
use crate::LabError;

/// The measurements of a plan. `value` and `bound` are in the integer unit of the objective.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeasuredPlan {
    /// The value of the plan. `None` if the algorithm found no plan. This happens if all modes that the algorithm tried
    /// need more consumables than are available.
    pub value: Option<i128>,
    /// The largest verified lower bound, including the bounds that the algorithm itself proved.
    pub bound: i128,
    /// Wall time of planning, in seconds. For `optimise`, this time includes the proofs of bounds.
    pub seconds: f64,
}

impl MeasuredPlan {
    /// Formats the exact makespan in seconds. Returns an empty string if there is no plan.
    pub fn decimal(&self) -> String {
        self.value.map_or_else(String::new, |makespan| Objective::Makespan.decimal(makespan))
    }
}

impl<Key: Copy + Ord + Send, Facts> GridRun<Key, Facts, MeasuredPlan> {
    /// Returns the largest of all verified bounds.
    pub fn bound(&self) -> i128 {
        self.outcomes.iter().map(|(_, plan)| plan.bound).max().unwrap_or(0)
    }

    /// Returns the value of an algorithm's plan divided by the bound.
    pub fn ratio(&self, algorithm: &str) -> Option<f64> {
        Some(self.of(algorithm)?.value? as f64 / self.bound() as f64)
    }
}

/// Plans an instance with an algorithm of the catalogue. Validates the schedule. Returns the schedule, the warnings of
/// the algorithm, and the planning time in seconds.
pub(crate) fn scheduled(instance: &Instance, spec: &str, seed: u64) -> Result<(Schedule, Vec<String>, f64), String> {
    let scheduler = makespan::scheduler(spec).map_err(|error| error.to_string())?;
    let mut context = Context::with_seed(seed);
    let begin = Instant::now();
    let plan = scheduler.schedule(instance, &mut context).map_err(|error| error.to_string())?;
    let seconds = begin.elapsed().as_secs_f64();
    let schedule = plan.into_schedule().ok_or("it returns no placements")?;
    valid(instance, &schedule)?;
    Ok((schedule, context.remarks, seconds))
}

/// Plans an instance with each algorithm. The measured time does not include the validation of the schedule and the
/// verification of bounds.
pub(crate) fn plans(
    instance: &Instance,
    algorithms: Vec<String>,
    seed: u64,
    key: impl Display + Copy,
) -> Result<Vec<(String, MeasuredPlan)>, LabError> {
    let best = makespan_bounds::best(instance, Objective::Makespan);
    let best = best.map_err(|error| failed("the bound", key, error.to_string()))?;
    let proved = verified(&best, instance, key)?;
    let mut plans = Vec::new();
    for algorithm in algorithms {
        let plan = plan(instance, &algorithm, seed, proved, key)?;
        plans.push((algorithm, plan));
    }
    let bound = plans.iter().map(|(_, plan)| plan.bound).max().unwrap_or(proved);
    for (algorithm, plan) in &plans {
        plan.value.map_or(Ok(()), |makespan| at_least(bound, Objective::Makespan, makespan, algorithm, key))?;
    }
    Ok(plans)
}

fn plan(
    instance: &Instance,
    algorithm: &str,
    seed: u64,
    proved: i128,
    key: impl Display + Copy,
) -> Result<MeasuredPlan, LabError> {
    let failed = |reason: String| failed(algorithm, key, reason);
    let begin = Instant::now();
    let planner = Planner::new().algorithm(algorithm).seed(seed);
    let searches = algorithm.starts_with("optimise");
    let planned = if searches { planner.plan(instance) } else { planner.plan_unproved(instance) };
    let seconds = || begin.elapsed().as_secs_f64();
    let mut planned = match planned {
        Ok(planned) => planned,
        Err(error) if uses_up_too_much(&error) => {
            return Ok(MeasuredPlan { value: None, bound: proved, seconds: seconds() });
        }
        Err(error) => return Err(failed(error.to_string())),
    };
    let bounds = if searches { std::mem::take(&mut planned.bounds) } else { Vec::new() };
    let schedule = planned.into_schedule().map_err(|error| failed(error.to_string()))?;
    let seconds = seconds();
    valid(instance, &schedule).map_err(failed)?;
    let mut bound = proved;
    for other in bounds.iter().filter(|bound| bound.objective == Objective::Makespan) {
        bound = bound.max(verified(other, instance, key)?);
    }
    Ok(MeasuredPlan { value: Some(Objective::Makespan.value(instance, &schedule)), bound, seconds })
}

/// Returns true if an error of a planner states that every choice of allotments uses up more of a consumable than the
/// platform has.
pub(crate) fn is_infeasible(error: &impl Display) -> bool {
    error.to_string().contains("no choice of allotments leaves")
}

/// Returns true if an error of a planner states that the planner found no choice of allotments that leaves enough of
/// each consumable. Also returns true if [`is_infeasible`] does.
pub(crate) fn uses_up_too_much(error: &impl Display) -> bool {
    error.to_string().contains("no choice of allotments")
}
