//! Nothing enters a result unchecked: bounds are verified, schedules validated, and no value is below a bound.

use makespan_core::{Bound, Instance, Objective, Schedule, validate};

use super::Key;
use crate::LabError;

/// The value of a bound whose certificate proves it.
pub(crate) fn verified(bound: &Bound, instance: &Instance, key: Key) -> Result<i128, LabError> {
    match bound.verify(instance) {
        Ok(()) => Ok(bound.value),
        Err(error) => Err(wrong(bound.objective, key, error.to_string())),
    }
}

/// Refuses a value below a bound.
pub(crate) fn at_least(
    bound: i128,
    objective: Objective,
    value: i128,
    algorithm: &str,
    key: Key,
) -> Result<(), LabError> {
    if value >= bound {
        return Ok(());
    }
    let (value, bound) = (objective.decimal(value), objective.decimal(bound));
    Err(wrong(objective, key, format!("it is {bound}, and {algorithm} reaches {value}")))
}

/// The first rule that a schedule breaks.
pub(crate) fn valid(instance: &Instance, schedule: &Schedule) -> Result<(), String> {
    validate(instance, schedule).map_err(|violations| {
        let first = violations.first().map(ToString::to_string).unwrap_or_default();
        format!("its schedule is invalid: {first}")
    })
}

/// An algorithm that did not do its work on an instance.
pub(crate) fn failed(algorithm: &str, key: Key, reason: String) -> LabError {
    let Key { family, jobs, run } = key;
    LabError::Scheduler { algorithm: algorithm.to_owned(), family: family.to_string(), jobs, run, reason }
}

fn wrong(objective: Objective, key: Key, reason: String) -> LabError {
    let Key { family, jobs, run } = key;
    LabError::Bound { bound: objective.name(), family: family.to_string(), jobs, run, reason }
}
