//! A search that decides if there is a solution with a value of at most a given limit.

use std::cmp::Reverse;

use makespan_core::Objective;
use makespan_verify::proof::Refutation;

use super::engine::ascent::Ascent;
use super::engine::log::Log;
use super::engine::prices::Prices;
use super::engine::{Engine, Literal};
use super::machines;
use super::model::Model;
use super::scales::{self, Scale};
use super::trim;
use crate::Clock;

/// For each attempt, the number of conflicts before the first restart.
pub(super) const RESTARTS: [u64; 3] = [100, 250, 40];
/// The number of conflicts until the next deletion of nogoods grows by this number after each deletion.
const MORE: u64 = 500;
/// The number of subgradient steps in each round of the search for prices. After each round, the prices narrow the
/// windows of tasks.
const ROUNDS: [usize; 6] = [60, 100, 150, 200, 300, 600];
/// Maximum number of points of all price vectors. The checker has the same limit.
const MAX_POINTS: i64 = 1 << 20;
/// Maximum number of price vectors. The certificate supports no more.
const MAX_PRICES: usize = 64;
/// Maximum length of the list of numbers of a certificate. The checker has the same limit.
const MAX_NUMBERS: usize = 1 << 22;
/// Approximate number of elementary steps of energy propagation between two readings of the clock.
const UNTIL_CLOCK: usize = 1 << 24;
/// Maximum number of steps of all nogoods before trimming.
const MAX_RECORDS: usize = 1 << 23;

/// The work that a search may still do.
pub(super) struct Work<'a> {
    pub(super) clock: &'a Clock,
    pub(super) conflicts: u64,
}

/// The solution of a search: the start and the mode of each task, and an upper limit on the objective.
pub(super) struct Solution {
    pub(super) starts: Vec<(i64, usize)>,
    pub(super) value: i64,
}

pub(super) enum Outcome {
    /// There is no solution. The bytes are the records of the proof.
    Refuted(Vec<u8>),
    /// A proof that there is no solution would be too long for a certificate.
    TooLong,
    Found(Solution),
    /// A limit of the work ended the search.
    Unfinished,
    /// The times have too many digits for prices.
    Unsupported,
}

/// A search that can continue, after it has found a solution, with a smaller limit on the value.
pub(super) struct Search {
    engine: Engine,
    /// The task that must have its middle in the first half of the schedule. `None` if a valid schedule could become
    /// invalid when time is reversed.
    mirrored: Option<usize>,
    ascent: Option<Ascent>,
    is_open: bool,
}

/// Searches for a solution with a value of at most `most`.
pub(super) fn run(model: &Model, scales: &[Scale], most: i64, work: &mut Work) -> Outcome {
    match Search::begin(model, scales, most, 0, work) {
        Ok(mut search) => search.go_on(work),
        Err(outcome) => outcome,
    }
}

impl Search {
    /// Prepares a search for a solution with a value of at most `most`. `attempt` selects an entry of `RESTARTS`.
    /// Returns an outcome instead of a search if no search is necessary or possible.
    pub(super) fn begin(
        model: &Model,
        scales: &[Scale],
        most: i64,
        attempt: usize,
        work: &Work,
    ) -> Result<Self, Outcome> {
        let mut model = model.clone();
        if !model.limit(most) {
            return Err(Outcome::Refuted(Vec::new()));
        }
        let mut log = Log::new();
        // Find the equal tasks before scales are added, because equal tasks may hold different amounts of a scale.
        let ordered = pairs(&model);
        ordered.iter().for_each(|&(first, second)| log.pair(first, second));
        let mirrored = mirrored(&model, &ordered);
        scales::add(scales, &mut model, &mut log);
        if let Some(task) = mirrored {
            log.mirror(task);
            reflect(&mut model, task, most);
        }
        if model.is_sum && !Prices::are_meant(&model) {
            return Err(Outcome::Unsupported);
        }
        let mut engine = Engine::new(model, &ordered, most, log);
        engine.restart = RESTARTS[attempt % RESTARTS.len()];
        let mut search = Self { engine, mirrored, ascent: None, is_open: true };
        search.is_open = search.prepare(work);
        Ok(search)
    }

    /// Makes decisions until a solution is found, the search space is empty, or a limit of `work` is reached.
    pub(super) fn go_on(&mut self, work: &mut Work) -> Outcome {
        if self.is_open { self.engine.explore(work) } else { self.engine.refuted(work) }
    }

