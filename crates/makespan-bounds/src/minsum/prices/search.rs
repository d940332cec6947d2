//! Improves prices by multiplicative updates: dearer where more is asked for than there is, cheaper where less.

use super::allotments::Jobs;
use super::function::Curve;

/// The Lagrangian dual of a few hundred or thousand jobs: prices in, bound and usage out.
pub(super) struct Dual {
    jobs: Jobs,
    curve: Curve,
    /// Open area of each interval between instants.
    areas: Vec<f64>,
    /// How many jobs each of those in `jobs` stands for.
    factor: f64,
    prices: Vec<f64>,
    /// Running mean of the prices.
    averaged: Vec<f64>,
    /// Running mean of the usage.
    mean: Vec<f64>,
    usage: Vec<f64>,
    least: f64,
    steps: usize,
    best: (f64, Vec<f64>),
}

/// All allotments are tried, and the prices compared with the best ones, once in so many steps.
const REFRESH: usize = 10;
/// The first exponent of an update; it falls to a half in `HALVED` steps, to a third in twice as many, and so on.
const RATE: f64 = 0.7;
const HALVED: f64 = 60.0;
/// The share of the last step in the mean usage; single choices jump, their mean does not.
const USAGE_SHARE: f64 = 0.3;
/// The share of the last step in the mean prices, which are often better than each of them.
const PRICE_SHARE: f64 = 0.1;
/// No price falls below this share of the first one, so that it can recover.
const LEAST: f64 = 1e-9;

impl Dual {
    pub(super) fn new(jobs: Jobs, curve: Curve, areas: Vec<f64>, factor: f64, start: &[f64]) -> Self {
        let least = LEAST * start.iter().copied().fold(0.0, f64::max);
        let prices: Vec<f64> = start.iter().map(|&price| price.max(least)).collect();
        let usage = vec![0.0; start.len()];
        let best = (f64::NEG_INFINITY, start.to_vec());
        let (averaged, mean) = (prices.clone(), areas.clone());
        let mut dual = Self { jobs, curve, areas, factor, prices, averaged, mean, usage, least, steps: 0, best };
        dual.keep(start);
        dual
    }

    /// The best prices so far.
    pub(super) fn best(&self) -> &[f64] {
        &self.best.1
    }

    /// One update.
    pub(super) fn step(&mut self) {
        if self.least <= 0.0 {
            return;
        }
        let refresh = self.steps.is_multiple_of(REFRESH);
        if refresh {
            // With the active allotments only, the value would be too high.
            self.keep(&self.averaged.clone());
        }
        let prices = self.prices.clone();
        let value = self.evaluate(&prices, refresh);
        if refresh && value > self.best.0 {
            self.best = (value, prices);
        }
        let rate = RATE / (1.0 + self.steps as f64 / HALVED);
        for index in 0..self.prices.len() {
            self.mean[index] += USAGE_SHARE * (self.usage[index] - self.mean[index]);
            // A closed interval is used by nobody when it is dear, and costs nothing to make so.
            let excess = (self.mean[index] - self.areas[index]) / self.areas[index].max(1.0);
            self.prices[index] = (self.prices[index] * (rate * excess.clamp(-1.0, 2.0)).exp()).max(self.least);
            self.averaged[index] += PRICE_SHARE * (self.prices[index] - self.averaged[index]);
        }
        self.steps += 1;
    }

    fn keep(&mut self, prices: &[f64]) {
        let value = self.evaluate(prices, true);
        if value > self.best.0 {
            self.best = (value, prices.to_vec());
        }
    }

    /// The dual function, and for each interval what the minimising choices use of it.
    fn evaluate(&mut self, prices: &[f64], refresh: bool) -> f64 {
        self.curve.set(prices);
        let costs = self.curve.evaluate(&mut self.jobs, refresh, &mut self.usage);
        self.usage.iter_mut().for_each(|usage| *usage *= self.factor);
        let paid: f64 = prices.iter().zip(&self.areas).map(|(price, area)| price * area).sum();
        costs * self.factor - paid
    }
}
