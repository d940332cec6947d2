//! The state of the search. It consists of the bounds of all variables, the reason for each change of a bound, and the
//! learned nogoods. Each nogood has two watched literals.

pub(super) mod activity;
mod analysis;
pub(super) mod ascent;
mod clauses;
mod costs;
pub(super) mod energy;
mod literal;
pub(super) mod log;
pub(super) mod prices;
mod used_up;
mod waits;

use super::model::Model;
use super::task::{ModelTask, Wait};
use activity::Activity;
use analysis::Needs;
use clauses::Watch;
use energy::StartWindow;
pub(super) use literal::{Literal, Step};
use log::Log;
use prices::Prices;

/// The number of conflicts before the first deletion of nogoods.
const FORGET: u64 = 2000;

/// A change of the bound with the index `bound` from `old` to `new`, at the decision level `level`.
pub(super) struct Change {
    pub(super) bound: u32,
    pub(super) old: i64,
    pub(super) new: i64,
    /// The index of the previous change of `bound`. Changes are indexed by their position in the trail, the list of all
    /// changes.
    previous: Option<usize>,
    /// The index of the first premise in [`Engine::premises`]. The premises end before the index `end`.
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) level: usize,
    pub(super) step: Step,
}

/// A learned nogood, stored as a clause: at least one of its literals is true.
pub(super) struct Clause {
    first: usize,
    pub(super) length: usize,
    /// The number of different decision levels that the literals had when the nogood was learned (literal block
    /// distance).
    pub(super) levels: usize,
    pub(super) activity: f64,
    pub(super) is_deleted: bool,
}

/// A contradiction: all literals of `Engine::reason` are true, although no solution makes all of them true.
pub(super) struct Conflict;
/// The result of a propagation.
pub(super) type Propagated = Result<(), Conflict>;

/// The windows of all tasks, and the changes that led to these windows.
pub(super) struct Engine {
    pub(super) model: Model,
    /// The waits of the model, and waits that order the starts of equal tasks.
    pub(super) waits: Vec<Wait>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// Maximum value of the objective. The search looks for solutions up to this value.
    pub(super) most: i64,
    pub(super) bounds: Vec<i64>,
    last: Vec<Option<usize>>,
    pub(super) trail: Vec<Change>,
    pub(super) premises: Vec<Literal>,
    /// For each decision, the lengths of `trail` and `premises` before the decision.
    levels: Vec<(usize, usize)>,
    next_clause: usize,
    next_wait: usize,
    pub(super) clauses: Vec<Clause>,
    literals: Vec<Literal>,
    /// For each bound, its watches in ascending order of their values.
    watches: Vec<Vec<Watch>>,
    pub(super) reason: Vec<Literal>,
    pub(super) reason_step: Step,
    pub(super) activity: Activity,
    /// The amount that is added to the activity of a nogood when a conflict uses the nogood.
    pub(super) clause_increment: f64,
    pub(super) log: Log,
    needs: Needs,
    buffer: Vec<Literal>,
    /// The number of conflicts before the first restart. The number of conflicts between later restarts is a multiple
    /// of this number.
    pub(super) restart: u64,
    /// The number of conflicts before the next deletion of nogoods. `forget_period` is the number of conflicts between
    /// two deletions.
    pub(super) until_forget: u64,
    pub(super) forget_period: u64,
    /// The supplies that are too small for all tasks to run at the same time.
    pub(super) scarce: Vec<usize>,
    pub(super) prices: Vec<Prices>,
    /// After a decision, only one in `period` rounds of propagation checks energy.
    period: u32,
    since: u32,
    failures: u32,
    /// The approximate number of elementary steps of energy propagation since the clock was last read.
    pub(super) work: usize,
    /// The start and the mode of each task in the schedule that guides decisions. Empty if there is no such schedule.
    /// Source: E. Demirović, G. Chu, P. J. Stuckey, DOI 10.1007/978-3-319-98334-9_7.
    pub(super) guide: Vec<(i64, usize)>,
}

