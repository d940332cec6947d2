//! Converts Python values to values of Makespan.

use makespan::{Objective, Time};
use pyo3::prelude::*;

use crate::errors;

/// Converts an instant or a duration: seconds as a number, a text with a unit, or a `timedelta`.
///
/// # Errors
/// `InputError` with the name of the argument.
pub fn time(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Time> {
    let text = match value.extract::<String>() {
        Ok(text) => text,
        Err(_) => crate::document::json_of(value, name)?,
    };
    Time::parse(&text).map_err(|error| errors::at(value.py(), name, error))
}

/// Returns the objective with this name. The words of the name may be separated by `_`, `-` or blanks.
///
/// # Errors
/// `InputError` with a list of the valid names.
pub fn objective(py: Python<'_>, name: &str) -> PyResult<Objective> {
    let wanted = name.replace(['-', ' '], "_");
    let all = Objective::OF_SCHEDULES.into_iter().chain([Objective::Throughput]);
    all.clone().find(|objective| objective.name() == wanted).ok_or_else(|| {
        let names: Vec<&str> = all.map(Objective::name).collect();
        errors::at(py, "objective", format!("`{name}` is not an objective; write one of {}", names.join(", ")))
    })
}

/// Converts a value of an objective to a float for display. The unit depends on the objective: seconds, weight times
/// seconds, cost, or weighted tasks per second.
pub fn figure(objective: Objective, value: &makespan::Value) -> f64 {
    match value {
        makespan::Value::Integer(value) => *value as f64 / 10_f64.powi(objective.places() as i32),
        rational @ makespan::Value::Rational(_) => rational.as_f64(),
    }
}
