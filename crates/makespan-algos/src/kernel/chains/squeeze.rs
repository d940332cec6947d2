//! A depth-first search for a schedule of one job that meets the deadline. The search runs if lists and chains find no
//! such schedule.

use makespan_core::FreeTime;

use super::draft::Draft;
use super::frame::Frame;
use crate::free_time::Calendar;
use crate::kernel::graph::{NEVER, ProcessorId, TaskPlace};

/// Maximum number of tasks of a job. For larger jobs, the search would rarely end. The depth of the recursion is the
/// number of tasks.
const MAX_TASKS: usize = 64;

/// A search that places one task after another. If no processor can run a task in time, the search goes back.
struct Search<'a> {
    draft: Draft<'a>,
    /// For each task, the minimum time from its start to the end of the job. This is the longest path with the fastest
    /// times of tasks and the minimum times of transfers.
    tails: Vec<i64>,
    end: i64,
    /// For each task, the number of its predecessors that are not placed.
    open: Vec<u32>,
    /// The ready tasks: unplaced tasks without unplaced predecessors.
    ready: Vec<u32>,
    placed: usize,
    /// The least cost of each task.
    least: Vec<i64>,
    /// The amount that may be spent in addition to the least costs of all unplaced tasks.
    spare: i64,
    /// Number of places that the search may still try.
    left: u64,
}

/// The limits of a depth-first search.
#[derive(Clone, Copy, Debug)]
pub struct SqueezeLimits {
    /// Latest end of the job, in ticks.
    pub end: i64,
    /// Maximum cost of the job, as in [`Frame::cost_on`].
    pub budget: i64,
    /// Maximum number of places that are tried.
    pub steps: u64,
}

/// The result of searching a branch.
enum BranchResult {
    All,
    Nothing,
    OutOfSteps,
}

/// The result of a depth-first search.
#[derive(Clone, Debug)]
pub enum SqueezeResult<'a> {
    /// Every task is placed, and the job ends in time.
    Found(Draft<'a>),
    /// There is no schedule that ends in time.
    Impossible,
    /// The maximum number of steps was reached, or the job is too large.
    Unknown,
}

/// Searches for a schedule of the job that ends by `end` and costs at most `budget`, on processors that are free
/// according to `calendars`. Tries at most `steps` places. A job of more than 64 tasks is not searched.
///
/// The search tries all orders of the tasks, and places each task as early as its data and its processor allow. This
/// finds a schedule if one exists and `steps` is large enough. Proof: take any schedule S that ends in time. Place its
/// tasks in the order of their starts, each on its processor in S, as early as possible. No task then ends later than
/// in S.
///
/// The search leaves a branch if a ready task would end too late on every processor that the budget allows. A task is ready if all its
/// predecessors are placed. Complexity: each place takes O(m (k + log c)) for m processors with c busy periods and a
/// task with k predecessors.
pub fn squeeze<'a>(frame: &'a Frame<'a>, calendars: &[Calendar], limits: SqueezeLimits) -> SqueezeResult<'a> {
    let SqueezeLimits { end, budget, steps } = limits;
    let tasks = frame.tasks();
    if tasks > MAX_TASKS {
        return SqueezeResult::Unknown;
    }
    let mut tails = vec![0; tasks];
    for &task in frame.chart.order.iter().rev() {
        let after = frame.outgoing(task).map(|to| frame.least_transfer(to.edge) + tails[to.task as usize]);
        tails[task as usize] = frame.chart.times[task as usize] + after.max().unwrap_or(0);
    }
    let open: Vec<u32> = (0..tasks as u32).map(|task| frame.incoming(task).count() as u32).collect();
    let ready = (0..tasks as u32).filter(|&task| open[task as usize] == 0).collect();
    let draft = Draft::new(frame, calendars.to_vec());
    let cheapest = |task: u32| {
        let able = frame.problem().processor_ids().filter(|&on| frame.time_on(task, on) != NEVER);
        able.map(|on| frame.cost_on(task, on)).min().unwrap_or(0)
    };
    let least: Vec<i64> = (0..tasks as u32).map(cheapest).collect();
    let spare = budget.saturating_sub(least.iter().copied().fold(0, i64::saturating_add));
    if spare < 0 {
        return SqueezeResult::Impossible;
    }
    let mut search = Search { draft, tails, end, open, ready, placed: 0, least, spare, left: steps };
    match search.descend() {
        BranchResult::All => SqueezeResult::Found(search.draft),
        BranchResult::Nothing => SqueezeResult::Impossible,
        BranchResult::OutOfSteps => SqueezeResult::Unknown,
    }
}

