//! The ranges of floating-point values in files.

use std::fmt;

use thiserror::Error;

/// A kind of floating-point value and its range. Values outside the range would overflow. Parsers check values to
/// report the position in the file. Platforms check again, because a program can create platforms without a parser.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    name: &'static str,
    unit: &'static str,
    least: f64,
    most: f64,
}

/// A value is outside the range of its [`Quantity`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct QuantityError(String);

impl Quantity {
    /// Work units that a processor does per second.
    pub const SPEED: Self = Self { name: "a speed", unit: "", least: 1e-9, most: 1e18 };
    /// Bandwidth of a link, in bytes per second.
    pub const BANDWIDTH: Self = Self { name: "a bandwidth", unit: " bytes a second", least: 1e-9, most: 1e18 };
    /// Seconds until the first byte of a transfer arrives, at most one year.
    pub const LATENCY: Self = Self { name: "a latency", unit: " s", least: 0.0, most: 31_536_000.0 };
    /// Number of floating-point operations of a task, or number of its bytes.
    pub const AMOUNT: Self = Self { name: "an amount", unit: "", least: 0.0, most: 1e30 };

    /// Returns the value if it is within the range.
    ///
    /// # Errors
    /// [`QuantityError`] states the range.
    pub fn check(self, value: f64) -> Result<f64, QuantityError> {
        if (self.least..=self.most).contains(&value) {
            return Ok(value);
        }
        let Self { name, unit, least, most } = self;
        let (value, least, most) = (ShortFloat(value), ShortFloat(least), ShortFloat(most));
        Err(QuantityError(format!(
            "{name} of {value}{unit} is out of range; write a value from {least} to \
             {most}{unit}"
        )))
    }
}

/// A float that is printed in few characters, such as `1e300`.
struct ShortFloat(f64);

impl fmt::Display for ShortFloat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = self.0 == 0.0 || (1e-3..1e9).contains(&self.0.abs());
        if plain { write!(f, "{}", self.0) } else { write!(f, "{:e}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_refused_exactly_beyond_its_range() {
        for quantity in [Quantity::SPEED, Quantity::BANDWIDTH, Quantity::LATENCY, Quantity::AMOUNT] {
            let Quantity { least, most, .. } = quantity;
            for good in [least, most, (least * most).sqrt()] {
                assert_eq!(quantity.check(good), Ok(good));
            }
            let beyond = [least.next_down(), most.next_up(), -1.0, -most, 1e300, f64::INFINITY, f64::NAN];
            assert!(beyond.iter().all(|&value| quantity.check(value).is_err()), "{quantity:?}");
        }
    }

    #[test]
    fn the_error_says_what_would_be_right() {
        let said = |quantity: Quantity, value| quantity.check(value).unwrap_err().to_string();
        let bandwidth = "a bandwidth of 1e300 bytes a second is out of range; write a value from 1e-9 to 1e18 bytes a \
                         second";
        assert_eq!(said(Quantity::BANDWIDTH, 1e300), bandwidth);
        assert_eq!(said(Quantity::SPEED, 0.0), "a speed of 0 is out of range; write a value from 1e-9 to 1e18");
        assert_eq!(
            said(Quantity::LATENCY, 4e7),
            "a latency of 40000000 s is out of range; write a value from 0 to 31536000 s"
        );
    }
}
