//! Speed-up laws: the time on `n` processors divided by the time on one.

use serde::{Deserialize, Serialize};

use super::ProfileError;

/// A law by which the time of a task falls as its number of processors n grows. S(n) is the speed-up: the time on one
/// processor divided by the time on n.
///
/// In real numbers, as n grows, the time never rises and the work never falls. [`super::Profile`] evaluates laws in
/// integers, so that the rounding of floats cannot violate these two properties.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpeedupLaw {
    /// `S(n) = n`.
    Linear {},
    /// `S(n) = 1 / (serial + (1 - serial) / n)` (Amdahl 1967, DOI 10.1145/1465482.1465560).
    Amdahl {
        /// The fraction of the work that cannot be divided among processors, in [0, 1].
        serial: f64,
    },
    /// `S(n) = n ^ exponent`.
    Power {
        /// The exponent, in [0, 1]. The value 1 gives the linear law.
        exponent: f64,
    },
    /// Downey's two-parameter model (Downey 1997, "A model for speedup of parallel programs", UCB/CSD-97-933).
    Downey {
        /// `A`: average parallelism, at least 1.
        parallelism: f64,
        /// `sigma`: coefficient of variance of the parallelism, at least 0; with 0, the speed-up is linear up to `A`
        /// processors.
        sigma: f64,
    },
}

impl SpeedupLaw {
    /// Checks that the parameters are within the ranges of the law.
    ///
    /// # Errors
    /// [`ProfileError::Law`] names the parameter and its range.
    pub fn check(self) -> Result<(), ProfileError> {
        let within = |name, value: f64, low: f64, high: f64, range| {
            // `contains` also rejects NaN, which is in no range.
            if (low..=high).contains(&value) { Ok(()) } else { Err(ProfileError::Law { name, value, range }) }
        };
        match self {
            Self::Linear {} => Ok(()),
            Self::Amdahl { serial } => within("serial", serial, 0.0, 1.0, "from 0 to 1"),
            Self::Power { exponent } => within("exponent", exponent, 0.0, 1.0, "from 0 to 1"),
            Self::Downey { parallelism, sigma } => {
                within("parallelism", parallelism, 1.0, 1e9, "from 1 to 1e9")?;
                within("sigma", sigma, 0.0, 1e9, "from 0 to 1e9")
            }
        }
    }

    /// Returns `1 / S(n)`: the time on `n >= 1` processors divided by the time on one, in (0, 1]. The value is a
    /// rounded float, so do not use it in proofs.
    pub fn time_fraction(self, processors: u32) -> f64 {
        let n = f64::from(processors);
        match self {
            Self::Linear {} => 1.0 / n,
            Self::Amdahl { serial } => serial + (1.0 - serial) / n,
            Self::Power { exponent } => n.powf(-exponent),
            // Downey's cases, each written as a constant plus a constant over n. In the last case, the speed-up is
            // `A`, its maximum. `max` ensures that rounding does not make the result of another case smaller than the
            // result of the last case.
            Self::Downey { parallelism: a, sigma } => {
                let fraction = if sigma <= 1.0 {
                    let half = sigma / (2.0 * a);
                    if n <= a {
                        half + (1.0 - half) / n
                    } else if n <= 2.0 * a - 1.0 {
                        (sigma * (a - 0.5) / n + (1.0 - sigma / 2.0)) / a
                    } else {
                        0.0
                    }
                } else if n <= a + a * sigma - sigma {
                    (sigma + (sigma * (a - 1.0) + a) / n) / (a * (sigma + 1.0))
                } else {
                    0.0
                };
                fraction.max(1.0 / a)
            }
        }
    }
}
