//! The search for prices with a large Lagrangian bound.

use super::Engine;
use super::costs::Intervals;
use super::energy::StartWindow;
use super::log::Log;
use super::prices::{Prices, SCALE};
use crate::complete::model::Model;
use crate::complete::supply::Supply;
use crate::complete::task::ModelTask;

/// The largest price of a certificate.
const MAX_PRICE: i64 = 1 << 36;

/// Searches for prices by subgradient steps (M. Held, R. M. Karp, DOI 10.1007/BF01584070).
pub(in crate::complete) struct Ascent {
    intervals: Intervals,
    prices: Vec<Vec<f64>>,
    value: f64,
    /// For each supply, the available area in each interval (amount times units of time).
    areas: Vec<Vec<f64>>,
}

impl Ascent {
    /// Returns a search that begins with all prices at zero.
    pub(in crate::complete) fn new(engine: &Engine) -> Self {
        let model = &engine.model;
        let intervals = Intervals::new(model);
        let prices = vec![vec![0.0; intervals.count()]; model.supplies.len()];
        let area = |supply: &Supply, number| {
            let (from, until) = intervals.bounds(number);
            supply.within(from, until) as f64
        };
        let areas = |supply: &Supply| (0..intervals.count()).map(|number| area(supply, number)).collect();
        Self { intervals, prices, value: f64::MIN, areas: model.supplies.iter().map(areas).collect() }
    }

    /// Returns a search in which each supply has the same price at all instants: the entry of `rates`, multiplied by a
    /// large number.
    pub(in crate::complete) fn with_prices(engine: &Engine, rates: &[f64]) -> Self {
        let mut ascent = Self::new(engine);
        let largest = rates.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let unit = most_price(&engine.model).min(1 << 24) as f64 / (largest * SCALE as f64);
        ascent.prices.iter_mut().zip(rates).for_each(|(line, rate)| line.fill(rate * unit));
        ascent
    }

    /// Returns the costs of all tasks at the best prices, and writes the prices to the log.
    ///
    /// Rounds prices to integers, in units of 1 / `SCALE`. Limits each price such that the sum of all costs fits into
    /// 64 bits.
    pub(in crate::complete) fn prices(&self, model: &Model, log: &mut Log) -> Prices {
        let most = most_price(model);
        let rounded = |price: &f64| ((price * SCALE as f64).round() as i64).min(most);
        let line = |line: &Vec<f64>| line.iter().map(rounded).collect();
        let prices: Vec<Vec<i64>> = self.prices.iter().map(line).collect();
        log.prices(&prices, |interval| {
            let (from, until) = self.intervals.bounds(interval);
            until - from
        });
        Prices::new(model, self.intervals, &prices)
    }