    /// Sets the schedule that guides decisions after every second restart: the start and the mode of each task. Each
    /// solution that is found replaces this schedule. Has no effect on an instance without waits, because for such
    /// instances a guide makes proofs take longer.
    pub(super) fn stay_near(&mut self, starts: Vec<(i64, usize)>) {
        if !self.engine.model.waits.is_empty() {
            self.engine.guide = starts;
        }
    }

    /// Lowers the maximum value of a solution to `most`. All nogoods and all records stay valid, because each rule of
    /// the certificate deduces at least as much in smaller windows.
    pub(super) fn tighten(&mut self, most: i64, work: &Work) -> Result<(), Outcome> {
        self.engine.undo(0);
        self.engine.most = most;
        if !self.engine.model.limit(most) {
            return Err(Outcome::Refuted(Vec::new()));
        }
        if let Some(task) = self.mirrored {
            reflect(&mut self.engine.model, task, most);
        }
        self.is_open = self.prepare(work);
        Ok(())
    }
}

/// Returns pairs of equal tasks. Each task forms a pair with the next task that equals it.
fn pairs(model: &Model) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for first in 0..model.tasks.len() {
        let equal = (first + 1..model.tasks.len()).find(|&second| model.are_equal(first, second));
        pairs.extend(equal.map(|second| (first, second)));
    }
    pairs
}

/// Returns the task with the most work among the tasks that are in no pair. Returns `None` if a valid schedule could
/// become invalid when time is reversed.
fn mirrored(model: &Model, pairs: &[(usize, usize)]) -> Option<usize> {
    let is_paired = |task: usize| pairs.iter().any(|&(first, second)| first == task || second == task);
    let work = |task: &usize| model.tasks[*task].shortest() * i64::from(model.tasks[*task].allotments[0]);
    let free = (0..model.tasks.len()).filter(|&task| !is_paired(task));
    free.max_by_key(work).filter(|_| model.is_symmetric())
}

/// Restricts the middle of a task to the first half of the schedule.
fn reflect(model: &mut Model, task: usize, most: i64) {
    let task = &mut model.tasks[task];
    for (latest, time) in task.latest.iter_mut().zip(&task.times) {
        *latest = (*latest).min((most - time).div_euclid(2));
    }
}

impl Search {
    /// Narrows the windows before any decision. Returns false if the narrow windows prove that there is no solution.
    fn prepare(&mut self, work: &Work) -> bool {
        let engine = &mut self.engine;
        if engine.begin().is_err() {
            engine.record_root();
            return engine.learn();
        }
        if !engine.model.classes.is_empty() && engine.model.objective == Objective::Makespan {
            // A smaller limit on the makespan reduces the price of all available amounts, so the prices are added again.
            let count = engine.prices.len();
            let points = Prices::points(&engine.model).saturating_mul(count as i64 + 1);
            if points <= MAX_POINTS && count < MAX_PRICES && Prices::are_meant(&engine.model) {
                let model = &engine.model;
                let prices = machines::prices(&model.tasks, &model.supplies, &model.classes);
                engine.add_prices(&Ascent::with_prices(engine, &prices));
            }
            return engine.settles();
        }
        let has_prices = engine.model.is_sum;
        if has_prices && engine.prices.is_empty() {
            engine.add_prices(&Ascent::new(engine));
        }
        if !engine.settles() {
            return false;
        }
        if !has_prices {
            return true;
        }
        let is_first = self.ascent.is_none();
        let ascent = self.ascent.get_or_insert_with(|| Ascent::new(engine));
        for steps in if is_first { &ROUNDS[..] } else { &ROUNDS[..1] } {
            let points = Prices::points(&engine.model);
            let count = engine.prices.len();
            if points * (count as i64 + 1) > MAX_POINTS || count >= MAX_PRICES || work.clock.is_over() {
                break;
            }
            let before = engine.trail.len();
            ascent.improve(engine, *steps);
            engine.add_prices(ascent);
            if !engine.settles() {
                return false;
            }
            if engine.trail.len() == before && *steps > ROUNDS[1] {
                break;
            }
        }
        true
    }
}

impl Engine {
    fn add_prices(&mut self, ascent: &Ascent) {
        let prices = ascent.prices(&self.model, &mut self.log);
        self.prices.push(prices);
    }

    /// Propagates without decisions. Returns false if the propagation proves that there is no solution.
    fn settles(&mut self) -> bool {
        let is_open = self.propagate().is_ok();
        self.record_root();
        is_open || self.learn()
    }

