//! Shortens a refutation. Repeats the proof of each nogood in the same way as the checker, and removes unnecessary
//! steps and literals.

use rustc_hash::FxHashMap;

use super::engine::energy::StartWindow;
use super::engine::log::{Log, Record};
use super::engine::{Engine, Literal, Step};
use super::task::Wait;
use crate::Clock;

/// Returns the records of a refutation without unnecessary steps and literals. After the clock has expired, copies the
/// remaining records unchanged.
pub(super) fn trim(engine: &Engine, clock: &Clock) -> Log {
    let log = &engine.log;
    let uses = log.uses();
    let mut replay = Replay::new(engine);
    let mut trimmed = Log::new();
    let mut root = replay.windows.clone();
    let (mut literals, mut steps) = (0, 0);
    for record in &log.records {
        match *record {
            Record::Other(ref numbers) => trimmed.records.push(Record::Other(numbers.clone())),
            Record::Prices(ref numbers) => {
                trimmed.prices += 1;
                trimmed.records.push(Record::Prices(numbers.clone()));
            }
            Record::Root(step) => {
                replay.begin(&root);
                if replay.changes_by(step) {
                    trimmed.root(step);
                    root.clone_from(&replay.windows);
                }
            }
            Record::Nogood { literals: literals_end, steps: steps_end } => {
                let mut nogood = Nogood {
                    literals: log.literals[literals..literals_end].to_vec(),
                    steps: log.steps[steps..steps_end].to_vec(),
                };
                (literals, steps) = (literals_end, steps_end);
                if uses.nogoods[trimmed.nogoods] == 0 {
                    // No step uses this nogood. The record of the nogood stays, so that later nogoods keep their
                    // numbers.
                    nogood.steps.clear();
                } else if !clock.is_over() {
                    replay.shorten(&root, &mut nogood);
                }
                trimmed.nogood(&nogood.literals, nogood.steps.iter().copied());
                replay.nogoods.push(nogood.literals);
            }
        }
    }
    trimmed
}

/// A nogood with the steps that prove it.
struct Nogood {
    literals: Vec<Literal>,
    steps: Vec<Step>,
}

/// The windows of all tasks during the repetition of a proof. `docs/refutation.md` defines the rules of the steps.
struct Replay<'a> {
    engine: &'a Engine,
    /// The wait of each pair of a task and a task that waits for it.
    waits: FxHashMap<(u32, u32), Wait>,
    windows: Vec<StartWindow>,
    nogoods: Vec<Vec<Literal>>,
    is_changed: bool,
    is_empty: bool,
}

impl<'a> Replay<'a> {
    fn new(engine: &'a Engine) -> Self {
        let window = |task: &super::task::ModelTask| StartWindow {
            earliest: task.head,
            latest: task.latest[task.modes() - 1],
            first: 0,
            last: task.modes() - 1,
        };
        let wait = |wait: &Wait| ((wait.from as u32, wait.to as u32), *wait);
        Self {
            engine,
            waits: engine.waits.iter().rev().map(wait).collect(),
            windows: engine.model.tasks.iter().map(window).collect(),
            nogoods: Vec::new(),
            is_changed: false,
            is_empty: false,
        }
    }

    fn begin(&mut self, windows: &[StartWindow]) {
        self.windows.clear();
        self.windows.extend_from_slice(windows);
        (self.is_changed, self.is_empty) = (false, false);
    }

    /// Removes literals and then steps that the proof of the nogood does not need. Changes nothing if the steps do not
    /// prove the nogood.
    fn shorten(&mut self, root: &[StartWindow], nogood: &mut Nogood) {
        let Nogood { literals, steps } = nogood;
        if !self.proves(root, literals, steps) {
            return;
        }
        for at in (0..literals.len()).rev() {
            let literal = literals.remove(at);
            if !self.proves(root, literals, steps) {
                literals.insert(at, literal);
            }
        }
        // Removes the steps that change nothing, and the steps after the contradiction.
        self.begin(root);
        literals.iter().for_each(|literal| self.assume(literal.negated()));
        let mut states = Vec::new();
        steps.retain(|&step| {
            let before = self.windows.clone();
            let is_kept = !self.is_empty && self.changes_by(step);
            if is_kept {
                states.push(before);
            }
            is_kept
        });
        for at in (0..steps.len()).rev() {
            self.begin(&states[at]);
            steps[at + 1..].iter().for_each(|&step| self.apply(step));
            if self.is_empty {
                steps.remove(at);
            }
        }
    }

