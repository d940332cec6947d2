//! Prices for amounts at each instant. At these prices, each task has a least cost, and the sum of all costs less the
//! price of all amounts is a lower bound (Lagrangian duality).

use super::energy::StartWindow;
use super::{Engine, Literal, Propagated, Step};
use crate::complete::model::{Model, ModelTask, Supply};

/// The unit of prices: this part of the unit of the objective.
pub(in crate::complete) const SCALE: i64 = 1024;
/// The number of starts whose least cost is stored together.
const BLOCK: usize = 32;
/// The cost of a task that cannot start.
const NEVER: i64 = i64::MAX / 4;
/// Maximum number of costs of all tasks in all modes at all starts.
const MAX_COSTS: i64 = 2_000_000;

/// The costs of all tasks at some prices.
#[derive(Default)]
pub(in crate::complete) struct Prices {
    /// For each task and mode, the cost of each start from the task's head on.
    costs: Vec<Vec<Costs>>,
    heads: Vec<i64>,
    /// The price of all amounts.
    sold: i64,
}

struct Costs {
    of_starts: Vec<i64>,
    of_blocks: Vec<i64>,
}

impl Costs {
    fn new(of_starts: Vec<i64>) -> Self {
        let of_blocks = of_starts.chunks(BLOCK).map(|block| block.iter().copied().min().unwrap_or(NEVER)).collect();
        Self { of_starts, of_blocks }
    }

    /// Returns the least cost of the starts from `from` to `end`, not included.
    fn least(&self, from: usize, end: usize) -> i64 {
        let end = end.min(self.of_starts.len());
        if from >= end {
            return NEVER;
        }
        let least = |costs: &[i64]| costs.iter().copied().min().unwrap_or(NEVER);
        let (first, last) = (from.div_ceil(BLOCK), end / BLOCK);
        if first >= last {
            return least(&self.of_starts[from..end]);
        }
        let ends = least(&self.of_starts[from..first * BLOCK]).min(least(&self.of_starts[last * BLOCK..end]));
        ends.min(least(&self.of_blocks[first..last]))
    }
}

/// Sums of prices: for each supply, the sum of the prices of all instants before each instant.
fn sums<T: Copy + Default + std::ops::Add<Output = T>>(prices: &[Vec<T>]) -> Vec<Vec<T>> {
    let sum = |line: &Vec<T>| {
        let mut total = T::default();
        let later = line.iter().map(|&price| {
            total = total + price;
            total
        });
        std::iter::once(T::default()).chain(later).collect()
    };
    prices.iter().map(sum).collect()
}

impl Prices {
    /// Returns whether prices for each instant are small enough.
    pub(in crate::complete) fn are_meant(model: &Model) -> bool {
        let starts = |task: &ModelTask| {
            task.latest.iter().map(|latest| (latest - task.head + 1).max(0)).fold(0, i64::saturating_add)
        };
        let weight = model.tasks.iter().map(|task| task.weight).max().unwrap_or(0);
        let all = model.tasks.iter().map(starts).fold(0, i64::saturating_add);
        let cells = model.last_end().saturating_mul(model.supplies.len() as i64);
        let largest = weight.saturating_mul(model.last_end()).saturating_mul(SCALE);
        all.max(cells) <= MAX_COSTS && largest < i64::MAX / (1 << 24)
    }

    /// Returns the costs of all tasks. `prices` contains the price of each supply at each instant up to the last end.
    pub(in crate::complete) fn new(model: &Model, prices: &[Vec<i64>]) -> Self {
        let until = sums(prices);
        let costs = |task: &ModelTask| {
            let in_mode = |mode: usize| {
                let time = task.times[mode];
                let cost = |start: i64| {
                    let (from, end) = (start as usize, (start + time) as usize);
                    let paid = until
                        .iter()
                        .zip(&task.amounts)
                        .map(|(until, amounts)| amounts[mode] * (until[end] - until[from]));
                    SCALE * task.weight * (start + time) + paid.sum::<i64>()
                };
                Costs::new((task.head..=task.latest[mode]).map(cost).collect())
            };
            (0..task.modes()).map(in_mode).collect()
        };
        let sold = |(supply, line): (&Supply, &Vec<i64>)| {
            line.iter().zip(0..).map(|(price, at)| price * supply.at(at)).sum::<i64>()
        };
        Self {
            costs: model.tasks.iter().map(costs).collect(),
            heads: model.tasks.iter().map(|task| task.head).collect(),
            sold: model.supplies.iter().zip(prices).map(sold).sum(),
        }
    }

