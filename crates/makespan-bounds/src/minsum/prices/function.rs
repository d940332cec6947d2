//! The Lagrangian function of the prices, in floating point.

use super::allotments::Jobs;

/// Prices that are constant between instants, with their integral.
pub(super) struct Curve {
    instants: Vec<f64>,
    prices: Vec<f64>,
    /// At each instant.
    integrals: Vec<f64>,
    /// Instants at which the price falls and those at which it rises, with the integral there.
    falls: Vec<(f64, f64)>,
    rises: Vec<(f64, f64)>,
}

/// What one job does at least cost.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    start: f64,
    allotment: usize,
}

impl Curve {
    pub(super) fn new(instants: Vec<f64>) -> Self {
        let count = instants.len();
        let (prices, integrals) = (vec![0.0; count], vec![0.0; count]);
        let (falls, rises) = (Vec::with_capacity(count), Vec::with_capacity(count));
        Self { instants, prices, integrals, falls, rises }
    }

    /// Sets the prices, one fewer than instants.
    pub(super) fn set(&mut self, prices: &[f64]) {
        self.prices[..prices.len()].copy_from_slice(prices);
        self.falls.clear();
        self.rises.clear();
        let (mut integral, mut before) = (0.0, 0.0);
        for index in 0..self.instants.len() {
            if index > 0 {
                integral += before * (self.instants[index] - self.instants[index - 1]);
            }
            self.integrals[index] = integral;
            let after = self.prices[index];
            if after < before {
                self.falls.push((self.instants[index], integral));
            } else if after > before {
                self.rises.push((self.instants[index], integral));
            }
            before = after;
        }
    }

    fn cursor(&self, instant: f64) -> usize {
        self.instants.partition_point(|&other| other <= instant)
    }

    fn advance(&self, cursor: &mut usize, instant: f64) -> f64 {
        while *cursor < self.instants.len() && self.instants[*cursor] <= instant {
            *cursor += 1;
        }
        match cursor.checked_sub(1) {
            Some(index) => self.integrals[index] + self.prices[index] * (instant - self.instants[index]),
            None => 0.0,
        }
    }

    /// The cheapest start of one allotment, if it is cheaper than `best`.
    #[inline]
    fn improve(&self, best: &mut Best, weight: f64, release: (f64, f64), shape: (f64, f64), allotment: usize) -> f64 {
        let ((release, before), (processors, time)) = (release, shape);
        let mut end = self.cursor(release + time);
        let price = self.advance(&mut end, release + time) - before;
        let mut least = (weight * (release + time) + processors * price, release);
        let from = self.falls.partition_point(|fall| fall.0 <= release);
        for &(start, before) in &self.falls[from..] {
            let waiting = weight * (start + time);
            if waiting >= least.0 {
                break;
            }
            let cost = waiting + processors * (self.advance(&mut end, start + time) - before);
            if cost < least.0 {
                least = (cost, start);
            }
        }
        let from = self.rises.partition_point(|rise| rise.0 <= release + time);
        if from < self.rises.len() {
            let mut begin = self.cursor(release);
            for &(end, after) in &self.rises[from..] {
                let waiting = weight * end;
                if waiting >= least.0 {
                    break;
                }
                let cost = waiting + processors * (after - self.advance(&mut begin, end - time));
                if cost < least.0 {
                    least = (cost, end - time);
                }
            }
        }
        if least.0 < best.cost {
            *best = Best { cost: least.0, start: least.1, allotment };
        }
        least.0
    }

    /// The least costs of the jobs together, and for each interval what the minimising choices use of it. Only the
    /// allotments that are active are tried; `refresh` tries all and makes those active that come near the best.
    pub(super) fn evaluate(&self, jobs: &mut Jobs, refresh: bool, usage: &mut [f64]) -> f64 {
        usage.fill(0.0);
        let mut total = 0.0;
        for index in 0..jobs.count() {
            let (weight, release) = (jobs.weights[index], jobs.releases[index]);
            let at_release = (release, self.advance(&mut self.cursor(release), release));
            let range = if refresh { jobs.all(index) } else { jobs.active(index) };
            let mut best = Best { cost: f64::INFINITY, start: release, allotment: range.start };
            for allotment in range.clone() {
                let shape = jobs.shapes[allotment];
                if !refresh && weight * (release + shape.1) >= best.cost {
                    continue;
                }
                let cost = self.improve(&mut best, weight, at_release, shape, allotment);
                if refresh {
                    jobs.costs[allotment - range.start] = cost;
                }
            }
            if refresh {
                jobs.activate(index, best.cost);
            }
            let tasks = jobs.tasks[index];
            total += tasks * best.cost;
            let (processors, time) = jobs.shapes[best.allotment];
            self.charge((tasks * processors, time), best.start, usage);
        }
        total
    }

    /// Adds the run to what is used of each interval.
    fn charge(&self, (processors, time): (f64, f64), start: f64, usage: &mut [f64]) {
        let end = start + time;
        let first = self.cursor(start).saturating_sub(1);
        for (pair, usage) in self.instants[first..].windows(2).zip(&mut usage[first..]) {
            if pair[0] >= end {
                break;
            }
            *usage += processors * (end.min(pair[1]) - start.max(pair[0])).max(0.0);
        }
    }
}
