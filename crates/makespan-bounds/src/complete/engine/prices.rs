//! Prices for the amounts of each supply at each instant. At these prices, each task has a least cost: its weighted end
//! plus the price of the amounts that it holds. The sum of these costs, minus the price of all available amounts, is a
//! lower bound on the objective (Lagrangian duality).

use super::costs::{Costs, Intervals, NEVER, PriceLine};
use super::energy::StartWindow;
use super::{Engine, Literal, Propagated, Step};
use crate::complete::model::Model;
use crate::complete::supply::Supply;
use crate::complete::task::ModelTask;

/// The number of units of price in one unit of the objective. Prices are integers.
pub(in crate::complete) const SCALE: i64 = 1024;
/// Maximum total number of points of the cost functions. There is one function for each mode of each task.
const MAX_COSTS: i64 = 2_000_000;

/// The costs of all tasks at the prices of one price vector.
#[derive(Default)]
pub(in crate::complete) struct Prices {
    /// For each task, its cost function in each mode.
    costs: Vec<Vec<Costs>>,
    /// The price of all available amounts.
    sold: i64,
    /// For each task, the window for which its least costs were last computed, and these costs.
    known: Vec<Known>,
}

/// A window of a task, and the least costs of the task in this window.
#[derive(Clone, Copy)]
struct Known {
    window: StartWindow,
    least: i64,
    /// The least cost over the modes if the task starts at the first start of the window.
    first_start: i64,
    /// The least cost over the modes if the task starts at the last start of the window.
    last_start: i64,
    /// The least cost in the first mode of the window.
    first_mode: i64,
    last_mode: i64,
}

impl Prices {
    /// Returns true if all costs fit into 64 bits and the cost functions have at most `MAX_COSTS` points.
    pub(in crate::complete) fn are_meant(model: &Model) -> bool {
        let weight = model.tasks.iter().map(|task| task.weight).max().unwrap_or(0);
        // If a deadline is before 0, the tardiness of a job can exceed its end.
        let first = model.tasks.iter().map(|task| task.free_until).min().unwrap_or(0).min(0);
        let largest = weight.saturating_mul(model.last_end().saturating_sub(first)).saturating_mul(SCALE);
        Self::points(model) <= MAX_COSTS && largest < i64::MAX / (1 << 12)
    }

    /// Returns an upper limit on the total number of points of all cost functions.
    pub(in crate::complete) fn points(model: &Model) -> i64 {
        let Intervals { length, .. } = Intervals::new(model);
        let more = if length == 1 { 1 } else { 6 };
        let starts = |task: &ModelTask| {
            let of_mode = |latest: &i64| (latest - task.head + 1).max(0) / length * (1 + i64::from(length > 1)) + more;
            task.latest.iter().map(of_mode).fold(0, i64::saturating_add)
        };
        model.tasks.iter().map(starts).fold(0, i64::saturating_add)
    }

    /// Returns the costs of all tasks. `prices` contains, for each supply, the price in each interval up to the largest
    /// end that the model allows.
    pub(super) fn new(model: &Model, intervals: Intervals, prices: &[Vec<i64>]) -> Self {
        let lines: Vec<PriceLine> = prices.iter().map(|line| PriceLine::new(intervals, line)).collect();
        let costs = |task: &ModelTask| {
            let in_mode = |mode: usize| {
                let time = task.times[mode];
                let cost = |start: i64| {
                    let paid = lines.iter().zip(&task.amounts);
                    let paid =
                        paid.map(|(line, amounts)| amounts[mode] * (line.until(start + time) - line.until(start)));
                    SCALE * task.cost(start + time) + paid.sum::<i64>()
                };
                Costs::new(intervals.starts((task.head, task.latest[mode]), time, task.free_until), cost)
            };
            (0..task.modes()).map(in_mode).collect()
        };
        let sold = |(supply, line): (&Supply, &Vec<i64>)| {
            let of = |(number, price): (usize, &i64)| {
                let (from, until) = intervals.bounds(number);
                price * supply.within(from, until)
            };
            line.iter().enumerate().filter(|one| *one.1 > 0).map(of).sum::<i64>()
        };
        let costs: Vec<Vec<Costs>> = model.tasks.iter().map(costs).collect();
        let window = StartWindow { earliest: 1, latest: 0, first: 0, last: 0 };
        let none = Known { window, least: 0, first_start: 0, last_start: 0, first_mode: 0, last_mode: 0 };
        let sold = model.supplies.iter().zip(prices).map(sold).sum();
        Self { known: vec![none; costs.len()], costs, sold }
    }

    fn least(&self, task: usize, window: StartWindow) -> i64 {
        let modes = self.costs[task][window.first..=window.last].iter();
        modes.map(|costs| costs.least(window.earliest, window.latest)).min().unwrap_or(NEVER)
    }

    /// Returns the least costs of a task in a window. Computes these costs if the window has changed.
    fn look(&mut self, task: usize, window: StartWindow) -> Known {
        if self.known[task].window == window {
            return self.known[task];
        }
        let StartWindow { earliest, latest, first, last } = window;
        let mut known =
            Known { window, least: NEVER, first_start: NEVER, last_start: NEVER, first_mode: NEVER, last_mode: NEVER };
        for mode in first..=last {
            let costs = &self.costs[task][mode];
            let least = costs.least(earliest, latest);
            known.least = known.least.min(least);
            known.first_start = known.first_start.min(costs.least(earliest, earliest));
            known.last_start = known.last_start.min(costs.least(latest, latest));
            known.first_mode = if mode == first { least } else { known.first_mode };
            known.last_mode = least;
        }
        self.known[task] = known;
        known
    }
}

