//! Why tasks cannot all end by a deadline, deduced step by step.

mod grid;
mod held;
mod runs;
#[cfg(test)]
mod tests;
mod windows;

use serde::{Deserialize, Serialize};

use super::error::malformed;
use super::prices::refute;
use super::{CertificateError, Kind, Scope, Value};
use crate::model::{Instance, Time};
use crate::schedule::Objective;

use held::All;
pub use held::Held;
use runs::Runs;
use windows::{Window, Windows};

/// Suppositions within suppositions, at most.
const MAX_DEPTH: usize = 8;
/// Instants are below this, so that sums and differences of a few are exact.
const MAX_TICKS: i128 = 1 << 100;

/// A refuted deadline: a list of deductions, each of which follows from those before it.
///
/// Suppose that everything ends by `deadline`. Each task then has a window: it starts no earlier than its release and the ends of all that
/// it waits for, and ends no later than the deadline and the latest starts of all that waits for it. A [`Step`] makes one window narrower,
/// because with a start before, or an end after, the new limit of the window something would be impossible ([`Reason`]); what follows along the edges is
/// deduced without a step. The equal tasks of a bag have one window: what is deduced of any of them, beside the others, holds for each; only deductions
/// within a deduction suppose nothing of a bag, since they would of all of its tasks. If some task is left without a window, or too much must be held within some time ([`Step::Full`]), the
/// supposition is false.
///
/// All instants of the steps are multiples of `unit`. Where that is more than a tick it must divide all times, releases and ends of closed
/// periods: some schedule of least makespan then starts everything at such multiples, and the makespan is at least the next multiple after
/// the deadline.
///
/// Sources: windows of energy, J. Erschler, P. Lopez, "Energy-based approach for task scheduling under time and resources constraints"
/// (PMS 1990), and Ph. Baptiste, C. Le Pape, W. Nuijten, Ann. Oper. Res. 92 (1999), DOI 10.1023/A:1018995000688; shaving, P. Martin, D. B. Shmoys, IPCO 1996,
/// DOI 10.1007/3-540-61310-2_29; lower bounds by a refuted deadline, R. Klein, A. Scholl, Eur. J. Oper. Res. 112 (1999),
/// DOI 10.1016/S0377-2217(97)00442-6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deductions {
    /// The refuted deadline.
    pub deadline: Time,
    /// Ticks in a unit of time of the steps.
    pub unit: i64,
    /// What the steps name by its position here.
    pub held: Vec<Held>,
    /// The deductions in their order.
    pub steps: Vec<Step>,
}

/// A deduction; tasks are numbered as different tasks of the instance, and instants are in units.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// This task starts no earlier than at this instant: an earlier start is refuted.
    Start(u32, i64, Reason),
    /// This task ends no later than at this instant: a later end is refuted.
    End(u32, i64, Reason),
    /// Of this, more must be held from the first instant to the second than there is.
    Full(u32, i64, i64),
}

/// Why a supposition on the window of a task is false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Of this, more would have to be held from the first instant to the second than there is.
    Window(u32, i64, i64),
    /// It cannot run at the same time as this task, and neither of both could come first.
    Pair(u32),
    /// These deductions would follow, and with them a contradiction.
    Steps(Vec<Step>),
}

impl Kind for Deductions {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// The makespan that follows, in ticks. For n different tasks with r ways to run, e edges and s steps, those within steps included:
    /// O((n + e) log n + r) for each step at most, where a step costs O(r) mostly, and memory for the certificate and O(n + r + e).
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        grid::check(instance, self.unit)?;
        let unit = i128::from(self.unit);
        let runs = Runs::new(instance);
        let held = All::new(instance, &runs, &self.held)?;
        let deadline = i128::from(self.deadline.ticks()).div_euclid(unit) * unit;
        let mut windows = Windows::new(instance, &runs, deadline);
        let refuted = !windows.follow_all() || {
            let mut replay = Replay { deadline: self.deadline, unit, held, windows };
            replay.steps(&self.steps, 0)?
        };
        if refuted {
            return Ok(Value::Integer(deadline + unit));
        }
        malformed("its deductions leave a window to every task")
    }
}

