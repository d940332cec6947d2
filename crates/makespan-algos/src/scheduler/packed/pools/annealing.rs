//! Annealing of one list with its modes.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::Solution;
use super::decoder::Decoder;
use super::genetic::shift;
use super::modes::{self, Repair};
use crate::search::{Cooling, Neighbourhood, heat};

/// Temperatures begin at this share of the value, for each of the tasks, and end at this share of that.
const HOT: f64 = 0.5;
const COLD: f64 = 0.01;
/// The share of changes that give a task another mode.
const OF_MODES: f64 = 0.4;
/// Of changes of the order, those that move a task not far: by a tenth of the list, within these bounds.
const NEAR: f64 = 0.7;
const NEAR_LEAST: usize = 2;
const NEAR_MOST: usize = 30;

/// A list that changes by one task at a time.
#[derive(Debug)]
pub(super) struct Annealing<'p, 'a> {
    decoder: Decoder<'p, 'a>,
    random: ChaCha8Rng,
    repair: Repair,
    current: Solution,
    best: Solution,
    cooling: Cooling,
    /// The share of the course that is over when it begins.
    from: f64,
    has_modes: bool,
}

impl<'p, 'a> Annealing<'p, 'a> {
    pub fn new(decoder: Decoder<'p, 'a>, start: Solution, random: ChaCha8Rng, from: f64) -> Self {
        let problem = decoder.problem;
        let hottest = HOT * start.value.abs() / problem.tasks().max(1) as f64;
        Self {
            repair: Repair::new(problem),
            has_modes: problem.modes() > problem.rows().len(),
            decoder,
            random,
            current: start.clone(),
            best: start,
            cooling: Cooling { hottest, coldest: COLD, cycles: 1.0 },
            from,
        }
    }

    pub fn into_best(self) -> Solution {
        self.best
    }
}

impl Neighbourhood for Annealing<'_, '_> {
    fn is_optimal(&self) -> bool {
        (self.current.order.len() < 2 && !self.has_modes) || self.best.value <= self.decoder.aim.floor
    }

    fn step(&mut self, done: f64) {
        let Self { decoder, random, current, repair, .. } = self;
        let problem = decoder.problem;
        let (tasks, at) = (current.order.len(), random.random_range(0..current.order.len()));
        let allowed = current.value + heat(self.cooling.at((done - self.from) / (1.0 - self.from)), random);
        if self.has_modes && random.random_bool(OF_MODES) {
            let task = current.order[at];
            let old = current.modes[task as usize];
            let new = modes::other(problem, task, old, random);
            if new == old {
                return;
            }
            current.modes[task as usize] = new;
            let affordable = problem.stocks().is_empty() || repair.excess(problem, &current.modes) <= 0.0;
            let value =
                if affordable { decoder.evaluate(&current.order, &current.modes, i64::MAX) } else { f64::INFINITY };
            if value > allowed {
                current.modes[task as usize] = old;
                return;
            }
            current.value = value;
        } else {
            let near = (tasks / 10).clamp(NEAR_LEAST, NEAR_MOST);
            let far = if random.random_bool(NEAR) { near } else { tasks };
            let to = shift(problem, &mut current.order, at, random.random_range(1..=far), random.random());
            if to == at {
                return;
            }
            let value = decoder.evaluate(&current.order, &current.modes, i64::MAX);
            if value > allowed {
                if to < at {
                    current.order[to..=at].rotate_left(1)
                } else {
                    current.order[at..=to].rotate_right(1)
                }
                return;
            }
            current.value = value;
        }
        if self.current.value < self.best.value {
            self.best.clone_from(&self.current);
        }
    }
}
