//! The window of time in which a task may run.

use super::problem::Problem;

/// The window of a task: the task starts within `start ..= last_start` and ends within `first_end ..= end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeductionWindow {
    pub(super) start: i64,
    pub(super) last_start: i64,
    pub(super) first_end: i64,
    pub(super) end: i64,
}

/// A time after every instant of an instance, in units.
const FAR: i64 = i64::MAX / 4;

/// A limit on a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WindowLimit {
    Start(i64),
    LastStart(i64),
    FirstEnd(i64),
    End(i64),
}

impl DeductionWindow {
    pub(super) fn new(start: i64, end: i64) -> Self {
        Self { start, last_start: FAR, first_end: -FAR, end }
    }

    /// Returns the last start and the first end that a run of at least `time` can have in the window. Returns `None` if
    /// the run does not fit into the window.
    fn of_run(&self, time: i64) -> Option<(i64, i64)> {
        let last_start = self.last_start.min(self.end - time);
        let first_end = self.first_end.max(self.start + time);
        (self.start <= last_start && first_end <= self.end).then_some((last_start, first_end))
    }

    /// Returns true if a run that takes at least `time` fits into the window.
    pub(super) fn fits(&self, time: i64) -> bool {
        self.of_run(time).is_some()
    }

    /// Returns the minimum time for which a run of at least `time` overlaps the span from `from` to `until`. Returns
    /// `None` if the run does not fit into the window.
    pub(super) fn within(&self, time: i64, from: i64, until: i64) -> Option<i64> {
        let (last_start, first_end) = self.of_run(time)?;
        let most = time.min(until - from);
        let after_start = most.min(self.start + time - from).min(until - last_start);
        let before_end = most.min(first_end - from).min(until - (self.end - time));
        let sure = first_end.min(until) - last_start.max(from);
        Some(after_start.max(before_end).max(sure).max(0))
    }

    /// Returns the window narrowed by a limit, or `None` if no run of the task fits into the narrowed window.
    pub(super) fn narrowed(mut self, problem: &Problem, row: usize, limit: WindowLimit) -> Option<Self> {
        match limit {
            WindowLimit::Start(at) => self.start = self.start.max(at),
            WindowLimit::LastStart(at) => self.last_start = self.last_start.min(at),
            WindowLimit::FirstEnd(at) => self.first_end = self.first_end.max(at),
            WindowLimit::End(at) => self.end = self.end.min(at),
        }
        if problem.only[row] {
            let time = problem.times[problem.runs(row).start];
            self.start = self.start.max(self.first_end - time);
            self.end = self.end.min(self.last_start + time);
            let window = Self { last_start: self.end - time, first_end: self.start + time, ..self };
            return (window.start <= window.last_start).then_some(window);
        }
        // If some run fits, the fastest run also fits. The fastest run has the latest last start and the earliest first
        // end.
        let (last_start, first_end) = self.of_run(problem.fastest[row])?;
        Some(Self { last_start, first_end, ..self })
    }

    /// Returns the least energy (amount times time) that one task must hold between `from` and `until`.
    pub(super) fn least(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64, until: i64) -> i64 {
        let runs = problem.runs(row);
        let each = runs.filter_map(|at| Some(self.within(problem.times[at], from, until)? * amounts[at]));
        each.min().unwrap_or(0)
    }

    /// Returns the least energy (amount times time) that all tasks of a bag together must hold between `from` and
    /// `until`.
    pub(super) fn least_of_all(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64, until: i64) -> i64 {
        self.least(problem, row, amounts, from, until) * problem.counts[row] as i64
    }

    /// Returns an upper limit on the energy that all tasks of a bag must hold between `from` and an instant u, as a
    /// function of u. The result `(begin, length, amount)` means: the limit is zero until u = `begin`, and then grows
    /// by `amount` for each unit of time, for `length` units. The limit is computed for the run with the least total
    /// energy. Returns `None` if no run fits.
    pub(super) fn slope(&self, problem: &Problem, row: usize, amounts: &[i64], from: i64) -> Option<(i64, i64, i64)> {
        let ways =
            problem.runs(row).filter_map(|at| Some((self.of_run(problem.times[at])?, problem.times[at], amounts[at])));
        let ((last_start, first_end), time, amount) = ways.min_by_key(|&(_, time, amount)| time * amount)?;
        // If the last start is before the first end, the task runs between these two instants in every schedule. This
        // span may be longer than `time`.
        let most = time.max(first_end - last_start).min(first_end - from);
        Some((last_start.max(from), most.max(0), amount * problem.counts[row] as i64))
    }

    /// Returns the least amount that one task holds while the task runs, over the runs that fit into the window.
    pub(super) fn least_amount(&self, problem: &Problem, row: usize, amounts: &[i64]) -> i64 {
        let fitting = problem.runs(row).filter(|&at| self.fits(problem.times[at]));
        fitting.map(|at| amounts[at]).min().unwrap_or(0)
    }

    pub(super) fn is_fixed(&self) -> bool {
        self.start == self.last_start && self.first_end == self.end
    }
}
