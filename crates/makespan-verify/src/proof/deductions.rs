//! Refutation of a deadline by deductions, step by step.

mod held;
mod runs;
#[cfg(test)]
mod tests;
mod windows;

use serde::{Deserialize, Serialize};

use super::error::{invalid, malformed, unproved};
use super::prices::refute;
use super::{CertificateError, Kind, Scope, Value, time_grid};
use makespan_core::{Instance, Objective, Time};

use held::All;
pub use held::LimitedAmount;
use runs::Runs;
use windows::{TaskWindow, Windows};

/// Maximum nesting depth of suppositions.
const MAX_DEPTH: usize = 8;
/// Upper limit for instants, so that sums and differences of a few instants are exact.
const MAX_TICKS: i128 = 1 << 100;

/// A refuted deadline: a list of deductions. Each deduction follows from the previous ones.
///
/// Suppose that all tasks end by `deadline`. Then each task has a window of time. The task starts no earlier than its
/// release and the ends of its predecessors. The task ends no later than the deadline and the latest starts of its
/// successors. A [`Step`] narrows one window. The step states an instant before which the task cannot start, or after
/// which the task cannot end. The [`Reason`] of the step shows that an earlier start or a later end leads to a
/// contradiction. If the window of a task becomes narrower, the check also narrows the windows of its predecessors and
/// successors. These deductions need no step.
///
/// All equal tasks of a bag have one window, because a deduction that holds for one of the tasks holds for each of
/// them. Nested deductions must not suppose anything about a bag, because the supposition about one task would narrow
/// the window of all tasks of the bag. The deadline is refuted if some task has no window left, or if tasks must hold
/// more of a resource within some period than is available ([`Step::Full`]).
///
/// All instants of the steps are multiples of `unit`, which must divide [`time_grid`]. So some schedule of minimum
/// makespan starts every task at a multiple of the unit. So the makespan is at least the next multiple after the
/// deadline.
///
/// Sources:
/// * Energetic reasoning: J. Erschler, P. Lopez, "Energy-based approach for task scheduling under time and resources
///   constraints" (PMS 1990); Ph. Baptiste, C. Le Pape, W. Nuijten, Ann. Oper. Res. 92 (1999), DOI
///   10.1023/A:1018995000688.
/// * Shaving: P. Martin, D. B. Shmoys, IPCO 1996, DOI 10.1007/3-540-61310-2_29.
/// * Lower bounds from refuted deadlines: R. Klein, A. Scholl, Eur. J. Oper. Res. 112 (1999), DOI
///   10.1016/S0377-2217(97)00442-6.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deductions {
    /// The refuted deadline.
    pub deadline: Time,
    /// Length of the unit of time of the steps, in ticks.
    pub unit: i64,
    /// The processors, resources and groups of tasks with a limited capacity. A step refers to an entry by its position
    /// in this list.
    pub held: Vec<LimitedAmount>,
    /// The deductions. Each deduction follows from the deductions before it.
    pub steps: Vec<Step>,
}

/// A deduction. Tasks are given by their position among the distinct tasks of the instance ([`Instance::different`]),
/// and instants as multiples of the unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The task (first field) starts no earlier than the instant (second field), because the reason refutes an earlier
    /// start.
    Start(u32, i64, Reason),
    /// The task (first field) ends no later than the instant (second field), because the reason refutes a later end.
    End(u32, i64, Reason),
    /// The first field is the position of an entry in [`Deductions::held`]. Between the two instants, tasks must hold
    /// more of this entry than is available.
    Full(u32, i64, i64),
}

/// The reason why a supposition about the window of a task is false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The first field is the position of an entry in [`Deductions::held`]. Between the two instants, tasks would have
    /// to hold more of this entry than is available.
    Window(u32, i64, i64),
    /// The field is another task. This task and the task of the supposition cannot run at the same time, and neither of
    /// them can run before the other.
    Pair(u32),
    /// These deductions lead from the supposition to a contradiction.
    Steps(Vec<Step>),
}

impl Kind for Deductions {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven makespan in ticks. Let n be the number of distinct tasks, r the number of their choices
    /// ([`super::NodeRun`]) in total, and e the number of edges. Each step takes O((n + e) log n + r) time, but only
    /// O(r) in most cases. The memory is O(n + r + e) in addition to the certificate.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.unit < 1 || self.unit > 1 && time_grid(instance) % self.unit != 0 {
            return unproved("the unit of time does not divide all run times, releases and ends of closed periods");
        }
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
        unproved("after the last step of the certificate, every task still has a feasible window")
    }
}