impl Engine {
    /// Returns the state before the search. The heads and the latest starts of the model limit the windows.
    pub(super) fn new(model: Model, ordered: &[(usize, usize)], most: i64, log: Log) -> Self {
        let count = model.tasks.len();
        let order = ordered.iter().map(|&(from, to)| Wait { from, to, delay: 0, gaps: None, after_end: false });
        let waits: Vec<Wait> = model.waits.iter().copied().chain(order).collect();
        let (mut successors, mut predecessors) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (number, wait) in waits.iter().enumerate() {
            successors[wait.from].push(number);
            predecessors[wait.to].push(number);
        }
        let window = |task: &ModelTask| {
            let last = task.modes() - 1;
            [task.head, -task.latest[last], 0, -(last as i64)]
        };
        let bounds: Vec<i64> = model.tasks.iter().flat_map(window).collect();
        Self {
            waits,
            successors,
            predecessors,
            most,
            last: vec![None; bounds.len()],
            watches: vec![Vec::new(); bounds.len()],
            bounds,
            trail: Vec::new(),
            premises: Vec::new(),
            levels: Vec::new(),
            next_clause: 0,
            next_wait: 0,
            clauses: Vec::new(),
            literals: Vec::new(),
            reason: Vec::new(),
            reason_step: Step::Decision,
            activity: Activity::default(),
            clause_increment: 1.0,
            log,
            needs: Needs::default(),
            buffer: Vec::new(),
            restart: 0,
            until_forget: FORGET,
            forget_period: FORGET,
            scarce: model.scarce(),
            prices: Vec::new(),
            period: 1,
            since: 0,
            failures: 0,
            work: 0,
            guide: Vec::new(),
            model,
        }
    }

    pub(super) fn tasks(&self) -> usize {
        self.model.tasks.len()
    }

    pub(super) fn earliest(&self, task: usize) -> i64 {
        self.bounds[4 * task]
    }

    pub(super) fn latest(&self, task: usize) -> i64 {
        -self.bounds[4 * task + 1]
    }

    pub(super) fn first_mode(&self, task: usize) -> usize {
        self.bounds[4 * task + 2] as usize
    }

    pub(super) fn last_mode(&self, task: usize) -> usize {
        -self.bounds[4 * task + 3] as usize
    }

    /// Returns the time of a task in its fastest remaining mode.
    pub(super) fn shortest(&self, task: usize) -> i64 {
        self.model.tasks[task].times[self.last_mode(task)]
    }

    /// Returns the minimum, over the remaining modes of a task, of the amount of `supply` that the task holds.
    pub(super) fn amount(&self, supply: usize, task: usize) -> i64 {
        let amounts = &self.model.tasks[task].amounts[supply][self.first_mode(task)..=self.last_mode(task)];
        amounts.iter().copied().min().unwrap_or(0)
    }

    /// Returns the minimum time from the start of the first task of a wait to the start of the second. The tasks have the
    /// modes of these windows.
    pub(super) fn gap(&self, wait: Wait, from: StartWindow, to: StartWindow) -> i64 {
        if let Some(gaps) = wait.gaps {
            let rows = self.model.gaps[gaps][from.first..=from.last].iter();
            return rows.flat_map(|row| &row[to.first..=to.last]).copied().min().unwrap_or(0);
        }
        wait.delay + if wait.after_end { self.model.tasks[wait.from].times[from.last] } else { 0 }
    }

    /// Returns the literals that state which modes remain, or none if the task has only one mode.
    pub(super) fn mode_literals(&self, task: usize) -> impl Iterator<Item = Literal> + use<> {
        let has_modes = self.model.tasks[task].modes() > 1;
        let first = Literal::mode_at_least(task, self.first_mode(task));
        let last = Literal::mode_at_most(task, self.last_mode(task) as i64);
        [first, last].into_iter().filter(move |_| has_modes)
    }

    /// Returns the literal that states the fastest remaining mode, or `None` if the task has only one mode.
    pub(super) fn last_mode_literal(&self, task: usize) -> Option<Literal> {
        self.mode_literals(task).nth(1)
    }

    pub(super) fn is_true(&self, literal: Literal) -> bool {
        self.bounds[literal.bound as usize] >= literal.value
    }

    pub(super) fn is_false(&self, literal: Literal) -> bool {
        self.is_true(literal.negated())
    }

