//! All possible outcomes of schedules of a tiny instance, found by a search that is simple enough to be obviously
//! correct.
//!
//! The search tries all orders of the tasks, and all processors for each task. A task starts at the first instant at
//! which two conditions hold: its processors are open for its whole time, and the earlier tasks that block it have
//! ended. An earlier task in the order blocks the tasks that wait for it, and the tasks that use one of its processors.
//! No value improves if a task ends later. So it suffices that one of the orders is the order in which the tasks start
//! in a best schedule.
//!
//! If tasks need resources besides processors, a task also waits until its resources are available, and it starts no
//! earlier than the previous task in the order. Tasks that come later in the order hold nothing yet, so the resources
//! remain available until the task ends. By induction, for the order of a best schedule, the search starts no task
//! later than this schedule does.

use std::collections::BTreeSet;

use makespan_core::{Instance, Objective, Payload, ProcSet, ResourceKind, TaskId, Time, task_cost, volume};

/// The values of one schedule, in the order of the first six of [`Objective::OF_SCHEDULES`].
pub type Outcome = [i128; 6];

struct Placed {
    task: TaskId,
    /// The processors of a task, as one bit for each processor.
    mask: u32,
    start: i64,
    end: i64,
    cost: i64,
}

struct Search<'a> {
    instance: &'a Instance,
    tasks: Vec<TaskId>,
    /// For each task, the sets of processors on which it can run. Each set has the time and the cost of the task on
    /// this set.
    choices: Vec<Vec<(u32, i64, i64)>>,
    placed: Vec<Placed>,
    outcomes: BTreeSet<Outcome>,
}

/// Returns all outcomes that may be optimal for some objective.
pub fn all(instance: &Instance) -> Vec<Outcome> {
    let tasks: Vec<TaskId> = instance.task_ids().collect();
    let choices = tasks.iter().map(|&task| choices(instance, task)).collect();
    let mut search = Search { instance, tasks, choices, placed: Vec::new(), outcomes: BTreeSet::new() };
    search.descend(0);
    search.outcomes.into_iter().collect()
}

/// Returns the smallest value of the schedules that end by `by`, or the smallest value of all schedules if `by` is
/// `None`. Returns `None` if there is no such schedule.
pub fn least(outcomes: &[Outcome], objective: Objective, by: Option<Time>) -> Option<i128> {
    let at = Objective::OF_SCHEDULES.iter().position(|&other| other == objective)?;
    let in_time = |outcome: &&Outcome| by.is_none_or(|by| outcome[0] <= i128::from(by.ticks()));
    outcomes.iter().filter(in_time).map(|outcome| outcome[at]).min()
}

fn choices(instance: &Instance, task: TaskId) -> Vec<(u32, i64, i64)> {
    let ids = |mask: u32| (0..instance.processors()).filter(move |id| mask >> id & 1 == 1).map(|id| (id, id));
    let on = |mask: u32| {
        let time = instance.try_time(task, &ProcSet::from_intervals(ids(mask).collect()))?;
        Some((mask, time.ticks(), task_cost(volume(instance.profile(task)), time)))
    };
    (1..1 << instance.processors()).filter_map(on).collect()
}