    fn least(&self, task: usize, window: StartWindow) -> i64 {
        let from = (window.earliest - self.heads[task]).max(0) as usize;
        let end = (window.latest - self.heads[task] + 1).max(0) as usize;
        let modes = self.costs[task][window.first..=window.last].iter();
        modes.map(|costs| costs.least(from, end)).min().unwrap_or(NEVER)
    }
}

/// Returns the number of leading costs that are at least `room`, and the least of these costs.
fn leading(costs: impl Iterator<Item = i64>, room: i64) -> (i64, i64) {
    costs.take_while(|&cost| cost >= room).fold((0, NEVER), |(count, low), cost| (count + 1, low.min(cost)))
}

impl Engine {
    pub(in crate::complete) fn by_prices(&mut self, number: usize) -> Propagated {
        let prices = std::mem::take(&mut self.prices[number]);
        let result = self.by(&prices, number as u8);
        self.prices[number] = prices;
        result
    }

    fn by(&mut self, prices: &Prices, number: u8) -> Propagated {
        let least: Vec<i64> = (0..self.tasks()).map(|task| prices.least(task, self.window(task))).collect();
        let total = least.iter().sum::<i64>() - prices.sold;
        let needed = SCALE * self.most + 1;
        if total >= needed {
            let mut premises = Vec::new();
            self.costly_because(prices, None, &least, total - needed, &mut premises);
            return self.fail(premises, Step::Prices { prices: number });
        }
        for task in 0..self.tasks() {
            // A cost of at least `room` contradicts the claim.
            let room = needed - (total - least[task]);
            let cut = Cut { prices, number, task, room, least: &least };
            self.cut_starts(cut)?;
            if self.first_mode(task) < self.last_mode(task) {
                self.cut_first_modes(cut)?;
                self.cut_last_modes(cut)?;
            }
        }
        Ok(())
    }

    fn cut_starts(&mut self, cut: Cut) -> Propagated {
        let Cut { prices, task, room, .. } = cut;
        let window = self.window(task);
        if window.earliest == window.latest && window.first == window.last {
            return Ok(());
        }
        let cost = |start: i64| prices.least(task, StartWindow { earliest: start, latest: start, ..window });
        let (count, low) = leading((window.earliest..=window.latest).map(cost), room);
        if count > 0 {
            let mut premises = vec![Literal::start_at_least(task, window.earliest)];
            premises.extend(self.mode_literals(task));
            self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
            self.set(Literal::start_at_least(task, window.earliest + count), &premises, cut.step(0))?;
        }
        let (count, low) = leading((window.earliest + count..=window.latest).rev().map(cost), room);
        if count > 0 {
            let mut premises = vec![Literal::start_at_most(task, window.latest)];
            premises.extend(self.mode_literals(task));
            self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
            self.set(Literal::start_at_most(task, window.latest - count), &premises, cut.step(1))?;
        }
        Ok(())
    }

    fn cut_first_modes(&mut self, cut: Cut) -> Propagated {
        let Cut { prices, task, room, .. } = cut;
        let window = self.window(task);
        let cost = |mode: usize| prices.least(task, StartWindow { first: mode, last: mode, ..window });
        let (count, low) = leading((window.first..window.last).map(cost), room);
        if count == 0 {
            return Ok(());
        }
        let mut premises = vec![
            Literal::start_at_least(task, window.earliest),
            Literal::start_at_most(task, window.latest),
            Literal::mode_at_least(task, window.first),
        ];
        self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
        self.set(Literal::mode_at_least(task, window.first + count as usize), &premises, cut.step(2))
    }

    fn cut_last_modes(&mut self, cut: Cut) -> Propagated {
        let Cut { prices, task, room, .. } = cut;
        let window = self.window(task);
        let cost = |mode: usize| prices.least(task, StartWindow { first: mode, last: mode, ..window });
        let (count, low) = leading((window.first + 1..=window.last).rev().map(cost), room);
        if count == 0 {
            return Ok(());
        }
        let mut premises = vec![
            Literal::start_at_least(task, window.earliest),
            Literal::start_at_most(task, window.latest),
            Literal::mode_at_most(task, window.last as i64),
        ];
        self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
        self.set(Literal::mode_at_most(task, window.last as i64 - count), &premises, cut.step(3))
    }

    /// Adds premises for the least costs of tasks other than `except`, less `spare`.
    fn costly_because(
        &self,
        prices: &Prices,
        except: Option<usize>,
        least: &[i64],
        mut spare: i64,
        premises: &mut Vec<Literal>,
    ) {
        let gain = |task: usize| (least[task] - prices.least(task, self.root_window(task)), task);
        let mut gains: Vec<_> = (0..self.tasks()).filter(|&task| Some(task) != except).map(gain).collect();
        gains.sort_unstable();
        for (gain, task) in gains {
            if gain <= spare {
                spare -= gain;
            } else {
                // The window has become smaller since the cost was computed. Its literals imply at least this cost.
                let now = prices.least(task, self.window(task));
                let mut more = spare + (now - least[task]);
                self.weakest(task, now, &mut more, |window| prices.least(task, window), premises);
                spare = spare.min(more);
            }
        }
    }
}

