//! Checks of results: verification of bounds, validation of schedules, and rejection of values below a bound.

use std::fmt::Display;

use makespan_core::{Instance, Objective, Schedule, validate};
use makespan_verify::Bound;

use crate::LabError;

/// Checks that the certificate of a bound proves the bound, and returns the value of the bound.
pub(crate) fn verified(bound: &Bound, instance: &Instance, key: impl Display) -> Result<i128, LabError> {
    match bound.verify(instance) {
        Ok(()) => Ok(bound.value.integer()),
        Err(error) => Err(wrong(bound.objective, key, error.to_string())),
    }
}

/// Returns an error if the value of a schedule is below a bound.
pub(crate) fn at_least(
    bound: i128,
    objective: Objective,
    value: i128,
    algorithm: &str,
    key: impl Display,
) -> Result<(), LabError> {
    if value >= bound {
        return Ok(());
    }
    let (value, bound) = (objective.decimal(value), objective.decimal(bound));
    Err(wrong(objective, key, format!("it is {bound}, but {algorithm} reaches {value}")))
}

/// Returns an error with the first rule that a schedule breaks.
pub(crate) fn valid(instance: &Instance, schedule: &Schedule) -> Result<(), String> {
    validate(instance, schedule).map_err(|violations| {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        format!("its schedule is invalid: {first}")
    })
}

/// Returns the error of an algorithm that failed on an instance.
pub(crate) fn failed(algorithm: &str, key: impl Display, reason: String) -> LabError {
    LabError::Scheduler { algorithm: algorithm.to_owned(), instance: key.to_string(), reason }
}

fn wrong(objective: Objective, key: impl Display, reason: String) -> LabError {
    LabError::Bound { bound: objective.name(), instance: key.to_string(), reason }
}
