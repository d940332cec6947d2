//! What is deduced so far, and why.

use super::problem::Problem;
use super::window::{Limit, Window};
use crate::Clock;

/// Why a limit holds.
#[derive(Clone, Debug)]
pub(super) enum Cause {
    /// An edge from or to another task.
    Edge(u32),
    /// Of a thing, more would have to be held between two instants than there is.
    Window(u32, i64, i64),
    /// A task that it excludes.
    Pair(u32),
    /// The opposite leads to a contradiction.
    Refuted(Box<Refuted>),
    /// It is supposed.
    Supposed,
}

/// A supposition that leads to a contradiction: its entry, and what follows.
#[derive(Clone, Debug)]
pub(super) struct Refuted {
    pub(super) entries: Vec<Entry>,
    pub(super) conflict: Conflict,
}

/// A window that became narrower.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) row: u32,
    pub(super) old: Window,
    pub(super) new: Window,
    pub(super) limit: Limit,
    pub(super) cause: Cause,
}

/// A contradiction.
#[derive(Clone, Debug)]
pub(super) enum Conflict {
    /// A limit leaves a task without a window.
    Limit(u32, Limit, Cause),
    /// Of a thing, more must be held between two instants than there is.
    Full(u32, i64, i64),
}

/// What is looked at again only when windows have changed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look {
    Pairs,
    TimeTable(usize),
    Energy(usize),
}

impl Look {
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

/// Windows of all tasks, and how they came about.
pub(super) struct State<'a> {
    pub(super) problem: &'a Problem,
    pub(super) windows: Vec<Window>,
    pub(super) entries: Vec<Entry>,
    queue: Vec<u32>,
    queued: Vec<bool>,
    /// What was looked at when there were so many entries, by its number; zero where it was not yet.
    seen: Vec<usize>,
    /// The same before the supposition.
    seen_before: Vec<usize>,
    /// Single steps of work so far, and when to stop.
    pub(super) steps: u64,
    pub(super) limit: u64,
    clock: &'a Clock,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: &'a Problem, steps: u64, limit: u64, clock: &'a Clock) -> Self {
        let rows = problem.rows();
        let (windows, entries, queue) = (Vec::with_capacity(rows), Vec::new(), Vec::new());
        let (seen, queued) = (vec![0; Look::count(problem)], vec![false; rows]);
        let seen_before = seen.clone();
        Self { problem, windows, entries, queue, queued, seen, seen_before, steps, limit, clock }
    }

    /// Supposes that everything ends by a deadline; false where the paths refute it.
    pub(super) fn begin(&mut self, deadline: i64) -> bool {
        let problem = self.problem;
        self.windows.clear();
        self.windows.extend(problem.releases.iter().map(|&release| Window::new(release, deadline)));
        self.entries.clear();
        for &row in &problem.order {
            let row = row as usize;
            let start = problem.before[row].iter().map(|&other| self.windows[other as usize].first_end).max();
            match self.windows[row].narrowed(problem, row, Limit::Start(start.unwrap_or(0))) {
                Some(window) => self.windows[row] = window,
                None => return false,
            }
        }
        for &row in problem.order.iter().rev() {
            let row = row as usize;
            let end = problem.behind[row].iter().map(|&other| self.windows[other as usize].last_start).min();
            match self.windows[row].narrowed(problem, row, Limit::End(end.unwrap_or(deadline))) {
                Some(window) => self.windows[row] = window,
                None => return false,
            }
        }
        // Ways to run that no longer fit may narrow what is behind.
        (0..problem.rows() as u32).for_each(|row| self.enqueue(row));
        self.edges().is_ok() && {
            self.entries.clear();
            self.seen.fill(0);
            true
        }
    }

    /// What changed since this was asked for the last time: positions of entries, or `None` where nothing was looked at yet.
    pub(super) fn changes(&mut self, look: Look) -> Option<std::ops::Range<usize>> {
        // One more, so that none at all is another thing than no look.
        let before = std::mem::replace(&mut self.seen[look.number()], self.entries.len() + 1);
        before.checked_sub(1).map(|from| from..self.entries.len())
    }

    /// Whether something is to be looked at: no window of a task that may hold something of it changed since it was asked for the last time.
    pub(super) fn is_new(&mut self, look: Look, is_member: &[bool]) -> bool {
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

    /// Whether no work may be done any more.
    pub(super) fn is_over(&self) -> bool {
        self.steps >= self.limit || self.clock.is_over()
    }

    /// Narrows a window.
    pub(super) fn narrow(&mut self, row: u32, limit: Limit, cause: Cause) -> Result<(), Conflict> {
        let old = self.windows[row as usize];
        self.steps += 1;
        let Some(new) = old.narrowed(self.problem, row as usize, limit) else {
            return Err(Conflict::Limit(row, limit, cause));
        };
        if new != old {
            self.windows[row as usize] = new;
            self.entries.push(Entry { row, old, new, limit, cause });
            self.enqueue(row);
        }
        Ok(())
    }

    fn enqueue(&mut self, row: u32) {
        if !std::mem::replace(&mut self.queued[row as usize], true) {
            self.queue.push(row);
        }
    }

    /// What follows along the edges.
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
            let Window { first_end, last_start, .. } = self.windows[row as usize];
            self.steps += (problem.behind[row as usize].len() + problem.before[row as usize].len()) as u64 + 1;
            for &other in &problem.behind[row as usize] {
                if self.windows[other as usize].start < first_end {
                    self.narrow(other, Limit::Start(first_end), Cause::Edge(row))?;
                }
            }
            for &other in &problem.before[row as usize] {
                if self.windows[other as usize].end > last_start {
                    self.narrow(other, Limit::End(last_start), Cause::Edge(row))?;
                }
            }
        }
        Ok(())
    }

    /// Begins a supposition: how many entries there are.
    pub(super) fn mark(&mut self) -> usize {
        self.seen_before.clone_from(&self.seen);
        self.entries.len()
    }

    /// Takes back everything since the supposition began with so many entries, and returns it.
    pub(super) fn take_back(&mut self, mark: usize) -> Vec<Entry> {
        let entries = self.entries.split_off(mark);
        self.seen.clone_from(&self.seen_before);
        entries.iter().rev().for_each(|entry| self.windows[entry.row as usize] = entry.old);
        entries
    }
}
