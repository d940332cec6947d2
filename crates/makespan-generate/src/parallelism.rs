//! Calculates the run times of a job on each number of processors from its run time on one processor.

use makespan_core::{SpeedupLaw, Time};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Normal};

/// Kind of speed-up of a job in the recursive model of the paper. The kind determines the distribution of the random
/// variable X.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parallelism {
    /// Speed-up close to 1: X ~ N(0.9, 0.2).
    Weak,
    /// Speed-up close to linear: X ~ N(0.1, 0.2).
    High,
}

/// Returns the run times of the paper's model: `p(j) = p(j-1) (X + j) / (1 + j)`. For each j, values of X are drawn
/// until one is within [0, 1].
///
/// The code uses the printed formula, with p(j) as the run time on j processors. So X = 1 means no speed-up, and X = 0
/// means the largest, nearly linear speed-up. If p(j) were the run time on j + 1 processors, X = 0 would mean exactly
/// linear speed-up. But then the makespan ratios of the highly parallel jobs would be about 0.1 lower. The paper swaps
/// the labels of the two kinds. X near 0.9 gives almost no speed-up, so the *weakly* parallel jobs have this X.
pub(super) fn recursive(sequential: f64, parallelism: Parallelism, processors: u32, random: &mut impl Rng) -> Vec<f64> {
    let centre = match parallelism {
        Parallelism::Weak => 0.9,
        Parallelism::High => 0.1,
    };
    let mut times = vec![sequential];
    let mut time = sequential;
    for count in 2..=processors {
        let x = redrawn(centre, 0.2, random, |x| (0.0..=1.0).contains(&x));
        time *= (x + f64::from(count)) / (1.0 + f64::from(count));
        times.push(time);
    }
    times
}

/// Returns the run times on 1, 2, 3, ... processors by Downey's law. The average parallelism is log-uniform on [1,
/// processors], and sigma is uniform on [0, 2]. These distributions are our choice.
pub(super) fn downey(sequential: f64, processors: u32, random: &mut impl Rng) -> Vec<f64> {
    let parallelism = f64::from(processors).powf(random.random_range(0.0..=1.0)).max(1.0);
    let law = SpeedupLaw::Downey { parallelism, sigma: random.random_range(0.0..=2.0) };
    (1..=processors).map(|count| sequential * law.time_fraction(count)).collect()
}

/// Returns a Gaussian value in seconds, drawn again until it is at least a millisecond. Without this limit, some of the
/// paper's small jobs would have negative times.
pub(super) fn positive_gaussian(mean: f64, deviation: f64, random: &mut impl Rng) -> f64 {
    redrawn(mean, deviation, random, |value| value >= 1e-3)
}

fn redrawn(mean: f64, deviation: f64, random: &mut impl Rng, accept: impl Fn(f64) -> bool) -> f64 {
    let gaussian = Normal::new(mean, deviation).expect("the deviations of this module are finite");
    loop {
        let value = gaussian.sample(random);
        if accept(value) {
            return value;
        }
    }
}

/// Rounds run times to whole ticks. With each additional processor, the rounded time of the job does not increase, and
/// its work (processors times rounded time) does not decrease.
///
/// With linear speed-up, rounding to the nearest tick could make the work smaller by up to half a tick per processor.
/// But the guarantee of the dual approximation requires `k t(k) >= (k-1) t(k-1)` exactly.
pub(super) fn rounded(exact: &[f64]) -> Vec<Time> {
    let mut times: Vec<Time> = Vec::with_capacity(exact.len());
    for (index, &seconds) in exact.iter().enumerate() {
        let nearest = ((seconds * Time::TICKS_PER_SECOND as f64).round() as i64).max(1);
        let ticks = times.last().map_or(nearest, |previous| {
            let (before, processors) = (index as i128, index as i128 + 1);
            let least = (before * i128::from(previous.ticks()) + before) / processors;
            nearest.max(least as i64).min(previous.ticks())
        });
        times.push(Time::from_ticks(ticks));
    }
    times
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rounding_keeps_times_and_work_monotone(steps in prop::collection::vec(0.0..=1.0_f64, 1..60), first in 1e-8..10.0_f64) {
            let mut exact = vec![first];
            for (index, x) in steps.iter().enumerate() {
                let before = index as f64 + 1.0;
                exact.push(exact[index] * (x + before) / (1.0 + before));
            }
            let times = rounded(&exact);
            for (index, pair) in times.windows(2).enumerate() {
                prop_assert!(pair[1] <= pair[0]);
                prop_assert!(pair[1].area(index as u32 + 2) >= pair[0].area(index as u32 + 1));
            }
            for (time, exact) in times.iter().zip(&exact) {
                prop_assert!((time.seconds() - exact).abs() < 3e-9, "{} is far from {}", time, exact);
            }
        }
    }

    #[test]
    fn a_linear_speed_up_stays_linear_to_the_tick() {
        let exact: Vec<f64> = (1..=7).map(|count| 1.0 / f64::from(count)).collect();
        let ticks: Vec<i64> = rounded(&exact).iter().map(|time| time.ticks()).collect();
        assert_eq!(
            ticks,
            [1_000_000_000, 500_000_000, 333_333_334, 250_000_001, 200_000_001, 166_666_668, 142_857_144]
        );
    }
}