    fn proves(&mut self, root: &[StartWindow], literals: &[Literal], steps: &[Step]) -> bool {
        self.begin(root);
        literals.iter().for_each(|literal| self.assume(literal.negated()));
        for &step in steps {
            if self.is_empty {
                break;
            }
            self.apply(step);
        }
        self.is_empty
    }

    fn changes_by(&mut self, step: Step) -> bool {
        self.is_changed = false;
        self.apply(step);
        self.is_changed
    }

    fn refute(&mut self) {
        (self.is_changed, self.is_empty) = (true, true);
    }

    /// Makes a literal true.
    fn assume(&mut self, literal: Literal) {
        if self.is_true(literal) {
            return;
        }
        let window = &mut self.windows[literal.bound as usize / 4];
        let value = literal.value;
        self.is_empty |= match literal.bound % 4 {
            0 => {
                window.earliest = value;
                window.earliest > window.latest
            }
            1 => {
                window.latest = -value;
                window.earliest > window.latest
            }
            2 if value > window.last as i64 => true,
            3 if -value < window.first as i64 => true,
            2 => {
                window.first = value as usize;
                false
            }
            _ => {
                window.last = -value as usize;
                false
            }
        };
        self.is_changed = true;
    }

    fn is_true(&self, literal: Literal) -> bool {
        let window = &self.windows[literal.bound as usize / 4];
        let least = match literal.bound % 4 {
            0 => window.earliest,
            1 => -window.latest,
            2 => window.first as i64,
            _ => -(window.last as i64),
        };
        least >= literal.value
    }

    fn shortest(&self, task: usize) -> i64 {
        self.engine.model.tasks[task].times[self.windows[task].last]
    }

    fn amount(&self, supply: usize, task: usize) -> i64 {
        let window = &self.windows[task];
        let amounts = &self.engine.model.tasks[task].amounts[supply][window.first..=window.last];
        amounts.iter().copied().min().unwrap_or(0)
    }

    fn runs_at(&self, task: usize, at: i64) -> bool {
        let window = &self.windows[task];
        window.latest <= at && at < window.earliest + self.shortest(task)
    }

    /// Returns the amount that tasks other than `except` hold in every solution at the instant `at`.
    fn used(&self, supply: usize, at: i64, except: Option<usize>) -> i64 {
        let others = (0..self.windows.len()).filter(|&task| Some(task) != except && self.runs_at(task, at));
        others.map(|task| self.amount(supply, task)).sum()
    }

    fn energy_in_mode(&self, period: (usize, i64, i64), task: usize, mode: usize) -> i64 {
        let (supply, from, until) = period;
        let (of, window) = (&self.engine.model.tasks[task], &self.windows[task]);
        let (time, latest) = (of.times[mode], window.latest.min(of.latest[mode]));
        let length = time.min(until - from).min(window.earliest + time - from).min(until - latest).max(0);
        length * of.amounts[supply][mode]
    }

    /// Returns the minimum energy of tasks other than `except` in a period.
    fn energy(&self, period: (usize, i64, i64), except: Option<usize>) -> i64 {
        let least = |task: usize| {
            let window = &self.windows[task];
            (window.first..=window.last).map(|mode| self.energy_in_mode(period, task, mode)).min().unwrap_or(0)
        };
        (0..self.windows.len()).filter(|&task| Some(task) != except).map(least).sum()
    }

    /// Returns the minimum amount of a consumable that all tasks except `except` use up.
    fn used_up(&self, consumable: usize, except: Option<usize>) -> i64 {
        let others = (0..self.windows.len()).filter(|&task| Some(task) != except);
        others.map(|task| self.engine.least_used(consumable, task, self.windows[task])).sum()
    }

    fn remove_last_modes(&mut self, task: usize, is_removed: impl Fn(&Self, usize) -> bool) {
        let StartWindow { first, last, .. } = self.windows[task];
        let count = (first..=last).rev().take_while(|&mode| is_removed(self, mode)).count() as i64;
        self.assume(Literal::mode_at_most(task, last as i64 - count));
    }