impl Search<'_> {
    fn descend(&mut self) -> BranchResult {
        let frame = self.draft.frame();
        if self.placed == frame.tasks() {
            return BranchResult::All;
        }
        let mut options: Vec<(u32, Vec<(i64, TaskPlace)>)> = Vec::with_capacity(self.ready.len());
        for &task in &self.ready {
            let own = self.options(task);
            if own.is_empty() {
                return BranchResult::Nothing;
            }
            options.push((task, own));
        }
        // Try tasks with the least slack first, and places with earlier ends first.
        let room = |own: &[(i64, TaskPlace)]| own.first().map_or(0, |&(end, _)| end);
        let key = |&(task, ref own): &(u32, Vec<(i64, TaskPlace)>)| {
            let time = frame.chart.times[task as usize];
            (self.end - (self.tails[task as usize] - time) - room(own), task)
        };
        options.sort_by_key(key);
        for (task, own) in options {
            for (_, place) in own {
                if self.left == 0 {
                    return BranchResult::OutOfSteps;
                }
                self.left -= 1;
                self.put(task, place);
                match self.descend() {
                    BranchResult::Nothing => self.lift(task),
                    found => return found,
                }
            }
        }
        BranchResult::Nothing
    }

    /// Returns the earliest place of a task on each processor, sorted by the end of the task. Omits places with which
    /// the job cannot end in time.
    fn options(&self, task: u32) -> Vec<(i64, TaskPlace)> {
        let frame = self.draft.frame();
        let rest = self.tails[task as usize] - frame.chart.times[task as usize];
        let option = |processor: ProcessorId| {
            let time = frame.time_on(task, processor);
            if time == NEVER || self.extra(task, processor) > self.spare {
                return None;
            }
            let arrival = self.draft.arrival(task, processor);
            let start = self.draft.calendars()[processor.index()].earliest_fit(1, time, arrival);
            (start + time + rest <= self.end).then_some((start + time, TaskPlace { processor, start }))
        };
        let mut all: Vec<(i64, TaskPlace)> = frame.problem().processor_ids().filter_map(option).collect();
        all.sort_by_key(|&(end, place)| (end, place.processor));
        all
    }

    /// Returns the cost of a task on a processor in addition to the least cost of the task.
    fn extra(&self, task: u32, processor: ProcessorId) -> i64 {
        self.draft.frame().cost_on(task, processor) - self.least[task as usize]
    }

    fn put(&mut self, task: u32, place: TaskPlace) {
        self.spare -= self.extra(task, place.processor);
        self.draft.put_on(task, place);
        self.placed += 1;
        self.ready.retain(|&other| other != task);
        for to in self.draft.frame().outgoing(task) {
            self.open[to.task as usize] -= 1;
            if self.open[to.task as usize] == 0 {
                self.ready.push(to.task);
            }
        }
    }

    fn lift(&mut self, task: u32) {
        for to in self.draft.frame().outgoing(task) {
            if self.open[to.task as usize] == 0 {
                self.ready.retain(|&other| other != to.task);
            }
            self.open[to.task as usize] += 1;
        }
        self.ready.push(task);
        self.placed -= 1;
        if let Some(place) = self.draft.place(task) {
            self.spare += self.extra(task, place.processor);
        }
        self.draft.lift(task);
    }
}
