//! Selection of the deductions that the certificate of a refutation needs.

use makespan_verify::proof::{Reason, Step};

use super::problem::Problem;
use super::state::{Cause, Conflict, RefutedSupposition, WindowChange};
use super::window::{DeductionWindow, WindowLimit};

/// A pass over the changes of windows, backwards from a contradiction. The pass keeps only the steps on which the
/// contradiction depends.
pub(super) struct Pruning<'a> {
    problem: &'a Problem,
    /// The windows of all tasks before any deduction. These windows follow from the deadline and the paths between
    /// tasks.
    root: &'a [DeductionWindow],
    windows: Vec<DeductionWindow>,
    needed: Vec<WindowLimits>,
    /// The number of steps that are kept, including nested steps.
    pub(super) kept: usize,
}

/// The sides of a window on which the contradiction depends: the start, the end, both, or none.
#[derive(Clone, Copy, Debug, Default)]
struct WindowLimits {
    start: bool,
    end: bool,
}

impl<'a> Pruning<'a> {
    /// Returns a pass that begins at the contradiction. `windows` are the windows of all tasks at the contradiction.
    pub(super) fn new(problem: &'a Problem, root: &'a [DeductionWindow], windows: Vec<DeductionWindow>) -> Self {
        let needed = vec![WindowLimits::default(); problem.rows()];
        Self { problem, root, windows, needed, kept: 0 }
    }

    /// Returns the steps that prove a contradiction. `entries` are the changes of windows before the contradiction.
    pub(super) fn steps(&mut self, entries: &[WindowChange], conflict: &Conflict) -> Vec<Step> {
        let mut steps = Vec::new();
        match conflict {
            Conflict::Full(thing, from, until) => {
                self.need_window(*thing, *from, *until, None);
                steps.push(Step::Full(*thing, *from, *until));
            }
            Conflict::Limit(row, limit, cause) => {
                self.need(*row, WindowLimits { start: true, end: true });
                steps.extend(self.step(*row, *limit, cause));
            }
        }
        for entry in entries.iter().rev() {
            let row = entry.row as usize;
            let start = entry.new.start != entry.old.start || entry.new.first_end != entry.old.first_end;
            let end = entry.new.end != entry.old.end || entry.new.last_start != entry.old.last_start;
            let needed = self.needed[row];
            self.windows[row] = entry.old;
            if !(start && needed.start || end && needed.end) {
                continue;
            }
            self.needed[row] = WindowLimits { start: needed.start && !start, end: needed.end && !end };
            if !self.problem.only[row] {
                // Both sides of the window determine which runs fit, so each limit depends on both sides.
                self.needed[row] = WindowLimits { start: true, end: true };
            }
            steps.extend(self.step(entry.row, entry.limit, &entry.cause));
        }
        steps.reverse();
        self.kept += steps.len();
        steps
    }

    /// Returns the step that states a limit, or `None` if the limit needs no step. Also marks the sides of windows on
    /// which this limit depends, because the contradiction depends on these sides, too.
    fn step(&mut self, row: u32, limit: WindowLimit, cause: &Cause) -> Option<Step> {
        let is_start = matches!(limit, WindowLimit::Start(_) | WindowLimit::LastStart(_));
        let own = if self.problem.only[row as usize] {
            WindowLimits { start: is_start, end: !is_start }
        } else {
            WindowLimits { start: true, end: true }
        };
        let reason = match cause {
            Cause::Supposed => return None,
            Cause::Edge(other) => {
                self.need(*other, WindowLimits { start: is_start, end: !is_start });
                return None;
            }
            Cause::Window(thing, from, until) => {
                self.need(row, own);
                self.need_window(*thing, *from, *until, Some(row));
                Reason::Window(*thing, *from, *until)
            }
            Cause::Pair(other) => {
                self.need(row, own);
                self.need(*other, WindowLimits { start: true, end: true });
                Reason::Pair(*other)
            }
            Cause::Refuted(refuted) => {
                self.need(row, own);
                Reason::Steps(self.refuted(refuted))
            }
        };
        match limit {
            WindowLimit::Start(at) => Some(Step::Start(row, at, reason)),
            WindowLimit::End(by) => Some(Step::End(row, by, reason)),
            WindowLimit::LastStart(_) | WindowLimit::FirstEnd(_) => None,
        }
    }

    /// Returns the steps that refute a supposition. The step that follows from the refutation contains these steps.
    fn refuted(&mut self, refuted: &RefutedSupposition) -> Vec<Step> {
        let outside = std::mem::replace(&mut self.needed, vec![WindowLimits::default(); self.problem.rows()]);
        for entry in &refuted.entries {
            self.windows[entry.row as usize] = entry.new;
        }
        let steps = self.steps(&refuted.entries, &refuted.conflict);
        for (needed, outside) in self.needed.iter_mut().zip(outside) {
            needed.start |= outside.start;
            needed.end |= outside.end;
        }
        steps
    }

    fn need(&mut self, row: u32, sides: WindowLimits) {
        let needed = &mut self.needed[row as usize];
        needed.start |= sides.start;
        needed.end |= sides.end;
    }

    /// Marks the sides of windows that force tasks to hold the resource `thing` between `from` and `until`, because the
    /// contradiction depends on these sides. Ignores the task with the index `but`, unless this task is a bag.
    fn need_window(&mut self, thing: u32, from: i64, until: i64, but: Option<u32>) {
        let problem = self.problem;
        let of = &problem.things[thing as usize];
        // If `but` is a bag, the step narrows the window of its tasks by a supposition about one task. All other tasks
        // of the bag still hold the resource.
        let counts = |row: &&u32| Some(**row) != but || problem.counts[**row as usize] > 1;
        for &row in of.members.iter().filter(counts) {
            let (root, window) = (self.root[row as usize], self.windows[row as usize]);
            if root == window {
                continue;
            }
            let least = |window: DeductionWindow| window.least(problem, row as usize, &of.amounts, from, until);
            let now = least(window);
            if now == 0 {
                continue;
            }
            let sides = if problem.only[row as usize] {
                let without_start = DeductionWindow { start: root.start, first_end: root.first_end, ..window };
                let without_end = DeductionWindow { last_start: root.last_start, end: root.end, ..window };
                WindowLimits { start: least(without_start) < now, end: least(without_end) < now }
            } else {
                WindowLimits { start: true, end: true }
            };
            self.need(row, sides);
        }
    }
}
