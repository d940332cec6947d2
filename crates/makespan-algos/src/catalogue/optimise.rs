//! The parameters of `optimise`.

use std::time::Duration;

use makespan_core::{Objective, Time};

use super::spec::objective_named;
use super::{Spec, SpecError, critical_jobs};
use crate::scheduler::{Budget, Optimise, Target};

/// The values of the parameter `objective`.
pub(super) const OBJECTIVES: &str = "makespan, weighted-completion, mean-flow, cost, max-lateness, max-tardiness, \
    total-tardiness, weighted-tardiness, tardy-jobs, weighted-tardy-jobs, total-penalty, max-penalty or pareto";

/// Builds the scheduler from the parameters in a spec.
pub(super) fn build(spec: &mut Spec) -> Result<Optimise, SpecError> {
    let default = Optimise::default();
    let target = spec.take("objective", default.target, target)?;
    let makespan_at_most = spec.take("makespan-at-most", None, factor)?;
    if let Some(factor) = makespan_at_most.filter(|_| target == Target::Objective(Objective::Makespan)) {
        let (key, value) = ("makespan-at-most".to_owned(), factor.to_string());
        return Err(SpecError::Value { key, value, expected: "left out if the makespan itself is minimised".into() });
    }
    let deadline = spec.take("deadline", default.deadline, critical_jobs::factor)?;
    let idle = target != Target::Objective(Objective::Cost) || makespan_at_most.is_some();
    if idle && deadline.to_bits() != default.deadline.to_bits() {
        let (key, value) = ("deadline".to_owned(), deadline.to_string());
        let expected = "left out if the objective is not cost, or if makespan-at-most is given";
        return Err(SpecError::Value { key, value, expected: expected.into() });
    }
    let time = spec.take("time-limit", None, time)?;
    let steps = spec.take("steps", None, steps)?;
    let budget = match (time, steps) {
        (Some(_), Some(Budget::Steps(steps))) => {
            let (key, value) = ("steps".to_owned(), steps.to_string());
            return Err(SpecError::Value { key, value, expected: "left out if time-limit is given".into() });
        }
        (time, steps) => time.or(steps).unwrap_or(default.budget),
    };
    Ok(Optimise { target, makespan_at_most, deadline, budget, searches: spec.take("searches", None, searches)? })
}

fn target(text: &str) -> Result<Target, String> {
    if text == "pareto" {
        return Ok(Target::Front);
    }
    if text == "weighted-lateness" {
        return Err("weighted-tardiness, because a lateness below zero counts, too".into());
    }
    let found = objective_named(text, Objective::OF_SCHEDULES);
    found.map(Target::Objective).ok_or_else(|| format!("one of {OBJECTIVES}"))
}

fn factor(text: &str) -> Result<Option<f64>, String> {
    let factor = text.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 1.0);
    match text {
        "none" => Ok(None),
        _ => factor.map(Some).ok_or_else(|| {
            "a number of at least 1, such as 1.25 (the limit is this number times the proven bound)".into()
        }),
    }
}

fn time(text: &str) -> Result<Option<Budget>, String> {
    let time = Time::parse(text).map_err(|error| format!("a positive time; {error}"))?;
    if time > Time::ZERO {
        Ok(Some(Budget::Time(Duration::from_nanos(time.ticks().unsigned_abs()))))
    } else {
        Err("a positive time, such as 0.5s".into())
    }
}

fn steps(text: &str) -> Result<Option<Budget>, String> {
    if text == "none" {
        return Ok(None);
    }
    let steps = text.parse().ok().filter(|steps| (1..=1_000_000_000_000).contains(steps));
    steps.map(|steps| Some(Budget::Steps(steps))).ok_or_else(|| "a number from 1 to 1000000000000".into())
}

fn searches(text: &str) -> Result<Option<u32>, String> {
    if text == "auto" {
        return Ok(None);
    }
    let searches = text.parse().ok().filter(|searches| (1..=1024).contains(searches));
    searches.map(Some).ok_or_else(|| "a number from 1 to 1024, or auto".into())
}
