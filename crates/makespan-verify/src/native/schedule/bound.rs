//! Reads and writes a bound in JSON: the value, the condition (if there is one) and the certificate.

use std::io::{self, Write};

use crate::{Bound, Proof, Value};
use dashu_ratio::RBig;
use makespan_core::tree::parse_decimal;
use makespan_core::{Instance, Objective, Time};
use serde::Deserialize;

use crate::native::error::{FilePlace, FormatError};
use crate::native::scalar::{Scalar, exact_decimal};

/// A bound in a file: `{"value": 801.5, "certificate": {..}}`. The key of the entry is the name of the objective. If
/// the bound is valid only for schedules that end by an instant, `"makespan_at_most"` states this instant in seconds.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoundEntry {
    value: Scalar<String>,
    makespan_at_most: Option<Scalar<Time>>,
    /// True if run times of the instance were guesses when the file was written. The field informs people who read the
    /// file. The check ignores the field and uses the current instance.
    #[serde(default)]
    #[expect(dead_code, reason = "the format has this key, but the check does not need it")]
    rests_on_guesses: bool,
    /// The certificate as a JSON value, because serde cannot read exact numbers inside tagged enums directly.
    certificate: serde_json::Value,
}

impl BoundEntry {
    /// Returns the stated kind of proof.
    pub fn kind(&self) -> &str {
        self.certificate.get("kind").and_then(serde_json::Value::as_str).unwrap_or_default()
    }
}

/// Returns the bound of an entry. Checks only the form of the entry, not the certificate. `field` is the path of the
/// entry for errors.
///
/// # Errors
/// [`FormatError`] with the place of the error.
pub fn read_bound(file: &str, field: &str, objective: Objective, entry: BoundEntry) -> Result<Bound, FormatError> {
    let value = exact(file, &format!("{field}.value"), objective, &entry.value.0)?;
    let unreadable = |problem: String| {
        let place = FilePlace::field(format!("{field}.certificate"));
        FormatError::content(file, place, format!("the certificate cannot be read: {problem}"))
    };
    if let Some(number) = large_number(&entry.certificate) {
        return Err(unreadable(format!("the number {number} is too large; numbers of a certificate are below 2^64")));
    }
    let proof: Proof = serde_json::from_value(entry.certificate).map_err(|error| unreadable(error.to_string()))?;
    let makespan_at_most = entry.makespan_at_most.map(|most| most.0);
    Ok(Bound { objective, value, makespan_at_most, proof })
}

/// Returns a whole number that does not fit into 64 bits, if the certificate contains such a number.
fn large_number(certificate: &serde_json::Value) -> Option<&str> {
    match certificate {
        serde_json::Value::Number(number) => {
            let digits = number.as_str().trim_start_matches('-');
            let is_large = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u64>().is_err();
            is_large.then(|| number.as_str())
        }
        serde_json::Value::Array(entries) => entries.iter().find_map(large_number),
        serde_json::Value::Object(fields) => fields.values().find_map(large_number),
        _ => None,
    }
}

/// Reads an exact decimal as the value of an objective. A throughput is read as a rational number. Every other value is
/// read as an integer in the unit of the objective.
fn exact(file: &str, field: &str, objective: Objective, text: &str) -> Result<Value, FormatError> {
    if objective == Objective::Throughput {
        return rational(file, field, text).map(Value::Rational);
    }
    value(file, field, objective, text).map(Value::Integer)
}

/// Reads an exact decimal with any number of decimal places.
pub fn rational(file: &str, field: &str, text: &str) -> Result<RBig, FormatError> {
    let problem = || FormatError::content(file, FilePlace::field(field), format!("`{text}` is not a decimal number"));
    parse_decimal(text).ok_or_else(problem)
}

/// Reads an exact decimal as a value in the integer unit of the objective.
pub(super) fn value(file: &str, field: &str, objective: Objective, text: &str) -> Result<i128, FormatError> {
    let places = objective.places();
    exact_decimal(text, places).ok_or_else(|| {
        let problem = format!("`{text}` is not exact; write a decimal number with at most {places} decimal places");
        FormatError::content(file, FilePlace::field(field), problem)
    })
}

/// Writes a bound on `instance` on one line, in the form that [`read_bound`] reads. If the instance has guessed run
/// times, the entry states that run times are guesses.
///
/// # Errors
/// Errors of the writer.
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

/// Writes bounds with their certificates as one JSON object, in the form of a schedule file. There must be at most one
/// bound for each objective.
///
/// # Errors
/// Errors of the writer.
pub fn write_bounds(instance: &Instance, bounds: &[&Bound], writer: &mut dyn Write) -> io::Result<()> {
    write!(writer, "{{")?;
    for (at, bound) in bounds.iter().enumerate() {
        writer.write_all(if at == 0 { b"\n  " } else { b",\n  " })?;
        write!(writer, "\"{}\": ", bound.objective.name())?;
        write_bound(instance, bound, writer)?;
    }
    write!(writer, "}}")
}