/// What is deduced so far.
struct Replay<'a> {
    deadline: Time,
    /// In ticks.
    unit: i128,
    held: All<'a>,
    windows: Windows<'a>,
}

impl Replay<'_> {
    /// Follows these steps; tells whether a contradiction is reached.
    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<bool, CertificateError> {
        for step in steps {
            let (row, supposed, concluded, reason) = match *step {
                Step::Full(held, from, until) => {
                    self.check_full(held, from, until, None)?;
                    return Ok(true);
                }
                Step::Start(task, at, ref reason) => {
                    let (row, at) = (self.row(task)?, self.ticks(at)?);
                    (
                        row,
                        Window { last_start: at - self.unit, ..Window::ALL },
                        Window { start: at, ..Window::ALL },
                        reason,
                    )
                }
                Step::End(task, by, ref reason) => {
                    let (row, by) = (self.row(task)?, self.ticks(by)?);
                    (
                        row,
                        Window { first_end: by + self.unit, ..Window::ALL },
                        Window { end: by, ..Window::ALL },
                        reason,
                    )
                }
            };
            self.refute(row, supposed, reason, depth)?;
            if !self.windows.narrow(row, concluded) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Checks that a task cannot run within its window and this one.
    fn refute(&mut self, row: usize, supposed: Window, reason: &Reason, depth: usize) -> Result<(), CertificateError> {
        let Some(window) = self.windows.narrowed(row, supposed) else { return Ok(()) };
        match *reason {
            Reason::Window(held, from, until) => self.check_full(held, from, until, Some((row, window))),
            Reason::Pair(other) => {
                let other = self.row(other)?;
                let behind = self.windows.of(other);
                if (row == other && !self.is_bag(row)) || !self.held.exclude(row, other) {
                    return malformed("two of its tasks can run at the same time");
                }
                if window.first_end <= behind.last_start || behind.first_end <= window.last_start {
                    return malformed("two of its tasks can run one after the other");
                }
                Ok(())
            }
            Reason::Steps(ref steps) => {
                if depth == MAX_DEPTH {
                    let problem = format!("its suppositions are more than {MAX_DEPTH} within each other");
                    return Err(CertificateError::Malformed(problem));
                }
                if self.is_bag(row) {
                    return Err(CertificateError::Malformed(
                        "its deductions suppose something of a bag of tasks".into(),
                    ));
                }
                let begin = self.windows.suppose();
                let refuted = !self.windows.narrow(row, supposed) || self.steps(steps, depth + 1)?;
                self.windows.take_back(begin);
                if refuted {
                    return Ok(());
                }
                malformed("one of its suppositions leaves a window to every task")
            }
        }
    }

    /// Checks that more must be held than there is, of one task within a window of its own.
    fn check_full(
        &self,
        held: u32,
        from: i64,
        until: i64,
        special: Option<(usize, Window)>,
    ) -> Result<(), CertificateError> {
        let (from, until) = (self.ticks(from)?, self.ticks(until)?);
        let (needed, available) = self.held.within(held as usize, from, until, &self.windows, special)?;
        refute(self.deadline, needed, available).map(drop)
    }

    fn ticks(&self, instant: i64) -> Result<i128, CertificateError> {
        let ticks = i128::from(instant) * self.unit;
        if ticks.abs() < MAX_TICKS { Ok(ticks) } else { Err(CertificateError::Overflow) }
    }

    /// A different task: one, or any of several equal ones.
    fn row(&self, task: u32) -> Result<usize, CertificateError> {
        match self.windows.count(task as usize) {
            Some(_) => Ok(task as usize),
            None => malformed("it names a task that the instance does not have"),
        }
    }

    /// Whether it stands for several equal tasks, which all have one window.
    fn is_bag(&self, row: usize) -> bool {
        self.windows.count(row).is_some_and(|count| count > 1)
    }
}
