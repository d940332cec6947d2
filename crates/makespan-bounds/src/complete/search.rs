//! One search: is there a solution with at most a given value?

use makespan_core::Objective;
use makespan_verify::proof::Refutation;

use super::engine::log::Log;
use super::engine::prices::{Ascent, Prices};
use super::engine::{Engine, Literal};
use super::model::Model;
use super::scales;
use crate::Clock;

/// The number of conflicts of the shortest restart.
const RESTART: u64 = 100;
/// The number of conflicts before the first and between later deletions of nogoods. The number grows by `MORE`.
const FORGET: u64 = 2000;
const MORE: u64 = 500;
/// The number of subgradient steps in each round. After each round, prices narrow the windows of tasks.
const ROUNDS: [usize; 6] = [60, 100, 150, 200, 300, 600];
/// Maximum number of points of all price vectors. It is the limit of the certificate.
const MAX_POINTS: i64 = 1 << 20;
/// Maximum number of bytes of all records, before they are trimmed.
const MAX_RECORDS: usize = 1 << 27;

/// The work that a search may still do.
pub(super) struct Work<'a> {
    pub(super) clock: &'a Clock,
    pub(super) conflicts: u64,
}

/// The start and the mode of each task, and the value.
pub(super) struct Solution {
    pub(super) starts: Vec<(i64, usize)>,
    pub(super) value: i64,
}

pub(super) enum Outcome {
    /// There is no solution. The records prove this, unless they were too long.
    Refuted(Vec<u8>),
    Found(Solution),
    Unfinished,
}

/// Searches for a solution of which the value is at most `most`.
pub(super) fn run(model: &Model, objective: Objective, most: i64, work: &mut Work) -> Outcome {
    let mut model = model.clone();
    let is_refuted = !model.limit(objective, most);
    if is_refuted {
        return Outcome::Refuted(Vec::new());
    }
    let mut log = Log::new(model.supplies.len());
    scales::add(&mut model, &mut log);
    let ordered = pairs(&model);
    ordered.iter().for_each(|&(first, second)| log.pair(first, second));
    reflect(&mut model, objective, most, &ordered, &mut log);
    if model.is_sum && !Prices::are_meant(&model) {
        return Outcome::Unfinished;
    }
    let is_graph = !model.waits.is_empty();
    let mut engine = Engine::new(model, &ordered, most, log);
    if !engine.prepare(work) {
        return engine.refuted();
    }
    engine.explore(is_graph, work)
}

/// Returns pairs of consecutive equal tasks.
fn pairs(model: &Model) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for first in 0..model.tasks.len() {
        let equal = (first + 1..model.tasks.len()).find(|&second| model.are_equal(first, second));
        pairs.extend(equal.map(|second| (first, second)));
    }
    pairs
}

/// Restricts the task with the most work to the first half of the time, if the mirror image of each schedule is a
/// schedule.
fn reflect(model: &mut Model, objective: Objective, most: i64, pairs: &[(usize, usize)], log: &mut Log) {
    if !model.is_symmetric(objective) {
        return;
    }
    let is_paired = |task: usize| pairs.iter().any(|&(first, second)| first == task || second == task);
    let work = |task: &usize| model.tasks[*task].shortest() * i64::from(model.tasks[*task].allotments[0]);
    let Some(task) = (0..model.tasks.len()).filter(|&task| !is_paired(task)).max_by_key(work) else { return };
    log.mirror(task);
    let task = &mut model.tasks[task];
    for (latest, time) in task.latest.iter_mut().zip(&task.times) {
        *latest = (*latest).min((most - time).div_euclid(2));
    }
}

impl Engine {
    /// Narrows the windows before any decision. Returns false if nothing is left.
    fn prepare(&mut self, work: &Work) -> bool {
        if self.begin().is_err() {
            self.record_root();
            return self.learn();
        }
        let has_prices = self.model.is_sum;
        if has_prices {
            let end = self.model.last_end().max(0) as usize;
            self.add_prices(&vec![vec![0; end]; self.model.supplies.len()]);
        }
        if !self.settles() {
            return false;
        }
        if !has_prices {
            return true;
        }
        let mut ascent = Ascent::new(self);
        for steps in ROUNDS {
            let starts = |task: &super::model::ModelTask| -> i64 {
                task.latest.iter().map(|latest| (latest - task.head + 1).max(0)).sum()
            };
            let points: i64 = self.model.tasks.iter().map(starts).sum();
            if points * (self.prices.len() as i64 + 1) > MAX_POINTS || work.clock.is_over() {
                break;
            }
            let before = self.trail.len();
            ascent.improve(self, steps);
            self.add_prices(&ascent.rounded(&self.model));
            if !self.settles() {
                return false;
            }
            if self.trail.len() == before && steps > ROUNDS[1] {
                break;
            }
        }
        true
    }

