//! Everything that a schedule of a tiny instance can come to, by a search that is meant to be obviously right.
//!
//! All orders of the tasks and all processors for each are tried; a task starts as soon as all before it in the order
//! that it waits for, or that hold its processors, have ended, and these are open throughout. No value improves when a
//! task ends later, so the tasks of a best schedule in the order of their starts are among them.

use std::collections::BTreeSet;

use makespan_core::{Instance, Objective, ProcSet, TaskId, Time, task_cost, volume};

/// The values of one schedule, in the order of [`Objective::OF_SCHEDULES`].
pub type Outcome = [i128; 4];

struct Placed {
    task: TaskId,
    /// A bit for each processor.
    mask: u32,
    start: i64,
    end: i64,
    cost: i64,
}

struct Search<'a> {
    instance: &'a Instance,
    tasks: Vec<TaskId>,
    /// For each task the processors on which it runs, with its time.
    choices: Vec<Vec<(u32, i64, i64)>>,
    placed: Vec<Placed>,
    outcomes: BTreeSet<Outcome>,
}

/// All of them that may be best in something.
pub fn all(instance: &Instance) -> Vec<Outcome> {
    let tasks: Vec<TaskId> = instance.task_ids().collect();
    let choices = tasks.iter().map(|&task| choices(instance, task)).collect();
    let mut search = Search { instance, tasks, choices, placed: Vec::new(), outcomes: BTreeSet::new() };
    search.descend(0);
    search.outcomes.into_iter().collect()
}

/// The least value, of schedules that end by an instant if one is given; `None` where there are none.
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
            // Equal tasks are alike.
            let later = job.is_bag() && task > job.first() && done >> (at - 1) & 1 == 0;
            if done >> at & 1 == 1 || later {
                continue;
            }
            let Some(ready) = self.ready(task) else { continue };
            for index in 0..self.choices[at].len() {
                let (mask, time, cost) = self.choices[at][index];
                let held = self.placed.iter().filter(|other| other.mask & mask != 0).map(|other| other.end);
                let start = self.open(mask, held.fold(ready, i64::max), time);
                if self.placed.last().is_some_and(|last| last.start > start) {
                    continue;
                }
                self.placed.push(Placed { task, mask, start, end: start + time, cost });
                self.descend(done | 1 << at);
                self.placed.pop();
            }
        }
    }

    /// When all have ended that the task waits for; `None` while one of them is not placed.
    fn ready(&self, task: TaskId) -> Option<i64> {
        let mut ready = self.instance.release(task).ticks();
        for edge in self.instance.edges().iter().filter(|edge| edge.to == task) {
            ready = ready.max(self.placed.iter().find(|other| other.task == edge.from)?.end);
        }
        Some(ready)
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
        let (mut weighted, mut flow) = (0, 0);
        for id in self.instance.ids() {
            let own = self
                .placed
                .iter()
                .filter(|placed| self.instance.job_id(placed.task) == id)
                .map(|placed| i128::from(placed.end));
            let (end, job) = (own.max().unwrap_or(0), self.instance.job(id));
            weighted += end * i128::from(job.weight.millionths());
            flow += end - i128::from(job.release.ticks());
        }
        let makespan = self.placed.iter().map(|placed| i128::from(placed.end)).max().unwrap_or(0);
        let cost = self.placed.iter().map(|placed| i128::from(placed.cost)).sum();
        [makespan, weighted, (1000 * flow).div_euclid(self.instance.jobs().len().max(1) as i128), cost]
    }
}