/// Returns two values for the costs before the first cost below `room`: their number, and their minimum.
fn leading(costs: impl Iterator<Item = i64>, room: i64) -> (i64, i64) {
    costs.take_while(|&cost| cost >= room).fold((0, NEVER), |(count, low), cost| (count + 1, low.min(cost)))
}

impl Engine {
    pub(in crate::complete) fn by_prices(&mut self, number: usize) -> Propagated {
        let mut prices = std::mem::take(&mut self.prices[number]);
        let result = self.by(&mut prices, number as u8);
        self.prices[number] = prices;
        result
    }

    /// Returns a limit on the cost of `task`. Every start and every mode with a cost of at least this limit is
    /// impossible. Returns `None` if the costs of all tasks prove that there is no solution.
    pub(in crate::complete) fn room(&self, number: usize, task: Option<usize>, windows: &[StartWindow]) -> Option<i64> {
        let prices = &self.prices[number];
        let mut room = SCALE * i64::from(self.model.is_sum) * self.most + 1 + prices.sold;
        let mut own = 0;
        for (other, &window) in windows.iter().enumerate() {
            let least = prices.least(other, window);
            own += if Some(other) == task { least } else { 0 };
            room -= least;
        }
        (room > 0).then_some(room + own)
    }

    /// Returns the literal that a cut by prices makes true, or `None` if no start or mode is possible.
    /// [`Step::Priced`] defines `kind`.
    pub(in crate::complete) fn cut(
        &self,
        number: usize,
        task: usize,
        kind: u8,
        windows: &[StartWindow],
    ) -> Option<Literal> {
        let room = self.room(number, Some(task), windows)?;
        let window = windows[task];
        let StartWindow { earliest, latest, first, last } = window;
        let prices = &self.prices[number];
        let modes = || prices.costs[task][first..=last].iter();
        let in_mode = |&mode: &usize| prices.least(task, StartWindow { first: mode, last: mode, ..window }) < room;
        match kind {
            0 => {
                let start = modes().filter_map(|costs| costs.first_below(earliest, latest, room)).min()?;
                Some(Literal::start_at_least(task, start))
            }
            1 => {
                let start = modes().filter_map(|costs| costs.last_below(earliest, latest, room)).max()?;
                Some(Literal::start_at_most(task, start))
            }
            2 => Some(Literal::mode_at_least(task, (first..=last).find(in_mode)?)),
            _ => Some(Literal::mode_at_most(task, (first..=last).rev().find(in_mode)? as i64)),
        }
    }

    fn by(&mut self, prices: &mut Prices, number: u8) -> Propagated {
        let mut total = -prices.sold;
        for task in 0..self.tasks() {
            total += prices.look(task, self.window(task)).least;
        }
        let needed = SCALE * i64::from(self.model.is_sum) * self.most + 1;
        if total >= needed {
            let mut premises = Vec::new();
            let least: Vec<i64> = prices.known.iter().map(|known| known.least).collect();
            self.costly_because(prices, None, &least, total - needed, &mut premises);
            return self.fail(premises, Step::Prices { prices: number });
        }
        let mut all: Option<Vec<i64>> = None;
        for task in 0..self.tasks() {
            let known = prices.known[task];
            // A start or mode with a cost of at least `room` is impossible.
            let room = needed - (total - known.least);
            let StartWindow { earliest, latest, first, last } = known.window;
            let is_open = earliest < latest || first < last;
            let cuts_starts = is_open && known.first_start.max(known.last_start) >= room;
            let cuts_modes = first < last && known.first_mode.max(known.last_mode) >= room;
            if !cuts_starts && !cuts_modes {
                continue;
            }
            let least = all.get_or_insert_with(|| prices.known.iter().map(|known| known.least).collect());
            let cut = Cut { prices, number, task, room, least };
            if cuts_starts {
                self.cut_starts(cut)?;
            }
            if first < last {
                self.cut_first_modes(cut)?;
                self.cut_last_modes(cut)?;
            }
        }
        Ok(())
    }

    fn cut_starts(&mut self, cut: Cut) -> Propagated {
        let Cut { prices, task, room, .. } = cut;
        let window = self.window(task);
        let StartWindow { earliest, latest, .. } = window;
        let modes = || prices.costs[task][window.first..=window.last].iter();
        let first = modes().filter_map(|costs| costs.first_below(earliest, latest, room)).min();
        let first = first.unwrap_or(latest + 1);
        if first > earliest {
            let low = prices.least(task, StartWindow { latest: first - 1, ..window });
            let mut premises = vec![Literal::start_at_least(task, earliest)];
            premises.extend(self.mode_literals(task));
            self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
            self.set(Literal::start_at_least(task, first), &premises, cut.step(0))?;
        }
        let last = modes().filter_map(|costs| costs.last_below(first, latest, room)).max();
        let last = last.unwrap_or(first - 1);
        if last < latest {
            let low = prices.least(task, StartWindow { earliest: last + 1, ..window });
            let mut premises = vec![Literal::start_at_most(task, latest)];
            premises.extend(self.mode_literals(task));
            self.costly_because(prices, Some(task), cut.least, low - room, &mut premises);
            self.set(Literal::start_at_most(task, last), &premises, cut.step(1))?;
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

    /// Adds premises that imply a lower limit on the sum of the least costs of all tasks other than `except`. `least`
    /// contains the current least cost of each task. The limit may be less than the sum of these costs by up to
    /// `spare`.
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
                // If the window has become smaller since `least` was computed, the literals of the window imply an even
                // larger cost.
                let now = prices.least(task, self.window(task));
                let mut more = spare + (now - least[task]);
                self.weakest(task, now, &mut more, |window| prices.least(task, window), premises);
                spare = spare.min(more);
            }
        }
    }
}

/// A cut by prices: it removes the starts and modes of one task that cost too much.
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
