//! The windows of all tasks during a search, and the changes that deductions made, with their causes.

use super::problem::Problem;
use super::window::{DeductionWindow, WindowLimit};
use crate::Clock;

/// The cause of a limit on a window.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// An edge between the task with the limited window and the task with this index.
    Edge(u32),
    /// Energy: if the task violated the limit, the tasks would hold more of a resource than its capacity in a span of
    /// time. The fields are the index of the resource, and the start and the end of the span.
    Window(u32, i64, i64),
    /// The task with this index cannot run at the same time as the task with the limited window.
    Pair(u32),
    /// The supposition that the task violates the limit leads to a contradiction.
    Refuted(Box<RefutedSupposition>),
    /// The limit is itself a supposition.
    Supposed,
}

/// A refuted supposition: the changes that follow from it, and the contradiction.
#[derive(Clone, Debug)]
pub(super) struct RefutedSupposition {
    pub(super) entries: Vec<WindowChange>,
    pub(super) conflict: Conflict,
}

/// A change that makes a window narrower.
#[derive(Clone, Debug)]
pub(super) struct WindowChange {
    pub(super) row: u32,
    pub(super) old: DeductionWindow,
    pub(super) new: DeductionWindow,
    pub(super) limit: WindowLimit,
    pub(super) cause: Cause,
}

#[derive(Clone, Debug)]
pub(super) enum Conflict {
    /// The limit leaves no window in which the task can run. The fields are the index of the task, the limit, and the
    /// cause of the limit.
    Limit(u32, WindowLimit, Cause),
    /// In a span of time, the tasks must hold more of a resource than its capacity. The fields are the index of the
    /// resource, and the start and the end of the span.
    Full(u32, i64, i64),
}

/// A kind of deduction. A deduction is repeated only if windows have changed since the previous deduction of this kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum DeductionKind {
    Pairs,
    TimeTable(usize),
    Energy(usize),
}

impl DeductionKind {
    fn number(self) -> usize {
        match self {
            Self::Pairs => 0,
            Self::TimeTable(thing) => 1 + 2 * thing,
            Self::Energy(thing) => 2 + 2 * thing,
        }
    }

    fn count(problem: &Problem) -> usize {
        1 + 2 * problem.things.len()
    }
}

/// The windows of all tasks, and the changes that led to these windows.
pub(super) struct DeductionState<'a> {
    pub(super) problem: &'a Problem,
    pub(super) windows: Vec<DeductionWindow>,
    pub(super) entries: Vec<WindowChange>,
    queue: Vec<u32>,
    queued: Vec<bool>,
    /// For each kind of deduction ([`DeductionKind`]): zero before the first deduction of this kind. Later, one more
    /// than the length of `entries` at the last deduction of this kind.
    seen: Vec<usize>,
    /// The values of `seen` before the current supposition.
    seen_before: Vec<usize>,
    /// The number of elementary steps so far.
    pub(super) steps: u64,
    /// The value of `steps` at which the search ends.
    pub(super) limit: u64,
    clock: &'a Clock,
}

impl<'a> DeductionState<'a> {
    pub(super) fn new(problem: &'a Problem, steps: u64, limit: u64, clock: &'a Clock) -> Self {
        let rows = problem.rows();
        let (windows, entries, queue) = (Vec::with_capacity(rows), Vec::new(), Vec::new());
        let (seen, queued) = (vec![0; DeductionKind::count(problem)], vec![false; rows]);
        let seen_before = seen.clone();
        Self { problem, windows, entries, queue, queued, seen, seen_before, steps, limit, clock }
    }

    /// Supposes that all tasks end by `deadline`. Returns false if the paths alone refute the deadline.
    pub(super) fn begin(&mut self, deadline: i64) -> bool {
        let problem = self.problem;
        self.windows.clear();
        self.windows.extend(problem.releases.iter().map(|&release| DeductionWindow::new(release, deadline)));
        self.entries.clear();
        for &row in &problem.order {
            let row = row as usize;
            let start = problem.before[row].iter().map(|&other| self.windows[other as usize].first_end).max();
            match self.windows[row].narrowed(problem, row, WindowLimit::Start(start.unwrap_or(0))) {
                Some(window) => self.windows[row] = window,
                None => return false,
            }
        }
        for &row in problem.order.iter().rev() {
            let row = row as usize;
            let end = problem.behind[row].iter().map(|&other| self.windows[other as usize].last_start).min();
            match self.windows[row].narrowed(problem, row, WindowLimit::End(end.unwrap_or(deadline))) {
                Some(window) => self.windows[row] = window,
                None => return false,
            }
        }
        // A window may have become too short for some runs of its task. Then the windows of predecessors and successors
        // may become narrower, too.
        (0..problem.rows() as u32).for_each(|row| self.enqueue(row));
        self.edges().is_ok() && {
            self.entries.clear();
            self.seen.fill(0);
            true
        }
    }

