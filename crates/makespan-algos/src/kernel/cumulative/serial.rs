//! The serial scheme, forward and backward in time.

use super::CumulativeProblem;
use super::free::Free;
use super::slots::Slots;
use super::steps::Steps;

/// Inserts the tasks of a list one after another. In the forward pass, each task starts at the first instant from which
/// its demand is free for its whole run time. In the backward pass, each task starts at the last instant with this
/// property.
///
/// The forward pass is the serial schedule generation scheme of J. Kelley, "The critical-path method: resources
/// planning and scheduling", in Industrial Scheduling, 1963. See R. Kolisch, EJOR 90, 1996, DOI
/// 10.1016/0377-2217(95)00357-6. If the objective never decreases when a task ends later, some list gives an optimum.
/// Double justification combines a backward pass by decreasing ends and a forward pass by increasing starts: V. Valls,
/// F. Ballestin and S. Quintanilla, EJOR 165, 2005, DOI 10.1016/j.ejor.2004.04.008. In the backward pass, no task
/// starts earlier than before. In the forward pass, no task starts later than in the backward pass.
///
/// Complexity: O(n (s + d)) for n tasks, if a task reads s steps or slots of free amounts and writes d of them. The
/// first step is found by bisection.
#[derive(Clone, Debug)]
pub struct SerialScheme<'p, 'a>(Form<'p, 'a>);

#[derive(Clone, Debug)]
enum Form<'p, 'a> {
    Slots(Insertion<'p, 'a, Slots<u64>>),
    WideSlots(Insertion<'p, 'a, Slots<u128>>),
    Steps(Insertion<'p, 'a, Steps<u64>>),
    WideSteps(Insertion<'p, 'a, Steps<u128>>),
}

/// Calls a method on a scheme with any representation of the free amounts.
macro_rules! each {
    ($form:expr, $insertion:ident => $call:expr) => {
        match $form {
            Form::Slots($insertion) => $call,
            Form::WideSlots($insertion) => $call,
            Form::Steps($insertion) => $call,
            Form::WideSteps($insertion) => $call,
        }
    };
}

impl<'p, 'a> SerialScheme<'p, 'a> {
    /// Returns a scheme for lists of a problem.
    pub fn new(problem: &'p CumulativeProblem<'a>) -> Self {
        Self(match (problem.is_short(), problem.is_narrow()) {
            (true, true) => Form::Slots(Insertion::new(problem)),
            (true, false) => Form::WideSlots(Insertion::new(problem)),
            (false, true) => Form::Steps(Insertion::new(problem)),
            (false, false) => Form::WideSteps(Insertion::new(problem)),
        })
    }

    /// Returns, for tests, a scheme that stores steps even if times are short.
    #[cfg(test)]
    pub(super) fn in_steps(problem: &'p CumulativeProblem<'a>, wide: bool) -> Self {
        Self(if wide { Form::WideSteps(Insertion::new(problem)) } else { Form::Steps(Insertion::new(problem)) })
    }

    /// Returns, for tests, a scheme that uses slots with words of 128 bits.
    #[cfg(test)]
    pub(super) fn in_wide_slots(problem: &'p CumulativeProblem<'a>) -> Self {
        Self(Form::WideSlots(Insertion::new(problem)))
    }

    /// Inserts all tasks in a topological order. `modes` contains the index of the mode of each task. `keep` receives
    /// each task with its end, and returns whether to continue. If `keep` returns `false`, the partial schedule is
    /// discarded. Returns whether all tasks are placed.
    pub fn forward(&mut self, order: &[u32], modes: &[u32], keep: impl FnMut(u32, i64) -> bool) -> bool {
        each!(&mut self.0, insertion => insertion.forward(order, modes, keep))
    }

    /// Inserts all tasks backward. In `order`, each task comes after all its successors. Each task is placed as late as
    /// possible, but ends by the instant in `latest` for its row of equal tasks. Returns whether every task starts at
    /// its release or later. If `order` sorts the tasks by decreasing ends in a schedule in which every task ends by
    /// the instant in `latest`, the result is always true.
    pub fn backward(&mut self, order: &[u32], modes: &[u32], latest: &[i64]) -> bool {
        each!(&mut self.0, insertion => insertion.backward(order, modes, latest))
    }

    /// Returns the start of each task, indexed by task.
    pub fn starts(&self) -> &[i64] {
        each!(&self.0, insertion => &insertion.starts)
    }

    /// Returns the end of each task, indexed by task.
    pub fn ends(&self) -> &[i64] {
        each!(&self.0, insertion => &insertion.ends)
    }
}

/// The scheme for one representation of the free amounts.
#[derive(Clone, Debug)]
struct Insertion<'p, 'a, F: Free> {
    problem: &'p CumulativeProblem<'a>,
    /// The demand of each mode.
    demands: Vec<F::Word>,
    free: F,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// For each row of equal tasks, the first start of its tasks.
    firsts: Vec<i64>,
    /// For each row of equal tasks, the last end of its tasks.
    lasts: Vec<i64>,
}

impl<'p, 'a, F: Free> Insertion<'p, 'a, F> {
    fn new(problem: &'p CumulativeProblem<'a>) -> Self {
        Self {
            problem,
            demands: problem.demands(),
            free: F::new(problem.base()),
            starts: vec![0; problem.tasks()],
            ends: vec![0; problem.tasks()],
            firsts: vec![0; problem.rows.len()],
            lasts: vec![0; problem.rows.len()],
        }
    }

    fn forward(&mut self, order: &[u32], modes: &[u32], mut keep: impl FnMut(u32, i64) -> bool) -> bool {
        let problem = self.problem;
        self.free.clear();
        self.lasts.fill(0);
        for &task in order {
            let (row, mode) = (problem.row_of(task), modes[task as usize]);
            let from =
                problem.before(row).iter().fold(problem.release(row), |from, row| from.max(self.lasts[row.index()]));
            let (time, demand) = (problem.mode(mode).time, self.demands[mode as usize]);
            let start = self.free.first_fit(from, time, demand);
            self.free.hold(start, time, demand);
            let end = start + time;
            self.starts[task as usize] = start;
            self.ends[task as usize] = end;
            let last = &mut self.lasts[row.index()];
            *last = end.max(*last);
            if !keep(task, end) {
                return false;
            }
        }
        true
    }

    fn backward(&mut self, order: &[u32], modes: &[u32], latest: &[i64]) -> bool {
        let problem = self.problem;
        self.free.clear();
        self.firsts.fill(i64::MAX);
        for &task in order {
            let (row, mode) = (problem.row_of(task), modes[task as usize]);
            let behind = problem.behind(row).iter();
            let until = behind.fold(latest[row.index()], |until, row| until.min(self.firsts[row.index()]));
            let (time, demand) = (problem.mode(mode).time, self.demands[mode as usize]);
            let Some(start) = self.free.last_fit(problem.release(row), until, time, demand) else { return false };
            self.free.hold(start, time, demand);
            self.starts[task as usize] = start;
            self.ends[task as usize] = start + time;
            let first = &mut self.firsts[row.index()];
            *first = start.min(*first);
        }
        true
    }
}
