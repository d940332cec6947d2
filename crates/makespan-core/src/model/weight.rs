//! Weights of jobs, and weighted sums of times.

use std::fmt;
use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::model::time::{Time, decimal, scaled_decimal};

/// The importance of a job in the weighted sum of completion times: a non-negative decimal with six places, stored in
/// millionths. Integers keep weighted sums exact, so that the value of a schedule can be compared with a bound without
/// rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Weight(u64);

/// A weighted completion time, or a sum of them, in millionths of a unit of weight multiplied by ticks. An `i128` is
/// sufficient for the sum over any instance that [`crate::Instance`] accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WeightedTime(pub i128);

/// A text or number is not a weight. The field contains the text or number.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a weight; write a number from 0 to 1000000000")]
pub struct WeightError(String);

impl Weight {
    /// The default weight.
    pub const ONE: Self = Self(Self::MILLIONTHS);
    /// The weight of a job that adds nothing to the weighted completion.
    pub const ZERO: Self = Self(0);
    /// Number of millionths in one unit of weight.
    pub const MILLIONTHS: u64 = 1_000_000;
    const MAX: u64 = 1_000_000_000 * Self::MILLIONTHS;

    /// Creates a weight from millionths.
    ///
    /// # Errors
    /// [`WeightError`] if the weight is above one thousand million.
    pub fn from_millionths(millionths: u64) -> Result<Self, WeightError> {
        if millionths > Self::MAX { Err(WeightError(Self(millionths).to_string())) } else { Ok(Self(millionths)) }
    }

    /// Parses a decimal number, rounded to the nearest millionth.
    ///
    /// # Errors
    /// [`WeightError`] if the text is not a number, or if the number is negative or above one thousand million.
    pub fn parse(text: &str) -> Result<Self, WeightError> {
        scaled_decimal(text.trim(), i128::from(Self::MILLIONTHS))
            .and_then(|value| u64::try_from(value).ok())
            .filter(|&value| value <= Self::MAX)
            .map(Self)
            .ok_or_else(|| WeightError(text.to_owned()))
    }

    /// Creates a weight from a float, rounded to the nearest millionth.
    ///
    /// # Errors
    /// [`WeightError`] as for [`Weight::parse`].
    pub fn from_f64(value: f64) -> Result<Self, WeightError> {
        let millionths = (value * Self::MILLIONTHS as f64).round();
        if millionths.is_finite() && (0.0..=Self::MAX as f64).contains(&millionths) {
            Ok(Self(millionths as u64))
        } else {
            Err(WeightError(value.to_string()))
        }
    }

    /// Returns the weight in millionths of a unit.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// Returns the weight as a float, for display and for searches.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / Self::MILLIONTHS as f64
    }

    /// Returns the weight divided by a number of shares, rounded down to a millionth.
    pub fn divided_by(self, shares: NonZeroU64) -> Self {
        Self(self.0 / shares)
    }

    /// Returns this weight times a completion time.
    pub fn times(self, time: Time) -> WeightedTime {
        WeightedTime(i128::from(self.0) * i128::from(time.ticks()))
    }
}

impl Default for Weight {
    fn default() -> Self {
        Self::ONE
    }
}

impl WeightedTime {
    /// Returns the value in units of weight multiplied by seconds, rounded to a float. Use it for display only.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e15
    }
}

impl std::iter::Sum for WeightedTime {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        Self(terms.map(|term| term.0).sum())
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(i128::from(self.0), 6, f)
    }
}

/// Prints the exact value in units of weight multiplied by seconds, as a decimal.
impl fmt::Display for WeightedTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal(self.0, 15, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_prints_decimals() {
        assert_eq!(Weight::parse("3.5").unwrap().to_string(), "3.5");
        assert_eq!(Weight::parse("0").unwrap(), Weight::ZERO);
        assert_eq!(Weight::from_f64(0.1).unwrap().millionths(), 100_000);
        for bad in ["-1", "NaN", "x", "1e12", ""] {
            assert!(Weight::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn weighted_sums_are_exact() {
        let sum = Weight::parse("3.5").unwrap().times(Time::parse("0.1").unwrap());
        assert_eq!(sum.to_string(), "0.35");
    }
}
