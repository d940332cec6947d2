//! Windows of starts and allotments of all tasks, and the literals that narrow them.

use super::relaxation::Relaxation;

/// The remaining starts and modes of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StartWindow {
    /// The earliest start.
    pub(super) earliest: i64,
    /// The latest start.
    pub(super) latest: i64,
    /// The first mode, which is the slowest one.
    pub(super) first: usize,
    /// The last mode, which is the fastest one.
    pub(super) last: usize,
}

/// A window for each task. The state is empty if a task has no start or no mode left.
#[derive(Clone, Debug)]
pub(super) struct State {
    windows: Vec<StartWindow>,
    is_empty: bool,
}

/// A condition on a start or a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal {
    /// Four times the number of the task, plus the kind of the condition. Kind 0 is a start of at least `value`, and
    /// kind 1 a start of at most `-value`. Kind 2 is a mode of at least `value`, and kind 3 a mode of at most `-value`.
    pub(super) bound: usize,
    pub(super) value: i64,
}

impl Literal {
    pub(super) fn negated(self) -> Self {
        Self { bound: self.bound ^ 1, value: 1 - self.value }
    }
}

impl State {
    /// Returns the windows that follow from releases, deadlines and the longest paths between tasks.
    pub(super) fn root(relaxation: &Relaxation) -> Self {
        let window = |task: &super::task::RelaxedTask| StartWindow {
            earliest: task.head,
            latest: task.modes[task.modes.len() - 1].latest,
            first: 0,
            last: task.modes.len() - 1,
        };
        let windows: Vec<StartWindow> = relaxation.tasks.iter().map(window).collect();
        let is_empty = windows.iter().any(|window| window.earliest > window.latest);
        Self { windows, is_empty }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.is_empty
    }

    pub(super) fn refute(&mut self) {
        self.is_empty = true;
    }

    pub(super) fn window(&self, task: usize) -> StartWindow {
        self.windows[task]
    }

    pub(super) fn windows(&self) -> &[StartWindow] {
        &self.windows
    }

    pub(super) fn start_at_least(&mut self, task: usize, value: i64) {
        let window = &mut self.windows[task];
        window.earliest = window.earliest.max(value);
        self.is_empty |= window.earliest > window.latest;
    }

    pub(super) fn start_at_most(&mut self, task: usize, value: i64) {
        let window = &mut self.windows[task];
        window.latest = window.latest.min(value);
        self.is_empty |= window.earliest > window.latest;
    }

    /// Removes the modes before `mode`.
    pub(super) fn mode_at_least(&mut self, task: usize, mode: i64) {
        let window = &mut self.windows[task];
        match usize::try_from(mode) {
            Ok(mode) if mode > window.last => self.is_empty = true,
            Ok(mode) => window.first = window.first.max(mode),
            Err(_) => self.is_empty |= mode > 0,
        }
    }

    /// Removes the modes after `mode`.
    pub(super) fn mode_at_most(&mut self, task: usize, mode: i64) {
        let window = &mut self.windows[task];
        match usize::try_from(mode) {
            Ok(mode) if mode < window.first => self.is_empty = true,
            Ok(mode) => window.last = window.last.min(mode),
            Err(_) => self.is_empty |= mode < 0,
        }
    }

    /// Returns true if every remaining start and mode satisfies the literal.
    pub(super) fn implies(&self, literal: Literal) -> bool {
        let window = &self.windows[literal.bound / 4];
        let least = match literal.bound % 4 {
            0 => window.earliest,
            1 => -window.latest,
            2 => mode(window.first),
            _ => -mode(window.last),
        };
        literal.value <= least
    }

    pub(super) fn assume(&mut self, literal: Literal) {
        let (task, value) = (literal.bound / 4, literal.value);
        match literal.bound % 4 {
            0 => self.start_at_least(task, value),
            1 => self.start_at_most(task, -value),
            2 => self.mode_at_least(task, value),
            _ => self.mode_at_most(task, -value),
        }
    }
}

/// Converts the position of a mode. The number of modes is limited, so the conversion cannot fail.
fn mode(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
