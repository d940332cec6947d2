//! Anneals one list with its modes. The serial or the parallel scheme executes the list.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::ModeSolution;
use super::decoder::{Decoder, Scheme};
use super::genetic::shift;
use super::modes::{self, Repair};
use crate::kernel::move_to;
use crate::search::{Neighbourhood, heat};

/// The initial temperature, as a fraction of the value. The temperature is proportional to the square of the remaining
/// fraction of the search.
const HOT: f64 = 0.02;
/// The fraction of changes that give a task another mode.
const OF_MODES: f64 = 0.4;
/// The fraction of changes of the order that move a task only a short distance. A short distance is at most a tenth of
/// the list, limited to the range from `NEAR_LEAST` to `NEAR_MOST`.
const NEAR: f64 = 0.7;
/// Minimum value of the largest short distance, in positions of the list.
const NEAR_LEAST: usize = 2;
/// Maximum value of the largest short distance, in positions of the list.
const NEAR_MOST: usize = 30;

/// An annealing of a list, which changes one task at a time. With the serial scheme, each task stays after its
/// predecessors. The parallel scheme accepts any order.
#[derive(Debug)]
pub(super) struct Annealing<'d, 'p, 'a> {
    decoder: &'d mut Decoder<'p, 'a>,
    scheme: Scheme,
    random: &'d mut ChaCha8Rng,
    repair: Repair,
    current: ModeSolution,
    best: ModeSolution,
    hot: f64,
    /// The fraction of the whole search after which this annealing begins.
    from: f64,
    until: f64,
    has_modes: bool,
}

impl<'d, 'p, 'a> Annealing<'d, 'p, 'a> {
    /// Creates an annealing for a part of the whole search. The search begins with the solution `start`. The stated
    /// value of `start` must be its value under `scheme`.
    pub fn new(
        decoder: &'d mut Decoder<'p, 'a>,
        scheme: Scheme,
        start: ModeSolution,
        random: &'d mut ChaCha8Rng,
        (from, until): (f64, f64),
    ) -> Self {
        let problem = decoder.problem;
        Self {
            repair: Repair::new(problem),
            has_modes: problem.modes() > problem.rows().len(),
            hot: HOT * start.value.abs(),
            decoder,
            scheme,
            random,
            current: start.clone(),
            best: start,
            from,
            until,
        }
    }

    pub fn into_best(self) -> ModeSolution {
        self.best
    }

    /// Gives a random task another mode. If the value exceeds `allowed`, undoes the change.
    fn change_mode(&mut self, allowed: f64) {
        let Self { decoder, random, current, repair, scheme, .. } = self;
        let problem = decoder.problem;
        let task = random.random_range(0..current.order.len());
        let old = current.modes[task];
        current.modes[task] = modes::other(problem, task as u32, old, random);
        if current.modes[task] == old {
            return;
        }
        let affordable = problem.stocks().is_empty() || repair.excess(problem, &current.modes) <= 0.0;
        let value = if affordable { decoder.value_by(*scheme, current) } else { f64::INFINITY };
        if value > allowed {
            current.modes[task] = old;
        } else {
            current.value = value;
        }
    }

    /// Moves a random task. If the value exceeds `allowed`, undoes the change.
    fn change_order(&mut self, allowed: f64) {
        let Self { decoder, random, current, scheme, .. } = self;
        let tasks = current.order.len();
        let at = random.random_range(0..tasks);
        let near = (tasks / 10).clamp(NEAR_LEAST, NEAR_MOST);
        let far = if random.random_bool(NEAR) { near } else { tasks };
        let (by, to_front) = (random.random_range(1..=far), random.random());
        let to = match scheme {
            Scheme::Serial => shift(decoder.problem, &mut current.order, at, by, to_front),
            Scheme::Parallel => {
                let to = if to_front { at.saturating_sub(by) } else { (at + by).min(tasks - 1) };
                move_to(&mut current.order, at, to);
                to
            }
        };
        if to == at {
            return;
        }
        let value = decoder.value_by(*scheme, current);
        if value > allowed {
            move_to(&mut current.order, to, at);
        } else {
            current.value = value;
        }
    }
}

impl Neighbourhood for Annealing<'_, '_, '_> {
    fn is_optimal(&self) -> bool {
        (self.current.order.len() < 2 && !self.has_modes) || self.best.value <= self.decoder.aim.floor
    }

    fn is_over(&self, done: f64) -> bool {
        done >= self.until
    }

    fn best_value(&self) -> Option<f64> {
        Some(self.best.value)
    }

    fn step(&mut self, done: f64) {
        let left = 1.0 - (done - self.from) / (self.until - self.from);
        let allowed = self.current.value + heat(self.hot * left * left, self.random);
        if self.has_modes && self.random.random_bool(OF_MODES) {
            self.change_mode(allowed);
        } else {
            self.change_order(allowed);
        }
        if self.current.value < self.best.value {
            self.best.clone_from(&self.current);
        }
    }
}
