//! The parallel scheme, which goes forward in time from event to event.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::CumulativeProblem;
use super::free::{Base, Free};
use super::steps::Steps;
use super::word::Word;
use crate::kernel::packing::Row;

/// At each event, reads the list from its head. Starts each task if its predecessors have ended and its demand is free
/// until its end. Events are ends of tasks, releases of tasks, and changes of the available amounts.
///
/// Source: J. Kelley 1963 and R. Kolisch, EJOR 90, 1996, DOI 10.1016/0377-2217(95)00357-6. If processors are the only
/// resource, the scheme is Graham's list algorithm (SIAM J. Appl. Math. 17, 1969, DOI 10.1137/0117039). The schedules
/// are non-delay: no task waits if it could start. For some instances, no list gives an optimum (A. Sprecher, R.
/// Kolisch, A. Drexl, EJOR 80, 1995, DOI 10.1016/0377-2217(93)E0294-8). Complexity: O(n (log n + w)) for n tasks, if
/// up to w tasks wait at an event.
#[derive(Clone, Debug)]
pub struct ParallelScheme<'p, 'a>(Form<'p, 'a>);

#[derive(Clone, Debug)]
enum Form<'p, 'a> {
    Narrow(Events<'p, 'a, u64>),
    Wide(Events<'p, 'a, u128>),
}

/// Calls a method on a scheme with words of 64 or 128 bits.
macro_rules! each {
    ($form:expr, $events:ident => $call:expr) => {
        match $form {
            Form::Narrow($events) => $call,
            Form::Wide($events) => $call,
        }
    };
}

impl<'p, 'a> ParallelScheme<'p, 'a> {
    /// Returns a scheme for lists of a problem.
    pub fn new(problem: &'p CumulativeProblem<'a>) -> Self {
        Self(if problem.is_narrow() { Form::Narrow(Events::new(problem)) } else { Form::Wide(Events::new(problem)) })
    }

    /// Starts all tasks. At each event, tasks that come first in `order` start first. `order` may be any order of all
    /// tasks. `modes` and `keep` have the same meaning as for [`super::SerialScheme::forward`]. `keep` receives the
    /// tasks by increasing start. Returns whether all tasks are placed.
    pub fn forward(&mut self, order: &[u32], modes: &[u32], keep: impl FnMut(u32, i64) -> bool) -> bool {
        each!(&mut self.0, events => events.forward(order, modes, keep))
    }

    /// Returns the start of each task, indexed by task.
    pub fn starts(&self) -> &[i64] {
        each!(&self.0, events => &events.starts)
    }

    /// Returns the end of each task, indexed by task.
    pub fn ends(&self) -> &[i64] {
        each!(&self.0, events => &events.ends)
    }
}

/// The scheme for words of one width.
#[derive(Clone, Debug)]
struct Events<'p, 'a, W: Word> {
    problem: &'p CumulativeProblem<'a>,
    /// The demand of each mode.
    demands: Vec<W>,
    base: Base<W>,
    /// The free amounts from the current event on. `None` if the available amounts never change.
    later: Option<Steps<W>>,
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// The position of each task in the order.
    places: Vec<u32>,
    /// For each row (a task or the equal tasks of a bag), the number of predecessors that have not ended.
    missing: Vec<u32>,
    /// One bit for each position in the order: set if the task at this position may start and has not started.
    ready: Vec<u64>,
    /// Future events: the instant, and a code. The code of an end is the index of the task. The code of a release is
    /// the index of the row of equal tasks plus the number of tasks. The code of a change of the available amounts is
    /// `CHANGE`.
    agenda: BinaryHeap<Reverse<(i64, u32)>>,
}

const CHANGE: u32 = u32::MAX;

impl<'p, 'a, W: Word> Events<'p, 'a, W> {
    fn new(problem: &'p CumulativeProblem<'a>) -> Self {
        let base: Base<W> = problem.base();
        Self {
            problem,
            demands: problem.demands(),
            later: (base.steps.len() > 1).then(|| Steps::new(base.clone())),
            base,
            starts: vec![0; problem.tasks()],
            ends: vec![0; problem.tasks()],
            places: vec![0; problem.tasks()],
            missing: vec![0; problem.rows.len()],
            ready: vec![0; problem.tasks().div_ceil(64)],
            agenda: BinaryHeap::new(),
        }
    }