impl Search<'_> {
    fn descend(&mut self, done: u32) {
        if self.placed.len() == self.tasks.len() {
            let outcome = self.outcome();
            self.outcomes.insert(outcome);
            return;
        }
        for at in 0..self.tasks.len() {
            let task = self.tasks[at];
            let job = self.instance.job_of(task);
            // The tasks of a bag are interchangeable, so only one order of them is tried.
            let later = job.is_bag() && task > job.first() && done >> (at - 1) & 1 == 0;
            if done >> at & 1 == 1 || later {
                continue;
            }
            for index in 0..self.choices[at].len() {
                let (mask, time, cost) = self.choices[at][index];
                let Some(mut ready) = self.ready(task, mask) else { break };
                if self.instance.has_demands() {
                    ready = self.placed.last().map_or(ready, |last| last.start.max(ready));
                }
                let held = self.placed.iter().filter(|other| other.mask & mask != 0).map(|other| other.end);
                let start = self.fitting(task, mask, held.fold(ready, i64::max), time);
                let Some(start) = start else { continue };
                if self.placed.last().is_some_and(|last| last.start > start) {
                    continue;
                }
                self.placed.push(Placed { task, mask, start, end: start + time, cost });
                self.descend(done | 1 << at);
                self.placed.pop();
            }
        }
    }

    /// Returns the instant at which all predecessors have ended and their data have arrived on these processors, or
    /// `None` if a predecessor is not placed yet.
    fn ready(&self, task: TaskId, mask: u32) -> Option<i64> {
        let mut ready = self.instance.release(task).ticks();
        let row = |task: TaskId| self.instance.different(task);
        for edge in self.instance.edges().iter().filter(|edge| row(edge.to) == row(task)) {
            // The first task of a bag represents all its tasks.
            for from in self.instance.equal_tasks(edge.from) {
                let other = self.placed.iter().find(|other| other.task == from)?;
                let carried = match edge.payload {
                    Payload::Fixed(time) if self.is_elsewhere(other.mask, mask) => time.ticks(),
                    _ => 0,
                };
                ready = ready.max(other.end + carried);
            }
        }
        Some(ready)
    }

    /// Returns true if some processors of `from` and `to` are on different nodes.
    fn is_elsewhere(&self, from: u32, to: u32) -> bool {
        let nodes = |mask: u32| {
            let ids = (0..self.instance.processors()).filter(move |id| mask >> id & 1 == 1);
            ids.map(|id| self.instance.platform().node_of(id))
        };
        nodes(from).any(|from| nodes(to).any(|to| to != from))
    }

    /// Returns the first instant from which the processors are open for `time` ticks and no resource is short, or
    /// `None` if some resource is always short.
    fn fitting(&self, task: TaskId, mask: u32, mut start: i64, time: i64) -> Option<i64> {
        loop {
            start = self.open(mask, start, time);
            if !self.is_short(task, mask, start) {
                return Some(start);
            }
            start = self.placed.iter().map(|other| other.end).filter(|&end| end > start).min()?;
        }
    }

    /// Returns true if too little of some resource is left for a task on these processors at an instant.
    fn is_short(&self, task: TaskId, mask: u32, start: i64) -> bool {
        let platform = self.instance.platform();
        (0..platform.resources().len()).any(|at| {
            let id = makespan_core::ResourceId(at as u16);
            let kind = platform.resource_of(id).kind;
            let here = |other: &&Placed| kind == ResourceKind::Consumable || other.start <= start && start < other.end;
            let held = |node: Option<usize>| {
                let others = self.placed.iter().filter(here);
                others.map(|other| self.holds(other.task, other.mask, id, node)).sum::<u64>()
            };
            let nodes = (0..platform.nodes().len()).map(Some).filter(|_| kind == ResourceKind::OfNodes);
            let places = nodes.chain((kind != ResourceKind::OfNodes).then_some(None));
            places.into_iter().any(|node| {
                let own = self.holds(task, mask, id, node);
                let there = node.map_or(platform.total(id) as u64, |node| platform.amount(node, id));
                own > 0 && own + held(node) > there
            })
        })
    }

    /// Returns the amount of a resource that a task on these processors holds, on `node`, or in total if `node` is
    /// `None`.
    fn holds(&self, task: TaskId, mask: u32, id: makespan_core::ResourceId, node: Option<usize>) -> u64 {
        let Some(demand) = self.instance.demands(task).iter().find(|demand| demand.resource == id) else { return 0 };
        let platform = self.instance.platform();
        let on = |id: u32| mask >> id & 1 == 1 && node.is_none_or(|node| platform.node_of(id) == node);
        let here = (0..platform.processors()).filter(|&id| on(id)).count() as u32;
        if here == 0 { 0 } else { demand.need.share(here, mask.count_ones()) }
    }

    fn open(&self, mask: u32, mut start: i64, time: i64) -> i64 {
        let closed = |start: i64| {
            let meets = |period: &&makespan_core::Unavailable| {
                period.processors.iter().any(|id| mask >> id & 1 == 1)
                    && period.start.ticks() < start + time
                    && start < period.end.ticks()
            };
            self.instance.unavailable().iter().find(meets).map(|period| period.end.ticks())
        };
        while let Some(end) = closed(start) {
            start = end;
        }
        start
    }

    fn outcome(&self) -> Outcome {
        let (mut weighted, mut flow, mut latest, mut late) = (0, 0, 0, 0);
        for id in self.instance.ids() {
            let own = self
                .placed
                .iter()
                .filter(|placed| self.instance.job_id(placed.task) == id)
                .map(|placed| i128::from(placed.end));
            let (end, job) = (own.max().unwrap_or(0), self.instance.job(id));
            weighted += end * i128::from(job.weight.millionths());
            flow += end - i128::from(job.release.ticks());
            let after = job.deadline.map_or(0, |deadline| (end - i128::from(deadline.ticks())).max(0));
            latest = latest.max(after);
            late += after * i128::from(job.weight.millionths());
        }
        let makespan = self.placed.iter().map(|placed| i128::from(placed.end)).max().unwrap_or(0);
        let cost = self.placed.iter().map(|placed| i128::from(placed.cost)).sum();
        let flow = (1000 * flow).div_euclid(self.instance.jobs().len().max(1) as i128);
        [makespan, weighted, flow, cost, latest, late]
    }
}