    fn add_prices(&mut self, prices: &[Vec<i64>]) {
        self.log.prices(prices);
        self.prices.push(Prices::new(&self.model, prices));
    }

    /// Propagates without decisions. Returns false if nothing is left.
    fn settles(&mut self) -> bool {
        let is_open = self.propagate().is_ok();
        self.record_root();
        is_open || self.learn()
    }

    /// Returns the certificate, after the last record proved that nothing is left.
    fn refuted(&self) -> Outcome {
        let bytes = self.log.trimmed();
        if bytes.len() > Refutation::MAX_BYTES { Outcome::Unfinished } else { Outcome::Refuted(bytes) }
    }

    /// Makes decisions until a solution is found or nothing is left.
    fn explore(&mut self, is_graph: bool, work: &mut Work) -> Outcome {
        let (mut restart, mut until_restart) = (0, RESTART);
        let (mut until_forget, mut forget) = (FORGET, FORGET);
        let mut decisions = 0_u64;
        loop {
            if self.propagate().is_err() {
                self.record_root();
                if !self.learn() {
                    return self.refuted();
                }
                self.record_root();
                work.conflicts = work.conflicts.saturating_sub(1);
                until_restart = until_restart.saturating_sub(1);
                until_forget = until_forget.saturating_sub(1);
                if work.conflicts == 0 || work.conflicts.is_multiple_of(16) && work.clock.is_over() {
                    return Outcome::Unfinished;
                }
                continue;
            }
            self.record_root();
            decisions += 1;
            if decisions.is_multiple_of(256) && (work.clock.is_over() || self.log.length() > MAX_RECORDS) {
                return Outcome::Unfinished;
            }
            if until_restart == 0 {
                restart += 1;
                until_restart = luby(restart) * RESTART;
                self.undo(0);
                if until_forget == 0 {
                    forget += MORE;
                    until_forget = forget;
                    self.forget();
                }
                continue;
            }
            // Activity suits graphs. Independent tasks alternate, and earliest starts come first.
            let by_activity = is_graph || restart % 2 == 1;
            match self.branch(by_activity) {
                Some(literal) => self.decide(literal),
                None => return Outcome::Found(self.solution()),
            }
        }
    }

    /// Returns the next decision, or `None` if all starts and modes are fixed.
    fn branch(&mut self, by_activity: bool) -> Option<Literal> {
        if by_activity {
            let Self { activity, bounds, .. } = self;
            let holds = |literal: Literal| bounds[literal.bound as usize] >= literal.value;
            let active = activity.next(|literal| holds(literal) || holds(literal.negated()));
            if active.is_some() {
                return active;
            }
        }
        let open = (0..self.tasks()).filter(|&task| self.earliest(task) < self.latest(task));
        let first = open.min_by_key(|&task| (self.earliest(task), self.latest(task)));
        if let Some(task) = first {
            return Some(Literal::start_at_most(task, self.earliest(task)));
        }
        let task = (0..self.tasks()).find(|&task| self.first_mode(task) < self.last_mode(task))?;
        Some(Literal::mode_at_most(task, self.first_mode(task) as i64))
    }

    fn solution(&self) -> Solution {
        let starts: Vec<(i64, usize)> =
            (0..self.tasks()).map(|task| (self.earliest(task), self.first_mode(task))).collect();
        Solution { starts, value: self.most }
    }
}

/// Returns element `number` of the sequence 1, 1, 2, 1, 1, 2, 4, .. (M. Luby, A. Sinclair, D. Zuckerman, DOI
/// 10.1016/0020-0190(93)90029-9).
fn luby(mut number: u64) -> u64 {
    let (mut size, mut power) = (1, 0);
    while size < number + 1 {
        power += 1;
        size = 2 * size + 1;
    }
    while size - 1 != number {
        size = (size - 1) / 2;
        power -= 1;
        number %= size;
    }
    1 << power
}
