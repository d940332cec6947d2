//! Improves prices by multiplicative updates: dearer where more is asked for than there is, cheaper where less.

use super::allotments::Jobs;
use super::function::Curve;

/// The Lagrangian dual of a few hundred or thousand jobs: prices in, bound and usage out.
pub(super) struct Dual {
    pub(super) jobs: Jobs,
    pub(super) curve: Curve,
    /// Open area of each interval between instants.
    pub(super) areas: Vec<f64>,
    /// How many jobs each of those in `jobs` stands for.
    pub(super) factor: f64,
}

const STEPS: usize = 300;
/// All allotments are tried, and the prices compared with the best ones, once in so many steps.
const REFRESH: usize = 10;
/// The first exponent of an update; it falls linearly to nothing.
const RATE: f64 = 0.7;
/// The share of the last step in the mean usage; single choices jump, their mean does not.
const USAGE_SHARE: f64 = 0.3;
/// The share of the last step in the mean prices, which are often better than each of them.
const PRICE_SHARE: f64 = 0.1;
/// No price falls below this share of the first one, so that it can recover.
const LEAST: f64 = 1e-9;

impl Dual {
    /// The best prices found, from `start` on, of a fixed number of steps.
    pub(super) fn improve(&mut self, start: &[f64]) -> Vec<f64> {
        let least = LEAST * start.iter().copied().fold(0.0, f64::max);
        let mut usage = vec![0.0; start.len()];
        let mut best = (self.evaluate(start, true, &mut usage), start.to_vec());
        if least <= 0.0 {
            return best.1;
        }
        let mut prices: Vec<f64> = start.iter().map(|&price| price.max(least)).collect();
        let mut averaged = prices.clone();
        let mut mean = self.areas.clone();
        for step in 0..STEPS {
            let refresh = step % REFRESH == 0;
            if refresh {
                // With the active allotments only, the value would be too high.
                let value = self.evaluate(&averaged, true, &mut usage);
                keep(&mut best, value, &averaged);
            }
            let value = self.evaluate(&prices, refresh, &mut usage);
            if refresh {
                keep(&mut best, value, &prices);
            }
            let rate = RATE * (1.0 - step as f64 / STEPS as f64);
            for index in 0..prices.len() {
                mean[index] += USAGE_SHARE * (usage[index] - mean[index]);
                // A closed interval is used by nobody when it is dear, and costs nothing to make so.
                let excess = (mean[index] - self.areas[index]) / self.areas[index].max(1.0);
                prices[index] = (prices[index] * (rate * excess.clamp(-1.0, 2.0)).exp()).max(least);
                averaged[index] += PRICE_SHARE * (prices[index] - averaged[index]);
            }
        }
        for last in [averaged, prices] {
            let value = self.evaluate(&last, true, &mut usage);
            keep(&mut best, value, &last);
        }
        best.1
    }

    /// The dual function, and for each interval what the minimising choices use of it.
    fn evaluate(&mut self, prices: &[f64], refresh: bool, usage: &mut [f64]) -> f64 {
        self.curve.set(prices);
        let costs = self.curve.evaluate(&mut self.jobs, refresh, usage);
        usage.iter_mut().for_each(|usage| *usage *= self.factor);
        let paid: f64 = prices.iter().zip(&self.areas).map(|(price, area)| price * area).sum();
        costs * self.factor - paid
    }
}

fn keep(best: &mut (f64, Vec<f64>), value: f64, prices: &[f64]) {
    if value > best.0 {
        best.0 = value;
        best.1.copy_from_slice(prices);
    }
}