    pub(super) fn level(&self) -> usize {
        self.levels.len()
    }

    /// Makes a literal true. All premises must be true, and together they must imply the literal.
    pub(super) fn set(&mut self, literal: Literal, premises: &[Literal], step: Step) -> Propagated {
        if self.is_true(literal) {
            return Ok(());
        }
        if self.is_false(literal) {
            self.reason.clear();
            self.reason.extend(premises.iter().copied().chain([literal.negated()]));
            self.reason_step = step;
            return Err(Conflict);
        }
        let first = self.premises.len();
        self.premises.extend_from_slice(premises);
        let (bound, level) = (literal.bound as usize, self.level());
        let (old, previous, end) = (self.bounds[bound], self.last[bound], self.premises.len());
        self.last[bound] = Some(self.trail.len());
        self.bounds[bound] = literal.value;
        self.trail.push(Change { bound: literal.bound, old, new: literal.value, previous, first, end, level, step });
        Ok(())
    }

    /// Returns a conflict. All premises must be true, and together they must be contradictory.
    pub(super) fn fail(&mut self, premises: Vec<Literal>, step: Step) -> Propagated {
        self.reason = premises;
        self.reason_step = step;
        Err(Conflict)
    }

    /// Begins a new decision level and makes a literal true at this level.
    pub(super) fn decide(&mut self, literal: Literal) {
        self.levels.push((self.trail.len(), self.premises.len()));
        let _ = self.set(literal, &[], Step::Decision);
    }

    /// Undoes all levels above `level`.
    pub(super) fn undo(&mut self, level: usize) {
        let Some(&(length, premises)) = self.levels.get(level) else { return };
        for change in self.trail.drain(length..).rev() {
            self.bounds[change.bound as usize] = change.old;
            self.last[change.bound as usize] = change.previous;
        }
        self.premises.truncate(premises);
        self.levels.truncate(level);
        (self.next_clause, self.next_wait) = (length, length);
        self.activity.wake();
    }

    /// Returns the trail index of the change that made a literal true, or `None` if the literal was true from the
    /// beginning.
    pub(super) fn made_by(&self, literal: Literal) -> Option<usize> {
        let mut at = self.last[literal.bound as usize];
        while let Some(number) = at {
            let change = &self.trail[number];
            if change.old < literal.value {
                return Some(number);
            }
            at = change.previous;
        }
        None
    }

    /// Returns the value that a bound has without any decision.
    pub(super) fn root_value(&self, bound: usize) -> i64 {
        let (mut at, mut value) = (self.last[bound], self.bounds[bound]);
        while let Some(number) = at {
            let change = &self.trail[number];
            if change.level == 0 {
                break;
            }
            (at, value) = (change.previous, change.old);
        }
        value
    }

    /// Applies all propagations until nothing changes. Fast propagations come before slow ones.
    pub(super) fn propagate(&mut self) -> Propagated {
        loop {
            self.by_clauses()?;
            self.by_waits()?;
            if self.next_clause < self.trail.len() {
                continue;
            }
            let before = self.trail.len();
            self.by_consumables()?;
            if self.trail.len() > before {
                continue;
            }
            for at in 0..self.scarce.len() {
                let supply = self.scarce[at];
                if !self.has_table(supply) {
                    continue;
                }
                self.by_table(supply)?;
                if self.trail.len() > before {
                    break;
                }
            }
            if self.trail.len() > before {
                continue;
            }
            for number in [0, self.prices.len().saturating_sub(1)] {
                if number < self.prices.len() && self.trail.len() == before {
                    self.by_prices(number)?;
                }
            }
            if self.trail.len() > before {
                continue;
            }
            self.since += 1;
            if self.since < self.period && self.level() > 0 {
                return Ok(());
            }
            self.since = 0;
            let result = self.by_energy();
            if result.is_err() {
                (self.period, self.failures) = ((self.period / 2).max(1), 0);
                return result;
            }
            if self.trail.len() == before {
                self.failures += 1;
                if self.failures == 4 {
                    (self.failures, self.period) = (0, (2 * self.period).min(256));
                }
                return Ok(());
            }
            (self.failures, self.since) = (0, self.period);
        }
    }
}
