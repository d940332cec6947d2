//! Random durations.

use makespan_core::Time;
use rand::{Rng, RngExt};

use super::FailureModelError;

/// A Weibull distribution of durations. With shape 1, the distribution is exponential. On real machines, the times
/// between failures fit distributions with shapes of 0.7 to 0.8. With these shapes, failures often occur in close
/// succession. Source: B. Schroeder and G. A. Gibson, "A large-scale study of failures in high-performance computing
/// systems", DSN 2006, 10.1109/DSN.2006.5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lifetime {
    mean: Time,
    shape: f64,
    /// Scale parameter of the distribution in ticks: the mean divided by `gamma(1 + 1 / shape)`.
    scale: f64,
}

impl Lifetime {
    /// Returns an exponential distribution with this mean. An exponential distribution is memoryless: the past does
    /// not influence the remaining time.
    ///
    /// # Errors
    /// [`FailureModelError`] if the mean is not positive.
    pub fn exponential(mean: Time) -> Result<Self, FailureModelError> {
        Self::weibull(mean, 1.0)
    }

    /// Returns a distribution with this mean and shape. Below shape 1, durations are either short or very long. With a
    /// shape far above 1, all durations are close to the mean.
    ///
    /// # Errors
    /// [`FailureModelError`] if the mean is not positive, or the shape is not from 0.1 to 100.
    pub fn weibull(mean: Time, shape: f64) -> Result<Self, FailureModelError> {
        if mean <= Time::ZERO {
            return Err(FailureModelError::Mean(mean));
        }
        if !(0.1..=100.0).contains(&shape) {
            return Err(FailureModelError::Shape(shape));
        }
        Ok(Self { mean, shape, scale: mean.ticks() as f64 / libm::tgamma(1.0 + 1.0 / shape) })
    }

    /// Returns the mean duration.
    pub fn mean(self) -> Time {
        self.mean
    }

    /// Returns the shape of the Weibull distribution.
    pub fn shape(self) -> f64 {
        self.shape
    }

    /// Draws a duration of at least one tick by inverting the distribution function. The functions in the computation
    /// return identical bits on every machine.
    pub fn draw(self, random: &mut impl Rng) -> Time {
        let uniform: f64 = random.random();
        let ticks = self.scale * libm::pow(-libm::log1p(-uniform), 1.0 / self.shape);
        // If the float is beyond the range of integers, the cast returns the largest integer.
        Time::from_ticks((ticks as i64).max(1))
    }
}