    /// Returns the range of the entries that were added since the previous call for this kind of deduction, or `None`
    /// on the first call.
    pub(super) fn changes(&mut self, look: DeductionKind) -> Option<std::ops::Range<usize>> {
        // Store one more than the number of entries, because zero stands for "no deduction of this kind yet".
        let before = std::mem::replace(&mut self.seen[look.number()], self.entries.len() + 1);
        before.checked_sub(1).map(|from| from..self.entries.len())
    }

    /// Returns true if a deduction of this kind may have an effect: on the first call, or if the window of a task in
    /// `is_member` has changed since the previous call for this kind.
    pub(super) fn is_new(&mut self, look: DeductionKind, is_member: &[bool]) -> bool {
        let changes = self.changes(look);
        let mut all = changes.is_none();
        for entry in &self.entries[changes.unwrap_or_default()] {
            self.steps += 1;
            if is_member[entry.row as usize] {
                all = true;
                break;
            }
        }
        all
    }

    /// Returns true if the limit of steps is reached or the clock has expired.
    pub(super) fn is_over(&self) -> bool {
        self.steps >= self.limit || self.clock.is_over()
    }

    /// Applies a limit to the window of a task, and records the cause if the window becomes narrower.
    pub(super) fn narrow(&mut self, row: u32, limit: WindowLimit, cause: Cause) -> Result<(), Conflict> {
        let old = self.windows[row as usize];
        self.steps += 1;
        let Some(new) = old.narrowed(self.problem, row as usize, limit) else {
            return Err(Conflict::Limit(row, limit, cause));
        };
        if new != old {
            self.windows[row as usize] = new;
            self.entries.push(WindowChange { row, old, new, limit, cause });
            self.enqueue(row);
        }
        Ok(())
    }

    fn enqueue(&mut self, row: u32) {
        if !std::mem::replace(&mut self.queued[row as usize], true) {
            self.queue.push(row);
        }
    }

    /// Propagates changes of windows along the edges to predecessors and successors.
    pub(super) fn edges(&mut self) -> Result<(), Conflict> {
        let found = self.follow();
        for row in self.queue.drain(..) {
            self.queued[row as usize] = false;
        }
        found
    }

    fn follow(&mut self) -> Result<(), Conflict> {
        let problem = self.problem;
        let mut next = 0;
        while next < self.queue.len() {
            let row = self.queue[next];
            next += 1;
            if next > 64 && 2 * next > self.queue.len() {
                self.queue.drain(..next);
                next = 0;
            }
            self.queued[row as usize] = false;
            let DeductionWindow { first_end, last_start, .. } = self.windows[row as usize];
            self.steps += (problem.behind[row as usize].len() + problem.before[row as usize].len()) as u64 + 1;
            for &other in &problem.behind[row as usize] {
                if self.windows[other as usize].start < first_end {
                    self.narrow(other, WindowLimit::Start(first_end), Cause::Edge(row))?;
                }
            }
            for &other in &problem.before[row as usize] {
                if self.windows[other as usize].end > last_start {
                    self.narrow(other, WindowLimit::End(last_start), Cause::Edge(row))?;
                }
            }
        }
        Ok(())
    }

    /// Begins a supposition. Returns the current number of entries, which is the argument for [`Self::take_back`].
    pub(super) fn mark(&mut self) -> usize {
        self.seen_before.clone_from(&self.seen);
        self.entries.len()
    }

    /// Undoes all changes since the call of [`Self::mark`] that returned `mark`. Returns these changes.
    pub(super) fn take_back(&mut self, mark: usize) -> Vec<WindowChange> {
        let entries = self.entries.split_off(mark);
        self.seen.clone_from(&self.seen_before);
        entries.iter().rev().for_each(|entry| self.windows[entry.row as usize] = entry.old);
        entries
    }
}
