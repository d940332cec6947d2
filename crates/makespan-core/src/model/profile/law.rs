//! Times of a speed-up law, in integers.

use super::power;
use super::{ProfileError, SpeedupLaw, first_fitting};
use crate::model::{Area, Time};

/// A task's time on one processor, and the law by which the time falls on `min ..= max` processors. The time on n
/// processors is the time of the law, rounded up to a tick.
///
/// The parameters of the law are rounded once, when the [`Law`] is created. All further arithmetic is exact. So as n
/// grows, the time never rises, and the work before rounding up never falls. [`Law::time`] differs from the law in
/// real numbers by less than two ticks and one part in 2^50.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Law {
    pub(super) sequential: Time,
    pub(super) speedup: SpeedupLaw,
    pub(super) min: u32,
    pub(super) max: u32,
    pub(super) curve: Curve,
}

/// The time on n processors divided by the time on one, as a function of n.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// The maximum of three lines, which are linear functions of 1/n. At n = 1, the maximum is [`UNIT`].
    Lines([InverseLine; 3]),
    /// `n^-exponent` for an exponent from [`power::LEAST`] to 1.
    Power(f64),
}

/// The linear function `constant + shared / n` of 1/n. Both coefficients are in units of 2^-62.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct InverseLine {
    constant: u64,
    shared: u64,
}

const UNIT_BITS: u32 = 62;
const UNIT: u64 = 1 << UNIT_BITS;

impl InverseLine {
    fn new(constant: f64, shared: f64) -> Self {
        let units = |share: f64| ((share * UNIT as f64).round() as u64).min(UNIT);
        let constant = units(constant);
        Self { constant, shared: units(shared).min(UNIT - constant) }
    }

    /// Returns the line of Amdahl's law.
    fn serial(constant: f64) -> Self {
        Self::new(constant, 1.0)
    }

    /// Returns the value of the line on n processors, multiplied by n, in units of 2^-62.
    fn over(self, n: u32) -> u128 {
        u128::from(self.constant) * u128::from(n) + u128::from(self.shared)
    }
}

impl Law {
    /// # Errors
    /// [`ProfileError`] if the range is empty or a parameter is out of range.
    pub(super) fn new(sequential: Time, law: SpeedupLaw, min: u32, max: u32) -> Result<Self, ProfileError> {
        law.check()?;
        if min == 0 || min > max {
            return Err(ProfileError::Range { min, max });
        }
        Ok(Self { sequential, speedup: law, min, max, curve: Curve::of(law) })
    }

    fn ticks(&self) -> u128 {
        u128::from(self.sequential.ticks().unsigned_abs())
    }

    pub(super) fn time(&self, processors: u32) -> Time {
        let ticks = match &self.curve {
            Curve::Power(exponent) => power::ticks(self.sequential.ticks(), *exponent, processors),
            Curve::Lines(lines) => {
                let InverseLine { constant, shared } = highest(lines, processors);
                let shared = (self.ticks() * u128::from(shared)).div_ceil(u128::from(processors));
                (self.ticks() * u128::from(constant) + shared).div_ceil(u128::from(UNIT)) as i64
            }
        };
        Time::from_ticks(ticks)
    }

    /// Returns the minimum number of processors on which the task takes at most `deadline`.
    pub(super) fn min_allotment(&self, deadline: Time) -> Option<u32> {
        if deadline >= self.sequential {
            return Some(self.min);
        }
        match &self.curve {
            Curve::Power(exponent) => {
                let fits = |processors| self.time(processors) <= deadline;
                // Inverting the law in floats gives the allotment up to rounding errors. The search starts at this
                // value.
                let fraction = deadline.ticks() as f64 / self.sequential.ticks() as f64;
                let near = fraction.powf(-1.0 / exponent).ceil() as u32;
                fits(self.max).then(|| first_fitting(self.min, self.max, near.clamp(self.min, self.max), fits))
            }
            Curve::Lines(lines) => {
                let limit = u128::try_from(deadline.ticks()).ok()? << UNIT_BITS;
                let mut least = u128::from(self.min);
                for line in lines {
                    // Solves `sequential (constant + shared / n) <= limit` for n.
                    let rest = limit.checked_sub(self.ticks() * u128::from(line.constant))?;
                    let shared = self.ticks() * u128::from(line.shared);
                    if shared > 0 {
                        least = least.max(if rest == 0 { u128::MAX } else { shared.div_ceil(rest) });
                    }
                }
                u32::try_from(least).ok().filter(|&least| least <= self.max)
            }
        }
    }

