//! Insertion of tasks into the plan.

use std::sync::Arc;

use makespan_core::{Instance, Job, JobId, Rows, TaskId, TaskSet, Time, View};
use rustc_hash::FxHashMap;

use super::super::outlook::Outlook;
use super::{PlanSortKey, WaitingPlan};
use crate::kernel::choices::{Choice, Choices};
use crate::scheduler::{GoalTask, NumberedWholes};

/// Maximum number of tasks in the plan.
const MOST: usize = 1000;
/// Maximum number of new tasks for which the best positions are searched. If there are more new tasks, their keys
/// determine the positions.
const FEW: usize = 16;
/// Maximum product of the number of new tasks and the number of tasks in the plan. If the product is larger, the best
/// positions are not searched, because each tried position requires an insertion of all tasks of the plan.
const PLACED: usize = 2000;
/// Factor of the price of a task's area. Let L be the time that all processors need for the running and waiting tasks.
/// The price of an area is this factor times the mean weight of the planned tasks, times the number of tasks that
/// arrived in the last L ticks, divided by the number of processors. The value was measured on moldable replays at
/// loads of 0.8 to 1.2.
const COMING: f64 = 0.1;

impl WaitingPlan {
    /// Returns the sort key of a task. Keys order tasks that have no position in the plan.
    pub(super) fn key(&self, instance: &Instance, task: TaskId) -> PlanSortKey {
        if let Some(&(place, _)) = self.given.get(&task) {
            return PlanSortKey(0, f64::from(place), 0.0);
        }
        let profile = instance.profile(task);
        let job = instance.job_of(task);
        let work = || profile.least_work(Time::MAX).unwrap_or(1).max(1) as f64;
        let figure = match self.residual.objective.of_jobs() {
            None => -(profile.shortest().ticks() as f64),
            Some(shape) if shape.is_tardiness() => job.deadline.map_or(f64::MAX, |due| due.ticks() as f64),
            Some(shape) if shape.is_weighted() => -weight(job) / work(),
            Some(_) => work(),
        };
        PlanSortKey(1, figure, 0.0)
    }

    /// Adds a task, and returns the number of the task. The chosen allotment minimises the total delay of the task and
    /// of `others` waiting tasks.
    fn add(&mut self, instance: &Instance, task: TaskId, others: usize) -> u32 {
        let (job, profile) = (instance.job_of(task), instance.profile(task));
        if self.tasks.is_empty() {
            self.residual.choices = Arc::new(Choices::none(instance.platform()));
        }
        let number = Arc::make_mut(&mut self.residual.choices).push(profile, job.release);
        let shortest = profile.shortest();
        let (alone, deadline) = ((job.release + shortest).ticks(), job.deadline.map(Time::ticks));
        self.tasks.push(task);
        self.keys.push(self.key(instance, task));
        self.jobs.push(instance.job_id(task));
        self.residual.wishes.push(GoalTask { weight: weight(job), alone, shortest: shortest.ticks(), deadline });
        self.work.push(profile.least_work(Time::MAX).unwrap_or(0) as f64);
        self.numbers.insert(task, number);
        let own = self.residual.choices.of(number);
        let all = f64::from(instance.processors());
        let cost = |choice: &Choice| choice.time as f64 * (all + others as f64 * f64::from(choice.processors));
        let position = match self.given.get(&task) {
            Some(&(_, width)) => self.residual.choices.nearest(number, width),
            None => (0..own.len() as u32)
                .min_by(|&a, &b| cost(&own[a as usize]).total_cmp(&cost(&own[b as usize])))
                .unwrap_or(0),
        };
        self.plan.chosen.push(position);
        number
    }

    /// Updates the data of tasks with changed run times. Each of these tasks keeps its position in the order. The width
    /// of the task changes as little as possible.
    pub(super) fn restate(&mut self, restated: &TaskSet, instance: &Instance) {
        if restated.is_empty() {
            return;
        }
        let moved: Vec<TaskId> =
            self.line.iter().map(|&(_, task)| task).filter(|&task| restated.contains(task)).collect();
        self.line.retain(|&(_, task)| !restated.contains(task));
        let moved: Vec<(PlanSortKey, TaskId)> =
            moved.into_iter().map(|task| (self.key(instance, task), task)).collect();
        self.line.extend(moved);
        for at in 0..self.plan.order.len() {
            let number = self.plan.order[at];
            let task = self.tasks[number as usize];
            if restated.contains(task) {
                let width = self.chosen(number).processors;
                let again = self.add(instance, task, self.waiting.len());
                self.plan.chosen[again as usize] = self.residual.choices.nearest(again, width);
                self.plan.order[at] = again;
            }
        }
    }