/// The state after the deductions that were applied so far.
struct Replay<'a> {
    deadline: Time,
    /// Length of the unit of time of the steps, in ticks.
    unit: i128,
    held: All<'a>,
    windows: Windows<'a>,
}

impl Replay<'_> {
    /// Applies these steps. Returns true if the steps reach a contradiction.
    fn steps(&mut self, steps: &[Step], depth: usize) -> Result<bool, CertificateError> {
        for (number, step) in (1..).zip(steps) {
            if self.step(step, depth).map_err(|error| error.in_step(number))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Applies a step. Returns true if the step reaches a contradiction.
    fn step(&mut self, step: &Step, depth: usize) -> Result<bool, CertificateError> {
        let all = TaskWindow::ALL;
        let (row, supposed, concluded, reason) = match *step {
            Step::Full(held, from, until) => return self.check_full(held, from, until, None).map(|()| true),
            Step::Start(task, at, ref reason) => {
                let (row, at) = (self.row(task)?, self.ticks(at)?);
                (row, TaskWindow { last_start: at - self.unit, ..all }, TaskWindow { start: at, ..all }, reason)
            }
            Step::End(task, by, ref reason) => {
                let (row, by) = (self.row(task)?, self.ticks(by)?);
                (row, TaskWindow { first_end: by + self.unit, ..all }, TaskWindow { end: by, ..all }, reason)
            }
        };
        self.refute(row, supposed, reason, depth)?;
        Ok(!self.windows.narrow(row, concluded))
    }

    /// Supposes that a task runs within its current window and within the window `supposed`. Checks that `reason`
    /// refutes this supposition.
    fn refute(
        &mut self,
        row: usize,
        supposed: TaskWindow,
        reason: &Reason,
        depth: usize,
    ) -> Result<(), CertificateError> {
        let Some(window) = self.windows.narrowed(row, supposed) else { return Ok(()) };
        match *reason {
            Reason::Window(held, from, until) => self.check_full(held, from, until, Some((row, window))),
            Reason::Pair(other) => {
                let other = self.row(other)?;
                let behind = self.windows.of(other);
                if (row == other && !self.is_bag(row)) || !self.held.exclude(row, other) {
                    return invalid("both tasks can run at the same time");
                }
                if window.first_end <= behind.last_start || behind.first_end <= window.last_start {
                    return invalid("both tasks can run one after the other");
                }
                Ok(())
            }
            Reason::Steps(ref steps) => {
                if depth == MAX_DEPTH {
                    return malformed(format!("suppositions are nested more than {MAX_DEPTH} levels deep"));
                }
                if self.is_bag(row) {
                    return invalid("a supposition is about a bag of tasks");
                }
                let begin = self.windows.suppose();
                let refuted = !self.windows.narrow(row, supposed) || self.steps(steps, depth + 1)?;
                self.windows.take_back(begin);
                if refuted {
                    return Ok(());
                }
                invalid("the supposition is not refuted, because every task still has a feasible window")
            }
        }
    }

    /// Checks that, between `from` and `until`, tasks must hold more of a limited amount than is available. `special`
    /// replaces the window of one task.
    fn check_full(
        &self,
        held: u32,
        from: i64,
        until: i64,
        special: Option<(usize, TaskWindow)>,
    ) -> Result<(), CertificateError> {
        let (from, until) = (self.ticks(from)?, self.ticks(until)?);
        let (needed, available) = self.held.within(held as usize, from, until, &self.windows, special)?;
        refute(self.deadline, needed, available).map(drop)
    }

    fn ticks(&self, instant: i64) -> Result<i128, CertificateError> {
        let ticks = i128::from(instant) * self.unit;
        if ticks.abs() < MAX_TICKS { Ok(ticks) } else { Err(CertificateError::Overflow) }
    }

    /// Returns the table row of a distinct task. The row stands for a single task, or for all equal tasks of a bag.
    fn row(&self, task: u32) -> Result<usize, CertificateError> {
        match self.windows.count(task as usize) {
            Some(_) => Ok(task as usize),
            None => malformed("a step refers to a task that the instance does not have"),
        }
    }

    /// Returns true if the row represents several equal tasks, which share one window.
    fn is_bag(&self, row: usize) -> bool {
        self.windows.count(row).is_some_and(|count| count > 1)
    }
}