    /// Returns a lower bound on the work of every allotment of at least `processors` processors. Proof: let x be the
    /// time before rounding up and t the time after. Then `q t(q) >= q x(q) >= p x(p)` for q >= p.
    pub(super) fn least_work(&self, processors: u32) -> Area {
        let p = u128::from(processors);
        match &self.curve {
            Curve::Power(exponent) => {
                power::least_work(self.sequential.ticks(), *exponent, processors, self.max).max(1)
            }
            Curve::Lines(lines) => {
                let InverseLine { constant, shared } = highest(lines, processors);
                let (ticks, unit) = (self.ticks(), u128::from(UNIT));
                let constant = ticks * u128::from(constant);
                let rest = (constant % unit * p + ticks * u128::from(shared)).div_ceil(unit);
                (constant / unit * p + rest) as Area
            }
        }
    }

    /// Returns an upper bound on the work of every allotment.
    pub(super) fn most_work(&self) -> Area {
        // For q < max, `q t(q) < q (x(q) + 1) <= max x(max) + max - 1`.
        self.time(self.max).area(self.max) + Area::from(self.max - 1)
    }

    /// Returns true if the work before rounding up never falls.
    pub(super) fn is_monotone(&self) -> bool {
        match self.curve {
            Curve::Lines(_) => true,
            // The work grows by (p + 1) x(p + 1) - p x(p) >= (1 - exponent) x(max). This must be at least the error,
            // (p + 1) 2^-24.
            Curve::Power(exponent) => {
                let shortest = self.sequential.ticks() as f64 * f64::from(self.max).powf(-exponent);
                (1.0 - exponent) * shortest >= f64::from(self.max) * 2_f64.powi(-22)
            }
        }
    }
}

/// Returns the line with the largest value on n processors.
fn highest(lines: &[InverseLine; 3], processors: u32) -> InverseLine {
    let [first, second, third] = *lines;
    let higher = |a: InverseLine, b: InverseLine| if b.over(processors) > a.over(processors) { b } else { a };
    higher(higher(first, second), third)
}

impl Curve {
    fn of(law: SpeedupLaw) -> Self {
        let none = InverseLine::default();
        match law {
            SpeedupLaw::Linear {} | SpeedupLaw::Power { exponent: 1.0 } => {
                Self::Lines([InverseLine::serial(0.0), none, none])
            }
            SpeedupLaw::Amdahl { serial } => Self::Lines([InverseLine::serial(serial), none, none]),
            // The error is less than one part in 2^50 on 2^32 processors.
            SpeedupLaw::Power { exponent } if exponent < power::LEAST => {
                Self::Lines([InverseLine::serial(1.0), none, none])
            }
            SpeedupLaw::Power { exponent } => Self::Power(exponent),
            // Each of Downey's cases is a linear function of 1/n. The slopes grow with 1/n, and adjacent lines meet
            // where one case changes to the next. So the law is the maximum of the lines.
            SpeedupLaw::Downey { parallelism: a, sigma } => {
                let end = InverseLine::new(1.0 / a, 0.0);
                if sigma <= 1.0 {
                    let middle = InverseLine::new((1.0 - sigma / 2.0) / a, sigma * (1.0 - 0.5 / a));
                    Self::Lines([InverseLine::serial(sigma / (2.0 * a)), middle, end])
                } else {
                    Self::Lines([InverseLine::serial(sigma / (a * (sigma + 1.0))), end, none])
                }
            }
        }
    }
}
