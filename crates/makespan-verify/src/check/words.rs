//! Words for values, bounds and ratios.

use makespan_core::Objective;

use crate::proof::Value;

/// Formats a number of seconds with a sensible number of digits.
pub fn figure(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{value:.0}"),
        size if size >= 1e3 => format!("{value:.1}"),
        size if size >= 1e-3 || size == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.6}"),
    }
}

/// Formats a value of an objective, in its own unit: seconds, weighted seconds, a cost, or weighted tasks per second.
pub fn value(objective: Objective, value: impl Into<Value>) -> String {
    figure(amount(objective, value))
}

/// Returns a value of an objective as a number, in the unit that [`value`] prints.
pub fn amount(objective: Objective, value: impl Into<Value>) -> f64 {
    // A throughput is stored in the unit in which it is printed. All other values are stored as whole numbers of a
    // smaller unit.
    let places = if objective == Objective::Throughput { 0 } else { objective.places() };
    value.into().as_f64() / 10_f64.powi(places as i32)
}

/// Formats the percentage by which a ratio exceeds 1, such as `3.21`. The percentage is rounded up to hundredths, so
/// that it is proved. The result is never zero, because the ratio is above 1. All outputs use this function, so that
/// they state equal numbers.
pub fn percent_above(ratio: f64) -> String {
    // The allowed error in floating point. Without it, the ratio 1.05 would be 5.01 %.
    let error = ratio * 1e-11;
    let hundredths = ((ratio - 1.0) * 1e4 - error).ceil().max(1.0);
    format!("{:.2}", hundredths / 100.0)
}

/// Describes a ratio, such as `at most 3.21 % above the optimum`. The percentage is rounded up, so that it is proved.
pub fn gap(ratio: Option<f64>) -> String {
    match ratio {
        None => "no proof".into(),
        // Only the value of a schedule that omits some jobs can be below the bound.
        Some(ratio) if ratio < 1.0 => "a part of the jobs".into(),
        Some(ratio) if ratio <= 1.0 => "optimal".into(),
        Some(ratio) => format!("at most {} % above the optimum", percent_above(ratio)),
    }
}

/// Returns the heading for bounds, which includes the condition under which they are valid
/// ([`makespan_core::Instance::condition`]).
pub fn bound_word(condition: &str) -> String {
    if condition.is_empty() { "proven bound".to_owned() } else { format!("bound{condition}") }
}

#[cfg(test)]
mod tests {
    use super::{gap, percent_above};

    #[test]
    fn gaps_are_rounded_up() {
        for (ratio, percent) in [
            (1.05, "5.00"),
            (3.21, "221.00"),
            (6.05 / 6.03, "0.34"),
            (1.000_049_8, "0.01"),
            (1.0 + f64::EPSILON, "0.01"),
            (1_000_001.0, "100000000.00"),
        ] {
            assert_eq!(gap(Some(ratio)), format!("at most {percent} % above the optimum"));
        }
        assert_eq!(gap(Some(1.0)), "optimal");
        assert_eq!(percent_above(1.038_03), "3.81");
    }
}