    fn forward(&mut self, order: &[u32], modes: &[u32], mut keep: impl FnMut(u32, i64) -> bool) -> bool {
        self.reset(order);
        let problem = self.problem;
        let mut step = 0;
        let (mut now, mut free) = (0, self.base.steps[0].1);
        let mut left = order.len();
        loop {
            left -= match self.start_all(order, modes, now, &mut free, &mut keep) {
                Some(started) => started,
                None => return false,
            };
            if left == 0 {
                return true;
            }
            // While tasks are left, an event exists, because each task fits on the empty platform at some time.
            let Some(&Reverse((next, _))) = self.agenda.peek() else { return false };
            now = next;
            while let Some(&Reverse((at, event))) = self.agenda.peek()
                && at == now
            {
                self.agenda.pop();
                if event == CHANGE {
                    let (old, new) = (self.base.steps[step].1, self.base.steps[step + 1].1);
                    free = free.minus(old).plus(new);
                    step += 1;
                } else if (event as usize) < order.len() {
                    free = free.plus(self.demands[modes[event as usize] as usize]);
                    self.end(problem.row_of(event), now);
                } else {
                    self.submit(Row(event - order.len() as u32));
                }
            }
        }
    }

    fn reset(&mut self, order: &[u32]) {
        let problem = self.problem;
        self.later.as_mut().map(Free::clear);
        for (place, &task) in (0..).zip(order) {
            self.places[task as usize] = place;
        }
        self.ready.fill(0);
        self.agenda.clear();
        self.agenda.extend(self.base.steps[1..].iter().map(|step| Reverse((step.0, CHANGE))));
        for row in problem.rows() {
            let before = problem.before(row).iter();
            self.missing[row.index()] = before.map(|&row| problem.tasks_of(row).len() as u32).sum();
            if self.missing[row.index()] == 0 {
                self.release(row, 0);
            }
        }
    }

    /// Makes the tasks of a row of equal tasks ready. All predecessors must have ended. If the release is in the
    /// future, adds an event instead.
    fn release(&mut self, row: Row, now: i64) {
        let release = self.problem.release(row);
        if release > now {
            self.agenda.push(Reverse((release, self.problem.tasks() as u32 + row.0)));
        } else {
            self.submit(row);
        }
    }

    fn submit(&mut self, row: Row) {
        for task in self.problem.tasks_of(row) {
            let place = self.places[task as usize];
            self.ready[place as usize / 64] |= 1 << (place % 64);
        }
    }

    fn end(&mut self, row: Row, now: i64) {
        let problem = self.problem;
        for &behind in problem.behind(row) {
            self.missing[behind.index()] -= 1;
            if self.missing[behind.index()] == 0 {
                self.release(behind, now);
            }
        }
    }

    /// Starts all tasks that fit now. Returns the number of started tasks, or `None` if `keep` returns `false`.
    fn start_all(
        &mut self,
        order: &[u32],
        modes: &[u32],
        now: i64,
        free: &mut W,
        keep: &mut impl FnMut(u32, i64) -> bool,
    ) -> Option<usize> {
        let mut started = 0;
        for block in 0..self.ready.len() {
            let mut bits = self.ready[block];
            while bits != 0 {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                let task = order[block * 64 + bit as usize];
                let mode = modes[task as usize];
                let (time, demand) = (self.problem.mode(mode).time, self.demands[mode as usize]);
                if !free.fits(demand, self.base.guard) {
                    continue;
                }
                if let Some(later) = &mut self.later {
                    if !later.fits(now, time, demand) {
                        continue;
                    }
                    later.hold(now, time, demand);
                }
                *free = free.minus(demand);
                self.ready[block] &= !(1 << bit);
                self.starts[task as usize] = now;
                self.ends[task as usize] = now + time;
                self.agenda.push(Reverse((now + time, task)));
                started += 1;
                if !keep(task, now + time) {
                    return None;
                }
            }
        }
        Some(started)
    }
}
