//! Random real times that differ from the estimates.

use makespan_core::Actual;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use thiserror::Error;

/// A constant that is combined with the seed, so that the factors are independent of other random numbers with this
/// seed.
const OWN: u64 = 0xD0A1_7E57_1A7E_D0C5;

/// The deviation of real times from estimates. The real time of a task is its estimate multiplied by a random factor
/// of the task.
///
/// Factors are log-normal with mean 1 and the given standard deviation. So the mean of the real times is the estimate,
/// and no real time is zero. A real time far above the estimate is more likely than a real time far below it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    deviation: f64,
    seed: u64,
}

/// The standard deviation is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "the deviation is {0}; it must be above 0 and at most 10: for example, 0.3 is a standard deviation of 30 % of each estimate"
)]
pub struct DeviationError(f64);

impl Deviation {
    /// Returns a deviation with this standard deviation, as a fraction of the estimate.
    ///
    /// # Errors
    /// [`DeviationError`] if the standard deviation is not above 0 or is above 10.
    pub fn new(deviation: f64, seed: u64) -> Result<Self, DeviationError> {
        if deviation > 0.0 && deviation <= 10.0 { Ok(Self { deviation, seed }) } else { Err(DeviationError(deviation)) }
    }

    /// Draws the factors of `tasks` tasks. Each factor depends only on the seed and the task. The functions from
    /// `libm` return identical bits on every machine.
    pub fn draw(self, tasks: usize) -> Actual {
        let variance = libm::log1p(self.deviation * self.deviation);
        let factor = |index: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ OWN);
            random.set_stream(index as u64);
            let (first, second): (f64, f64) = (random.random(), random.random());
            // Apply the transformation of Box and Muller, The Annals of Mathematical Statistics 29(2), 1958.
            let normal = libm::sqrt(-2.0 * libm::log1p(-first)) * libm::cos(2.0 * std::f64::consts::PI * second);
            let factor = libm::exp(libm::sqrt(variance) * normal - variance / 2.0);
            (factor * 1e6).round().max(1.0) as u64
        };
        Actual::Factors((0..tasks).map(factor).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn factors(deviation: f64, seed: u64, tasks: usize) -> Vec<u64> {
        match Deviation::new(deviation, seed).unwrap().draw(tasks) {
            Actual::Factors(factors) => factors,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn factors_have_mean_one_and_the_stated_deviation() {
        for deviation in [0.1, 0.3, 1.0] {
            let count = 40_000;
            let all: Vec<f64> = factors(deviation, 7, count).iter().map(|&factor| factor as f64 / 1e6).collect();
            let mean = all.iter().sum::<f64>() / count as f64;
            let variance = all.iter().map(|factor| (factor - mean).powi(2)).sum::<f64>() / count as f64;
            assert!((mean - 1.0).abs() < 0.03 * deviation, "{deviation}: {mean}");
            assert!((variance.sqrt() / deviation - 1.0).abs() < 0.06, "{deviation}: {}", variance.sqrt());
        }
    }

    #[test]
    fn a_factor_depends_on_the_seed_and_the_task_alone() {
        assert_eq!(factors(0.3, 1, 9)[..4], factors(0.3, 1, 4));
        assert_ne!(factors(0.3, 1, 4), factors(0.3, 2, 4));
        let mut distinct = factors(0.3, 1, 9);
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 9);
    }

    #[test]
    fn deviations_that_are_none_are_refused() {
        for wrong in [0.0, -0.3, 10.5, f64::NAN, f64::INFINITY] {
            let told = Deviation::new(wrong, 1).unwrap_err().to_string();
            assert!(told.contains("above 0 and at most 10"), "{told}");
        }
    }
}