    /// Returns the certificate of a search. The last record of the search states that there is no solution.
    fn refuted(&self, work: &Work) -> Outcome {
        if self.log.trimmed().len() > MAX_NUMBERS {
            return Outcome::TooLong;
        }
        let bytes = Refutation::encoded(&trim::trim(self, work.clock).trimmed());
        if bytes.len() > Refutation::MAX_BYTES { Outcome::TooLong } else { Outcome::Refuted(bytes) }
    }

    /// Makes decisions until a solution is found, the search space is empty, or a limit of `work` is reached.
    fn explore(&mut self, work: &mut Work) -> Outcome {
        let (mut restart, mut until_restart) = (0, self.restart);
        let mut decisions = 0_u64;
        loop {
            if self.work > UNTIL_CLOCK {
                self.work = 0;
                if work.clock.is_over() {
                    return Outcome::Unfinished;
                }
            }
            if self.propagate().is_err() {
                self.record_root();
                if !self.learn() {
                    return self.refuted(work);
                }
                self.record_root();
                work.conflicts = work.conflicts.saturating_sub(1);
                until_restart = until_restart.saturating_sub(1);
                self.until_forget = self.until_forget.saturating_sub(1);
                if work.conflicts == 0 || work.conflicts.is_multiple_of(16) && work.clock.is_over() {
                    return Outcome::Unfinished;
                }
                continue;
            }
            self.record_root();
            decisions += 1;
            if decisions.is_multiple_of(256) && self.log.length() > MAX_RECORDS {
                return Outcome::TooLong;
            }
            if decisions.is_multiple_of(256) && work.clock.is_over() {
                return Outcome::Unfinished;
            }
            if until_restart == 0 {
                restart += 1;
                until_restart = luby(restart) * self.restart;
                self.undo(0);
                if self.until_forget == 0 {
                    self.forget_period += MORE;
                    self.until_forget = self.forget_period;
                    self.forget();
                }
                continue;
            }
            match self.branch(restart % 2 == 1) {
                Some(literal) => self.decide(literal),
                None => {
                    let solution = self.solution();
                    if !self.guide.is_empty() {
                        self.guide.clone_from(&solution.starts);
                    }
                    return Outcome::Found(solution);
                }
            }
        }
    }

    /// Returns the next decision, or `None` if all starts and modes are fixed. The decision is the most active literal
    /// that is neither true nor false. If `is_guided` is set and the guide contradicts this literal, the decision is
    /// the negation of the literal. If all active literals are true or false, a task starts at the earliest open
    /// start. If all starts are fixed, a task runs in its first remaining mode. If modes are classes of machines,
    /// modes are fixed before starts.
    fn branch(&mut self, is_guided: bool) -> Option<Literal> {
        let Self { activity, bounds, guide, .. } = self;
        let holds = |literal: Literal| bounds[literal.bound as usize] >= literal.value;
        let active = activity.next(|literal| holds(literal) || holds(literal.negated()));
        if let Some(literal) = active {
            let Some(&(start, mode)) = guide.get(literal.bound as usize / 4).filter(|_| is_guided) else {
                return active;
            };
            let value = [start, -start, mode as i64, -(mode as i64)][literal.bound as usize % 4];
            return Some(if value >= literal.value { literal } else { literal.negated() });
        }
        let mut several = (0..self.tasks()).filter(|&task| self.first_mode(task) < self.last_mode(task));
        if !self.model.classes.is_empty() {
            let is_free = self.model.waits.is_empty();
            let longest = |&task: &usize| (Reverse(self.shortest(task)), task);
            let earliest = |&task: &usize| (self.earliest(task), self.latest(task), task);
            let next = if is_free { several.clone().min_by_key(longest) } else { several.clone().min_by_key(earliest) };
            if let Some(task) = next {
                return Some(self.machine(task));
            }
        }
        let open = (0..self.tasks()).filter(|&task| self.earliest(task) < self.latest(task));
        let first = open.min_by_key(|&task| (self.earliest(task), self.latest(task)));
        if let Some(task) = first {
            return Some(Literal::start_at_most(task, self.earliest(task)));
        }
        let task = several.next()?;
        Some(Literal::mode_at_most(task, self.first_mode(task) as i64))
    }

    /// Returns a decision on the mode of a task: the mode of the guide if this mode remains, otherwise the fastest mode.
    fn machine(&self, task: usize) -> Literal {
        let (first, last) = (self.first_mode(task), self.last_mode(task));
        match self.guide.get(task).map(|guide| guide.1).filter(|mode| (first..=last).contains(mode)) {
            Some(mode) if mode == first => Literal::mode_at_most(task, mode as i64),
            Some(mode) => Literal::mode_at_least(task, mode),
            None => Literal::mode_at_least(task, last),
        }
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