/// A task whose expensive starts and modes are removed.
#[derive(Clone, Copy)]
struct Cut<'a> {
    prices: &'a Prices,
    number: u8,
    task: usize,
    room: i64,
    /// The least cost of each task.
    least: &'a [i64],
}

impl Cut<'_> {
    fn step(&self, kind: u8) -> Step {
        Step::Priced { prices: self.number, task: self.task as u32, kind }
    }
}

/// The largest price of a certificate.
const MAX_PRICE: i64 = 1 << 36;

/// Searches for prices by subgradient steps (M. Held, R. M. Karp, DOI 10.1007/BF01584070).
pub(in crate::complete) struct Ascent {
    prices: Vec<Vec<f64>>,
    value: f64,
}

impl Ascent {
    /// All prices are zero.
    pub(in crate::complete) fn new(engine: &Engine) -> Self {
        let end = engine.model.last_end().max(0) as usize;
        Self { prices: vec![vec![0.0; end]; engine.model.supplies.len()], value: f64::MIN }
    }

    /// Returns the prices in whole units.
    ///
    /// Prices are limited, so that the sum of all costs fits into 64 bits.
    pub(in crate::complete) fn rounded(&self, model: &Model) -> Vec<Vec<i64>> {
        let amounts = model.supplies.iter().map(Supply::most).fold(1, i64::saturating_add);
        let most = ((1 << 54) / model.last_end().max(1).saturating_mul(amounts)).min(MAX_PRICE);
        let rounded = |price: &f64| ((price * SCALE as f64).round() as i64).min(most);
        let line = |line: &Vec<f64>| line.iter().map(rounded).collect();
        self.prices.iter().map(line).collect()
    }

    /// Makes up to `steps` steps from the best prices, over the windows that are left. Returns true if these prices
    /// refute the claim.
    pub(in crate::complete) fn improve(&mut self, engine: &Engine, steps: usize) -> bool {
        let model = &engine.model;
        let goal = engine.most as f64 + 1e-3;
        let mut prices = self.prices.clone();
        let mut direction: Vec<Vec<f64>> = prices.iter().map(|line| vec![0.0; line.len()]).collect();
        let (mut length, mut failures) = (1.0, 0);
        self.value = f64::MIN;
        for _ in 0..steps {
            let until = sums(&prices);
            let mut used: Vec<Vec<f64>> = until.iter().map(|line| vec![0.0; line.len()]).collect();
            let mut value = 0.0;
            for (task, of) in model.tasks.iter().enumerate() {
                let (cost, mode, start) = cheapest(of, engine.window(task), &until);
                value += cost;
                for (used, amounts) in used.iter_mut().zip(&of.amounts) {
                    used[start as usize] += amounts[mode] as f64;
                    used[(start + of.times[mode]) as usize] -= amounts[mode] as f64;
                }
            }
            for (line, supply) in prices.iter().zip(&model.supplies) {
                value -= line.iter().zip(0..).map(|(price, at)| price * supply.at(at) as f64).sum::<f64>();
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
            for ((line, direction), (used, supply)) in
                prices.iter().zip(&mut direction).zip(used.iter().zip(&model.supplies))
            {
                let mut held = 0.0;
                for at in 0..line.len() {
                    held += used[at];
                    let mut more: f64 = held - supply.at(at as i64) as f64;
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

/// Returns the least cost of a task, and its mode and start.
fn cheapest(task: &ModelTask, window: StartWindow, until: &[Vec<f64>]) -> (f64, usize, i64) {
    let mut best = (f64::MAX, window.first, window.earliest);
    let mut paid = Vec::new();
    for mode in window.first..=window.last {
        let time = task.times[mode];
        let latest = window.latest.min(task.latest[mode]);
        if latest < window.earliest {
            continue;
        }
        let (from, end) = (window.earliest as usize, (latest + time) as usize);
        paid.clear();
        paid.resize(end - from + 1, 0.0);
        for (until, amounts) in until.iter().zip(&task.amounts) {
            let amount = amounts[mode] as f64;
            if amount > 0.0 {
                paid.iter_mut().zip(&until[from..=end]).for_each(|(paid, sum)| *paid += amount * sum);
            }
        }
        for start in window.earliest..=latest {
            let at = start as usize - from;
            let cost = task.weight as f64 * (start + time) as f64 + paid[at + time as usize] - paid[at];
            if cost < best.0 {
                best = (cost, mode, start);
            }
        }
    }
    best
}
