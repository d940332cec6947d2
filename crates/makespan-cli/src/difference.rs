//! The difference between two predictions, with its range over simulations with equal random numbers.

use makespan_core::range_around;
use serde_json::{Value, json};

/// A difference in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The difference of the predictions.
    pub seconds: f64,
    /// The range of the difference over the simulations. `None` without simulations.
    pub range: Option<(f64, f64)>,
}

impl Difference {
    /// Returns the difference of two predictions. `draws` are the differences in the simulations, and the range contains
    /// `percent` % of them.
    pub fn new(seconds: f64, draws: Vec<f64>, percent: u32) -> Self {
        Self { seconds, range: range_around(Some(seconds), draws, percent) }
    }

    /// Returns true if the difference is 0 in the prediction and within its range.
    pub fn is_none(&self) -> bool {
        let (early, late) = self.range.unwrap_or_default();
        [self.seconds, early, late].iter().all(|seconds| seconds.abs() < 0.5)
    }

    /// Returns true if the range contains only numbers of one sign.
    pub fn is_certain(&self) -> bool {
        self.range.is_some_and(|(early, late)| early.round() > 0.0 || late.round() < 0.0)
    }

    /// Formats the difference, such as `-24 s, between -31 s and +2 s: not certain`.
    pub fn words(&self) -> String {
        if self.is_none() {
            return "none".to_owned();
        }
        let difference = signed(self.seconds);
        let Some((early, late)) = self.range else { return difference };
        let certain = if self.is_certain() { "" } else { ": not certain" };
        format!("{difference}, between {} and {}{certain}", signed(early), signed(late))
    }

    /// Returns the difference as JSON.
    pub fn json(&self) -> Value {
        let (early, late) = self.range.unzip();
        json!({ "seconds": self.seconds, "early": early, "late": late, "certain": self.is_certain() })
    }
}

/// Formats a number of seconds with its sign.
fn signed(seconds: f64) -> String {
    match seconds.round() {
        0.0 => "0 s".to_owned(),
        whole => format!("{whole:+} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_with_zero_is_not_certain() {
        let words = |seconds, draws: &[f64]| Difference::new(seconds, draws.to_vec(), 80).words();
        assert_eq!(words(-24.0, &[-31.0, -20.0, 2.0]), "-24 s, between -31 s and +2 s: not certain");
        assert_eq!(words(24.4, &[9.0, 31.0]), "+24 s, between +9 s and +31 s");
        assert_eq!(words(0.0, &[0.0, -0.2]), "none");
        assert_eq!(words(0.0, &[0.0, -9.0]), "0 s, between -9 s and 0 s: not certain");
        assert_eq!(words(-3.0, &[]), "-3 s");
    }
}
