//! Maximises a dual function: a concave function of prices. The value of the function at any prices is a lower bound.
//! The gradient steps are as in Adam, on a smoothed form of the function.
//!
//! Source: D. P. Kingma, J. Ba, "Adam", ICLR 2015, arXiv 1412.6980. Deviation: the smoothing width decreases from step
//! to step.

/// Parameters of an ascent.
pub(crate) struct AscentParameters {
    /// The factors by which two means decay in each step: the mean gradient, and the mean squared gradient (`beta_1`
    /// and `beta_2` of the source).
    pub kept: (f64, f64),
    /// The step lengths of the first and the last step, as fractions of a typical price.
    pub length: (f64, f64),
    /// The smoothing widths of the first and the last step, as fractions of a typical cost.
    pub width: (f64, f64),
}

/// The current prices of an ascent, and the best prices so far. Prices are never negative.
pub(crate) struct Ascent {
    pace: AscentParameters,
    /// A typical price. The step length is a multiple of this price.
    price: f64,
    /// A typical cost. The smoothing width is a multiple of this cost.
    cost: f64,
    prices: Vec<f64>,
    mean: Vec<f64>,
    square: Vec<f64>,
    steps: i32,
    best: (f64, Vec<f64>),
}

impl Ascent {
    /// Returns an ascent that starts at `prices`. `price` and `cost` are a typical price and a typical cost.
    pub fn new(pace: AscentParameters, prices: Vec<f64>, (price, cost): (f64, f64)) -> Self {
        let zeros = vec![0.0; prices.len()];
        let best = (f64::NEG_INFINITY, prices.clone());
        Self { pace, price, cost, prices, mean: zeros.clone(), square: zeros, steps: 0, best }
    }

    /// Returns the prices that the caller should evaluate next.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Raises some prices and lowers others such that no price is above the price before it. Changes the sum of squared
    /// differences as little as possible (pool adjacent violators; M. Ayer et al., Ann. Math. Stat. 26(4), 1955, DOI
    /// 10.1214/aoms/1177728423).
    pub fn flatten_rises(&mut self) {
        // Runs of equal prices: the sum of the prices of a run, and their number.
        let mut runs: Vec<(f64, usize)> = Vec::with_capacity(self.prices.len());
        for &price in &self.prices {
            let mut run = (price, 1);
            while let Some(last) = runs.pop_if(|last| last.0 * run.1 as f64 <= run.0 * last.1 as f64) {
                run = (run.0 + last.0, run.1 + last.1);
            }
            runs.push(run);
        }
        let each = runs.iter().flat_map(|&(sum, count)| std::iter::repeat_n(sum / count as f64, count));
        self.prices.iter_mut().zip(each).for_each(|(price, flat)| *price = flat);
    }

    /// Returns the prices with the largest bound so far.
    pub fn best(&self) -> &[f64] {
        &self.best.1
    }

    /// Returns the smoothing width after the fraction `done` of all steps.
    pub fn width(&self, done: f64) -> f64 {
        between(self.pace.width, done) * self.cost
    }

    /// Moves the prices along `rise`, the gradient of the bound. `value` is the bound at the current prices. The step
    /// of the price with index i is `part(i)` times the step length. `done` is the completed fraction of the ascent,
    /// from 0 to 1.
    pub fn step<'r>(
        &mut self,
        done: f64,
        value: f64,
        rise: impl Iterator<Item = &'r f64>,
        part: impl Fn(usize) -> f64,
    ) {
        if value > self.best.0 {
            self.best = (value, self.prices.clone());
        }
        self.steps += 1;
        let length = between(self.pace.length, done) * self.price;
        let (mean, square) = self.pace.kept;
        let (mean_share, square_share) = (1.0 - mean.powi(self.steps), 1.0 - square.powi(self.steps));
        for (at, rise) in rise.enumerate() {
            self.mean[at] = mean * self.mean[at] + (1.0 - mean) * rise;
            self.square[at] = square * self.square[at] + (1.0 - square) * rise * rise;
            let size = (self.square[at] / square_share).sqrt().max(1e-12);
            self.prices[at] = (self.prices[at] + length * part(at) * self.mean[at] / mean_share / size).max(0.0);
        }
    }
}

fn between((from, to): (f64, f64), done: f64) -> f64 {
    from * (to / from).powf(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_that_rise_are_replaced_by_their_mean() {
        let pace = AscentParameters { kept: (0.8, 0.95), length: (0.1, 0.1), width: (0.1, 0.1) };
        let mut ascent = Ascent::new(pace, vec![2.0, 4.0, 3.0, 5.0, 1.0, 1.5], (1.0, 1.0));
        ascent.flatten_rises();
        assert_eq!(ascent.prices(), [3.5, 3.5, 3.5, 3.5, 1.25, 1.25]);
    }
}
