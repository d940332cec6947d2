//! Executes lists and justifies their schedules.

use std::cmp::Reverse;

use super::{ModeSolution, SearchAim, is_of_last_ends};
use crate::kernel::cumulative::{CumulativeProblem, ParallelScheme, SerialScheme};
use crate::kernel::packing::Row;
use crate::scheduler::packed::search::{beyond, of_ends};
use makespan_core::Objective;

/// Maximum number of double justifications of one list. The justifications end earlier if one of them does not improve
/// the schedule.
const ROUNDS: usize = 4;
/// Maximum number of instants per task for sorting tasks by counting. If there are more instants per task, tasks are
/// sorted by comparisons.
const COUNTED: usize = 16;

/// The scheme that executes a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    Serial,
    Parallel,
}

/// Executes lists one after another. Once the arrays have grown, the decoder allocates no memory.
#[derive(Debug)]
pub(super) struct Decoder<'p, 'a> {
    pub problem: &'p CumulativeProblem<'a>,
    pub aim: SearchAim,
    scheme: SerialScheme<'p, 'a>,
    parallel: ParallelScheme<'p, 'a>,
    /// The job of each row. A row is a task or the equal tasks of a bag.
    job_of: Vec<u32>,
    /// The end of each job in the current schedule, in units of time.
    ends: Vec<i64>,
    /// For each row of equal tasks, the latest end of its tasks in the backward pass.
    latest: Vec<i64>,
    /// A list before it is justified.
    before: Vec<u32>,
    counts: Vec<u32>,
    sorted: Vec<u32>,
}

impl<'p, 'a> Decoder<'p, 'a> {
    pub fn new(problem: &'p CumulativeProblem<'a>, aim: SearchAim) -> Self {
        let instance = problem.instance();
        let job = |row: Row| instance.job_id(makespan_core::TaskId(problem.tasks_of(row).start.into())).0;
        Self {
            problem,
            aim,
            scheme: SerialScheme::new(problem),
            parallel: ParallelScheme::new(problem),
            job_of: problem.rows().map(job).collect(),
            ends: vec![0; instance.jobs().len()],
            latest: vec![0; problem.rows().len()],
            before: Vec::new(),
            counts: Vec::new(),
            sorted: Vec::new(),
        }
    }

    /// Returns whether justification can move tasks. Justification can move no task if the objective depends on the end
    /// of every task.
    pub fn is_justified(&self) -> bool {
        is_of_last_ends(self.aim.objective) || self.problem.instance().has_compound_jobs()
    }

    /// Executes a list, justifies its schedule, and sorts the list by the starts. If the makespan would exceed
    /// `limit`, in units of time, the list is rejected with an infinite value.
    ///
    /// In the backward pass, tasks end as late as possible without making the objective worse ([`Decoder::allow`]). In
    /// the forward pass, no task starts later than before. Thus, if the makespan is within the limit, no round
    /// increases the value.
    pub fn improve(&mut self, solution: &mut ModeSolution, limit: i64) {
        let ModeSolution { order, modes, value } = solution;
        let Some(mut last) = self.forward(order, modes, limit) else {
            *value = f64::INFINITY;
            return;
        };
        *value = self.value(last);
        // Sort the list by start. The sorted list gives a schedule that is at least as good.
        self.sort(order, last, false);
        let justified = self.is_justified() || self.is_beyond(last);
        for _ in 0..if justified { ROUNDS } else { 0 } {
            self.allow(last);
            self.before.clone_from(order);
            self.sort(order, last, true);
            let moved = self.scheme.backward(order, modes, &self.latest);
            debug_assert!(moved, "every task fits where it was");
            if moved {
                self.sort(order, last, false);
                last = self.forward(order, modes, i64::MAX).unwrap_or(i64::MAX);
            }
            let now = if moved { self.value(last) } else { f64::INFINITY };
            if now > *value {
                // Restore the list. While the makespan exceeds the limit, justification only reduces the makespan, and
                // may make the objective worse.
                order.clone_from(&self.before);
                return;
            }
            let better = now < *value;
            *value = now;
            self.sort(order, last, false);
            if !better {
                return;
            }
        }
    }

    /// Returns the value of a list under a scheme, without justification. With the parallel scheme, a task may come
    /// before its predecessors in the list.
    pub fn value_by(&mut self, scheme: Scheme, solution: &ModeSolution) -> f64 {
        let ModeSolution { order, modes, .. } = solution;
        let last = match scheme {
            Scheme::Serial => self.forward(order, modes, i64::MAX),
            Scheme::Parallel => self
                .parallel
                .forward(order, modes, |_, _| true)
                .then(|| self.parallel.ends().iter().copied().max().unwrap_or(0)),
        };
        last.map_or(f64::INFINITY, |last| self.value_of(scheme, last))
    }

