//! When one task may run.

use super::problem::Problem;

/// It starts within `start ..= last_start` and ends within `first_end ..= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) start: i64,
    pub(super) last_start: i64,
    pub(super) first_end: i64,
    pub(super) end: i64,
}

/// Far from all instants.
const FAR: i64 = i64::MAX / 4;

/// One end of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Limit {
    Start(i64),
    LastStart(i64),
    FirstEnd(i64),
    End(i64),
}

impl Window {
    pub(super) fn new(start: i64, end: i64) -> Self {
        Self { start, last_start: FAR, first_end: -FAR, end }
    }

    /// The last start and first end of a run of this time or longer; `None` where it does not fit.
    fn of_run(&self, time: i64) -> Option<(i64, i64)> {
        let last_start = self.last_start.min(self.end - time);
        let first_end = self.first_end.max(self.start + time);
        (self.start <= last_start && first_end <= self.end).then_some((last_start, first_end))
    }

    /// Whether a run of this time or longer fits.
    pub(super) fn fits(&self, time: i64) -> bool {
        self.of_run(time).is_some()
    }

    /// The time of a run of this time or longer between two instants, at least; `None` where it does not fit.
    pub(super) fn within(&self, time: i64, from: i64, until: i64) -> Option<i64> {
        let (last_start, first_end) = self.of_run(time)?;
        let most = time.min(until - from);
        let after_start = most.min(self.start + time - from).min(until - last_start);
        let before_end = most.min(first_end - from).min(until - (self.end - time));
        let sure = first_end.min(until) - last_start.max(from);
        Some(after_start.max(before_end).max(sure).max(0))
    }

    /// The window within a limit; `None` where the task does not fit.
    pub(super) fn narrowed(mut self, problem: &Problem, row: usize, limit: Limit) -> Option<Self> {
        match limit {
            Limit::Start(at) => self.start = self.start.max(at),
            Limit::LastStart(at) => self.last_start = self.last_start.min(at),
            Limit::FirstEnd(at) => self.first_end = self.first_end.max(at),
            Limit::End(at) => self.end = self.end.min(at),
        }
        if problem.only[row] {
            let time = problem.times[problem.runs(row).start];
            self.start = self.start.max(self.first_end - time);
            self.end = self.end.min(self.last_start + time);
            let window = Self { last_start: self.end - time, first_end: self.start + time, ..self };
            return (window.start <= window.last_start).then_some(window);
        }
        // The fastest way fits if any does, and leaves the most room.
        let (last_start, first_end) = self.of_run(problem.fastest[row])?;
        Some(Self { last_start, first_end, ..self })
    }

    /// What one task must hold between two instants of something, at least, for the time of a unit each.
    pub(super) fn least(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64, until: i64) -> i64 {
        let runs = problem.runs(row);
        let each = runs.filter_map(|at| Some(self.within(problem.times[at], from, until)? * amounts[at]));
        each.min().unwrap_or(0)
    }

    /// The same of all equal tasks together.
    pub(super) fn least_of_all(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64, until: i64) -> i64 {
        self.least(problem, row, amounts, from, until) * problem.counts[row] as i64
    }

    /// At least as much as it must hold between an instant and any later one, with the way to run that holds least in all: from when on
    /// this grows with the end of the window, for how long, and by how much each unit of time. `None` where no way fits.
    pub(super) fn slope(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64) -> Option<(i64, i64, i64)> {
        let ways =
            problem.runs(row).filter_map(|at| Some((self.of_run(problem.times[at])?, problem.times[at], amounts[at])));
        let ((last_start, first_end), time, amount) = ways.min_by_key(|&(_, time, amount)| time * amount)?;
        // It may have to run for longer than this way takes.
        let most = time.max(first_end - last_start).min(first_end - from);
        Some((last_start.max(from), most.max(0), amount * problem.counts[row] as i64))
    }

    /// What one task holds at least at any instant.
    pub(super) fn least_amount(&self, problem: &Problem, row: usize, amounts: &[i64]) -> i64 {
        let fitting = problem.runs(row).filter(|&at| self.fits(problem.times[at]));
        fitting.map(|at| amounts[at]).min().unwrap_or(0)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.start == self.last_start && self.first_end == self.end
    }
}