    /// Inserts new tasks into the plan. If the plan is not full, also inserts tasks that wait outside the plan.
    pub fn insert(&mut self, new: Vec<TaskId>, view: &View<'_>, outlook: &Outlook) {
        let instance = view.instance;
        self.prepare(instance);
        let few = new.len() <= FEW && new.len() * self.plan.order.len() <= PLACED;
        let few = few && self.plan.order.len() + new.len() <= MOST;
        for task in new {
            if few && !self.given.contains_key(&task) {
                self.insert_at_best(instance, task, outlook);
            } else {
                self.line.insert((self.key(instance, task), task));
            }
        }
        while self.plan.order.len() < MOST
            && let Some((_, task)) = self.line.pop_first()
        {
            self.insert_by_key(instance, task);
        }
        // The task that has waited longest must be in the plan.
        if let Some(oldest) = self.oldest()
            && self.line.remove(&(self.key(instance, oldest), oldest))
        {
            let number = self.add(instance, oldest, self.waiting.len());
            self.plan.order.push(number);
        }
        self.prepare(instance);
    }

    fn insert_by_key(&mut self, instance: &Instance, task: TaskId) {
        let key = self.key(instance, task);
        let number = self.add(instance, task, self.waiting.len());
        let goes_before = |&other: &u32| self.keys[other as usize] <= key;
        let at = self.plan.order.iter().rposition(goes_before).map_or(0, |before| before + 1);
        self.plan.order.insert(at, number);
    }

    fn insert_at_best(&mut self, instance: &Instance, task: TaskId, outlook: &Outlook) {
        let key = self.key(instance, task);
        let order = &self.plan.order;
        let after = order.iter().position(|&other| self.keys[other as usize] > key);
        let last = order.len();
        let mut places = vec![after.unwrap_or(last), 0, last, last / 2, last / 4, last / 8, last * 3 / 4];
        let number = self.add(instance, task, self.waiting.len());
        let (wanted, most) = (self.plan.chosen[number as usize], self.residual.choices.of(number).len() as u32 - 1);
        let mut chosen = vec![0, wanted / 2, wanted, (wanted * 2).min(most)];
        places.sort_unstable();
        places.dedup();
        chosen.dedup();
        self.residual.wholes = self.bags(instance).map(Arc::new);
        let mut plan = std::mem::take(&mut self.plan);
        self.residual.insert(&outlook.skyline, &mut plan, number, &places, &chosen);
        self.plan = plan;
    }

    /// Returns the bags of the plan, or `None` if the plan has no task of a bag.
    fn bags(&self, instance: &Instance) -> Option<NumberedWholes> {
        if !self.plan.order.iter().any(|&number| instance.job(self.jobs[number as usize]).is_bag()) {
            return None;
        }
        // Treat a task that does not belong to a bag as a bag of one task.
        let mut numbers: FxHashMap<JobId, u32> = FxHashMap::default();
        let (mut of, mut weights) = (Vec::with_capacity(self.jobs.len()), Vec::new());
        for &id in &self.jobs {
            let job = instance.job(id);
            let next = weights.len() as u32;
            let number = if job.is_bag() { *numbers.entry(id).or_insert(next) } else { next };
            if number == next {
                let weight = if job.is_bag() { job.weight } else { job.task_weight() };
                weights.push(weight.millionths().max(1));
            }
            of.push(number);
        }
        Some(NumberedWholes { of, weights })
    }

    /// Computes the data that depend on all tasks of the plan. The search needs these data.
    fn prepare(&mut self, instance: &Instance) {
        let order = &self.plan.order;
        let area = |number: &u32| self.chosen(*number).time as f64 * f64::from(self.chosen(*number).processors);
        let processors = f64::from(instance.processors());
        let length = (self.held + order.iter().map(area).sum::<f64>()) / processors;
        let since = Time::from_ticks(self.now - length.min(i64::MAX as f64 / 4.0) as i64);
        let came = self.came.len() - self.came.partition_point(|&came| came < since);
        let weight: f64 = if !self.residual.objective.is_sum_of_ends() {
            0.0
        } else if self.residual.objective.is_weighted() {
            order.iter().map(|&number| self.residual.wishes[number as usize].weight).sum()
        } else {
            order.len() as f64
        };
        self.residual.area_price = COMING * weight / order.len().max(1) as f64 * came as f64 / processors;
        let least: f64 = order.iter().map(|&number| self.work[number as usize]).sum();
        self.residual.floor = self.now + ((self.held + least) / processors) as i64;
        self.residual.processors = instance.processors();
        self.residual.wholes = self.bags(instance).map(Arc::new);
    }
}

/// Returns the weight of a task of `job`, but at least a small positive number.
fn weight(job: &Job<Rows>) -> f64 {
    job.task_weight().as_f64().max(1e-6)
}