    /// Executes an order by the parallel scheme, and sorts the order by start. If the serial scheme executes the
    /// sorted order, no task starts later than under the parallel scheme.
    pub fn order_by_starts(&mut self, order: &mut [u32], modes: &[u32]) {
        self.parallel.forward(order, modes, |_, _| true);
        let starts = self.parallel.starts();
        order.sort_by_key(|&task| starts[task as usize]);
    }

    fn forward(&mut self, order: &[u32], modes: &[u32], limit: i64) -> Option<i64> {
        let (problem, mut last) = (self.problem, 0);
        let keep = |task: u32, end: i64| {
            last = end.max(last);
            end + problem.tail(problem.row_of(task)) <= limit
        };
        self.scheme.forward(order, modes, keep).then_some(last)
    }

    fn is_beyond(&self, last: i64) -> bool {
        self.aim.limit.is_some_and(|limit| self.problem.ticks(last) > limit)
    }

    /// Returns the value of the current schedule, which ends at `last`.
    fn value(&mut self, last: i64) -> f64 {
        self.value_of(Scheme::Serial, last)
    }

    fn value_of(&mut self, scheme: Scheme, last: i64) -> f64 {
        let ticks = self.problem.ticks(last);
        let value = if self.aim.objective == Objective::Makespan {
            ticks as f64
        } else {
            self.see_ends(scheme);
            let problem = self.problem;
            self.ends.iter_mut().for_each(|end| *end = problem.ticks(*end));
            of_ends(self.aim.objective, problem.instance(), &self.ends, ticks)
        };
        beyond(value, self.aim.limit, ticks)
    }

    /// Computes the end of each job in the current schedule, in units of time.
    fn see_ends(&mut self, scheme: Scheme) {
        self.ends.fill(0);
        let ends = if scheme == Scheme::Serial { self.scheme.ends() } else { self.parallel.ends() };
        for (task, &end) in (0..).zip(ends) {
            let job = self.job_of[self.problem.row_of(task).index()] as usize;
            self.ends[job] = self.ends[job].max(end);
        }
    }

    /// Computes, for each row of equal tasks, the latest end of its tasks with which the objective does not become
    /// worse. The current schedule ends at `last`.
    fn allow(&mut self, last: i64) {
        let objective = self.aim.objective;
        let deadlines = objective.is_tardiness();
        if (is_of_last_ends(objective) && !deadlines) || self.is_beyond(last) {
            self.latest.fill(last);
            return;
        }
        self.see_ends(Scheme::Serial);
        let problem = self.problem;
        let jobs = problem.instance().jobs();
        let deadline = |job: usize| jobs[job].deadline.map_or(last, |deadline| problem.instant(deadline.ticks()));
        let late =
            |job: usize| jobs[job].deadline.map_or(0, |deadline| problem.ticks(self.ends[job]) - deadline.ticks());
        let most =
            if objective == Objective::MaxTardiness { (0..jobs.len()).map(late).max().unwrap_or(0).max(0) } else { 0 };
        let until = |job: usize| match objective {
            Objective::MaxTardiness => {
                jobs[job].deadline.map_or(last, |deadline| problem.instant(deadline.ticks().saturating_add(most)))
            }
            objective if objective.is_tardiness() => deadline(job),
            _ => self.ends[job],
        };
        let until: Vec<i64> = (0..jobs.len()).map(|job| until(job).max(self.ends[job]).min(last)).collect();
        for (latest, &job) in self.latest.iter_mut().zip(&self.job_of) {
            *latest = until[job as usize];
        }
    }

    /// Sorts tasks of the current schedule, which ends at `last`: by increasing start, or by decreasing end. The sort
    /// is stable.
    fn sort(&mut self, order: &mut Vec<u32>, last: i64, by_falling_end: bool) {
        let (starts, ends) = (self.scheme.starts(), self.scheme.ends());
        if last as usize > COUNTED * order.len() {
            if by_falling_end {
                order.sort_by_key(|&task| Reverse(ends[task as usize]));
            } else {
                order.sort_by_key(|&task| starts[task as usize]);
            }
            return;
        }
        let key = |task: u32| {
            if by_falling_end { (last - ends[task as usize]) as usize } else { starts[task as usize] as usize }
        };
        self.counts.clear();
        self.counts.resize(last as usize + 2, 0);
        order.iter().for_each(|&task| self.counts[key(task) + 1] += 1);
        for at in 1..self.counts.len() {
            self.counts[at] += self.counts[at - 1];
        }
        self.sorted.resize(order.len(), 0);
        for &task in &*order {
            let place = &mut self.counts[key(task)];
            self.sorted[*place as usize] = task;
            *place += 1;
        }
        std::mem::swap(order, &mut self.sorted);
    }
}
