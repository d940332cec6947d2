//! One bound in JSON: its value, its condition where it has one, and its certificate.

use std::io::{self, Write};

use dashu_ratio::RBig;
use makespan_core::tree::parse_decimal;
use makespan_core::{Bound, Instance, Objective, Proof, Time, Value};
use serde::Deserialize;

use crate::error::{FormatError, Place};
use crate::scalar::{Scalar, exact_decimal};

/// A bound as it stands in a file, under the name of its objective: `{"value": 801.5, "certificate": {..}}`, and
/// `"makespan_at_most"` in seconds where it speaks only of schedules that end by then.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundEntry {
    value: Scalar<String>,
    makespan_at_most: Option<Scalar<Time>>,
    /// Whether the instance had times that are guesses. The certificate is checked against the instance that is there, so this is
    /// for readers only.
    #[serde(default)]
    #[expect(dead_code, reason = "known to the format, and of no use to the check")]
    rests_on_guesses: bool,
    /// A value in between, because serde cannot read exact numbers within tagged enums directly.
    certificate: serde_json::Value,
}

impl BoundEntry {
    /// The stated kind of proof.
    pub(crate) fn kind(&self) -> &str {
        self.certificate.get("kind").and_then(serde_json::Value::as_str).unwrap_or_default()
    }
}

/// The bound of an entry, unchecked but for its form; `field` names it in errors.
///
/// # Errors
/// [`FormatError`] with the place.
pub fn read_bound(file: &str, field: &str, objective: Objective, entry: BoundEntry) -> Result<Bound, FormatError> {
    let value = exact(file, &format!("{field}.value"), objective, &entry.value.0)?;
    let proof: Proof = serde_json::from_value(entry.certificate)
        .map_err(|error| FormatError::content(file, Place::field(format!("{field}.certificate")), error))?;
    let makespan_at_most = entry.makespan_at_most.map(|most| most.0);
    Ok(Bound { objective, value, makespan_at_most, proof })
}

/// An exact decimal: a throughput as it is, all else in the integer unit of the objective.
fn exact(file: &str, field: &str, objective: Objective, text: &str) -> Result<Value, FormatError> {
    if objective == Objective::Throughput {
        return rational(file, field, text).map(Value::Rational);
    }
    value(file, field, objective, text).map(Value::Integer)
}

/// An exact decimal of any number of places.
pub(crate) fn rational(file: &str, field: &str, text: &str) -> Result<RBig, FormatError> {
    let problem = || FormatError::content(file, Place::field(field), format!("`{text}` is not a decimal number"));
    parse_decimal(text).ok_or_else(problem)
}

/// An exact decimal in the integer unit of the objective.
pub(super) fn value(file: &str, field: &str, objective: Objective, text: &str) -> Result<i128, FormatError> {
    let places = objective.places();
    exact_decimal(text, places).ok_or_else(|| {
        let problem = format!("`{text}` is not exact; write a decimal number with at most {places} places");
        FormatError::content(file, Place::field(field), problem)
    })
}

/// Writes a bound on `instance` as the entry that [`read_bound`] reads, on one line. Where the instance has times that are
/// guesses, the entry says that the bound rests on them.
///
/// # Errors
/// Those of the writer.
pub fn write_bound(instance: &Instance, bound: &Bound, writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "{{\"value\": {}", bound.value.decimal(bound.objective))?;
    if let Some(most) = bound.makespan_at_most {
        write!(writer, ", \"makespan_at_most\": {most}")?;
    }
    if instance.has_guesses() {
        write!(writer, ", \"rests_on_guesses\": true")?;
    }
    write!(writer, ", \"certificate\": {}}}", serde_json::to_string(&bound.proof)?)
}

/// Writes bounds with their certificates as one JSON object, in the form that they have in a schedule file: at most
/// one an objective.
///
/// # Errors
/// Those of the writer.
pub fn write_bounds(instance: &Instance, bounds: &[&Bound], writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "{{")?;
    for (at, bound) in bounds.iter().enumerate() {
        writer.write_all(if at == 0 { b"\n  " } else { b",\n  " })?;
        write!(writer, "\"{}\": ", bound.objective.name())?;
        write_bound(instance, bound, writer)?;
    }
    write!(writer, "}}")
}