    /// Makes up to `steps` subgradient steps from the best prices. Each task takes the cheapest start in its current
    /// window. Returns true if the prices prove that no solution has a value of at most `engine.most`.
    pub(in crate::complete) fn improve(&mut self, engine: &Engine, steps: usize) -> bool {
        let model = &engine.model;
        let goal = engine.most as f64 + 1e-3;
        let intervals = self.intervals;
        let mut prices = self.prices.clone();
        let mut direction: Vec<Vec<f64>> = prices.iter().map(|line| vec![0.0; line.len()]).collect();
        let mut used = direction.clone();
        let mut until: Vec<Vec<f64>> = prices.iter().map(|line| vec![0.0; line.len() + 1]).collect();
        let mut paid = Vec::new();
        let (mut length, mut failures) = (1.0, 0);
        self.value = f64::MIN;
        for _ in 0..steps {
            for (line, until) in prices.iter().zip(&mut until) {
                let mut sum = 0.0;
                for (number, price) in line.iter().enumerate() {
                    let (from, end) = intervals.bounds(number);
                    sum += price * (end - from) as f64;
                    until[number + 1] = sum;
                }
            }
            used.iter_mut().for_each(|line| line.fill(0.0));
            let mut value = 0.0;
            for (task, of) in model.tasks.iter().enumerate() {
                let (cost, mode, start) = cheapest(of, engine.window(task), intervals, &until, &mut paid);
                value += cost;
                let end = start + of.times[mode];
                for (used, amounts) in used.iter_mut().zip(&of.amounts).filter(|one| one.1[mode] > 0) {
                    let mut at = start;
                    while at < end {
                        let number = intervals.of(at);
                        let next = intervals.bounds(number).1.min(end);
                        used[number] += amounts[mode] as f64 * (next - at) as f64;
                        at = next;
                    }
                }
            }
            for (line, areas) in prices.iter().zip(&self.areas) {
                value -= line.iter().zip(areas).map(|(price, area)| price * area).sum::<f64>();
            }
            if value > self.value + 1e-9 {
                failures = if value > self.value + 1e-4 * self.value.abs() { 0 } else { failures + 1 };
                self.value = value;
                self.prices.clone_from(&prices);
            } else {
                failures += 1;
            }
            if failures > 20 {
                (failures, length) = (0, length * 0.6);
                prices.clone_from(&self.prices);
            }
            if self.value > goal || length < 1e-4 {
                break;
            }
            let mut norm = 0.0;
            for ((line, direction), (used, areas)) in
                prices.iter().zip(&mut direction).zip(used.iter().zip(&self.areas))
            {
                for at in 0..line.len() {
                    let mut more = used[at] - areas[at];
                    if line[at] <= 0.0 {
                        more = more.max(0.0);
                    }
                    direction[at] = more + 0.6 * direction[at];
                    if line[at] <= 0.0 {
                        direction[at] = direction[at].max(0.0);
                    }
                    norm += direction[at] * direction[at];
                }
            }
            if norm == 0.0 {
                break;
            }
            let step = length * ((engine.most + 1) as f64 * 1.02 - value) / norm;
            for (line, direction) in prices.iter_mut().zip(&direction) {
                line.iter_mut().zip(direction).for_each(|(price, more)| *price = (*price + step * more).max(0.0));
            }
        }
        self.value > goal
    }
}

/// Returns the largest price with which the sum of all costs fits into 64 bits.
fn most_price(model: &Model) -> i64 {
    let amounts = model.supplies.iter().map(Supply::most).fold(1, i64::saturating_add);
    ((1 << 54) / model.last_end().max(1).saturating_mul(amounts)).min(MAX_PRICE)
}

/// Returns the least cost of a task in its window, with the mode and the start that have this cost. For each supply and
/// each interval, `until` contains the sum of the prices of all instants before the interval.
fn cheapest(
    task: &ModelTask,
    window: StartWindow,
    intervals: Intervals,
    until: &[Vec<f64>],
    paid: &mut Vec<f64>,
) -> (f64, usize, i64) {
    let mut best = (f64::MAX, window.first, window.earliest);
    for mode in window.first..=window.last {
        let time = task.times[mode];
        let latest = window.latest.min(task.latest[mode]);
        if latest < window.earliest {
            continue;
        }
        let (from, end) = (intervals.of(window.earliest), intervals.of(latest + time) + 2);
        let end = end.min(intervals.count() + 1);
        paid.clear();
        paid.resize(end - from, 0.0);
        for (until, amounts) in until.iter().zip(&task.amounts) {
            let amount = amounts[mode] as f64;
            if amount > 0.0 {
                paid.iter_mut().zip(&until[from..end]).for_each(|(paid, sum)| *paid += amount * sum);
            }
        }
        if intervals.length == 1 {
            for start in window.earliest..=latest {
                let at = start as usize - from;
                let cost = task.cost(start + time) as f64 + paid[at + time as usize] - paid[at];
                if cost < best.0 {
                    best = (cost, mode, start);
                }
            }
            continue;
        }
        let at = |instant: i64| {
            let number = intervals.of(instant);
            let Some(next) = paid.get(number + 1 - from) else { return paid[number - from] };
            let (begin, end) = intervals.bounds(number);
            let share = (instant - begin) as f64 / (end - begin).max(1) as f64;
            paid[number - from] + (next - paid[number - from]) * share
        };
        for start in intervals.starts((window.earliest, latest), time, task.free_until) {
            let cost = task.cost(start + time) as f64 + at(start + time) - at(start);
            if cost < best.0 {
                best = (cost, mode, start);
            }
        }
    }
    best
}