    fn apply(&mut self, step: Step) {
        if self.is_empty {
            return;
        }
        let engine = self.engine;
        let model = &engine.model;
        match step {
            Step::Decision => {}
            Step::Nogood { clause } => {
                let mut open = self.nogoods[clause].iter().filter(|literal| !self.is_true(literal.negated()));
                match (open.next().copied(), open.next()) {
                    (None, _) => self.refute(),
                    (Some(literal), None) => self.assume(literal),
                    (Some(_), Some(_)) => {}
                }
            }
            Step::Wait { from, to, is_back } => {
                let Some(&wait) = self.waits.get(&(from, to)) else { return };
                let (from, to) = (from as usize, to as usize);
                let gap = engine.gap(wait, self.windows[from], self.windows[to]);
                if is_back {
                    self.assume(Literal::start_at_most(from, self.windows[to].latest - gap));
                } else {
                    self.assume(Literal::start_at_least(to, self.windows[from].earliest + gap));
                }
            }
            Step::Table { supply, at, task, is_back } => {
                let (supply, task) = (supply as usize, task as usize);
                let (window, time) = (self.windows[task], self.shortest(task));
                let is_beside = if is_back { window.latest <= at } else { window.earliest + time > at };
                let held = |replay: &Self| replay.used(supply, at, Some(task)) + replay.amount(supply, task);
                if is_beside && held(self) > model.supplies[supply].at(at) {
                    self.assume(if is_back {
                        Literal::start_at_most(task, at - time)
                    } else {
                        Literal::start_at_least(task, at + 1)
                    });
                }
            }
            Step::ModesAt { supply, at, task } => {
                let (supply, task) = (supply as usize, task as usize);
                if self.runs_at(task, at) {
                    let free = model.supplies[supply].at(at) - self.used(supply, at, Some(task));
                    self.remove_last_modes(task, |_, mode| model.tasks[task].amounts[supply][mode] > free);
                }
            }
            Step::Overload { supply, at } => {
                if self.used(supply as usize, at, None) > model.supplies[supply as usize].at(at) {
                    self.refute();
                }
            }
            Step::Deadline { task } => {
                let latest = model.tasks[task as usize].latest[self.windows[task as usize].last];
                self.assume(Literal::start_at_most(task as usize, latest));
            }
            Step::FastModes { task } => {
                let StartWindow { earliest, first, last, .. } = self.windows[task as usize];
                let latest = &model.tasks[task as usize].latest[first..=last];
                let slow = latest.iter().take_while(|&&latest| latest < earliest).count();
                self.assume(Literal::mode_at_least(task as usize, first + slow));
            }
            Step::Energy { supply, from, until } => {
                let period = (supply as usize, from, until);
                if self.energy(period, None) > model.supplies[supply as usize].within(from, until) {
                    self.refute();
                }
            }
            Step::ModesWithin { supply, from, until, task } => {
                let (period, task) = ((supply as usize, from, until), task as usize);
                let all = model.supplies[supply as usize].within(from, until);
                let free = all - self.energy(period, Some(task));
                self.remove_last_modes(task, |replay, mode| replay.energy_in_mode(period, task, mode) > free);
            }
            Step::UsedUp { consumable } => {
                if self.used_up(consumable.into(), None) > model.consumables[usize::from(consumable)] {
                    self.refute();
                }
            }
            Step::ModesLeft { consumable, task } => {
                let (consumable, task) = (usize::from(consumable), task as usize);
                let left = model.consumables[consumable] - self.used_up(consumable, Some(task));
                let is_too_much = |mode: usize| model.tasks[task].used_up[consumable][mode] > left;
                let StartWindow { first, last, .. } = self.windows[task];
                let count = (first..=last).take_while(|&mode| is_too_much(mode)).count();
                self.assume(Literal::mode_at_least(task, first + count));
                if !self.is_empty {
                    self.remove_last_modes(task, |_, mode| is_too_much(mode));
                }
            }
            Step::Priced { prices, task, kind } => {
                let cut = engine.cut(prices as usize, task as usize, kind, &self.windows);
                self.assume_cut(cut);
            }
            Step::Prices { prices } => {
                if engine.room(prices as usize, None, &self.windows).is_none() {
                    self.refute();
                }
            }
        }
    }

    fn assume_cut(&mut self, cut: Option<Literal>) {
        match cut {
            Some(literal) => self.assume(literal),
            None => self.refute(),
        }
    }
}
