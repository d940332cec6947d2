//! The plan of the waiting tasks: an order, and an allotment for each task.

mod insertion;

use std::collections::BTreeSet;
use std::sync::Arc;

use makespan_core::{
    Event, FreeTime, Instance, JobId, Objective, Placement, Reservation, Running, Schedule, TaskId, TaskSet, Time, View,
};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

use super::background;
use super::fixed::Fixed;
use super::key::PlanSortKey;
use super::outlook::Outlook;
use super::promise::PromisedStart;
use crate::free_time::Skyline;
use crate::kernel::choices::Choice;
use crate::scheduler::{Residual, Solution};
use crate::search::SearchCourse;

/// The waiting tasks and their plan.
#[derive(Debug)]
pub(super) struct WaitingPlan {
    /// The tasks of the plan, each with a number, and the cost function for plans of these tasks.
    pub residual: Residual,
    /// The tasks of this plan and of earlier plans. The index of a task is its number.
    tasks: Vec<TaskId>,
    numbers: FxHashMap<TaskId, u32>,
    /// The sort key of each task, indexed by number. Keys order tasks that have no position in a plan.
    keys: Vec<PlanSortKey>,
    /// The least work of each task over its allotments, in processor-ticks, indexed by number.
    work: Vec<f64>,
    /// The job of each task, indexed by number.
    jobs: Vec<JobId>,
    pub plan: Solution,
    /// Waiting tasks that are not in the plan, because the plan is full. The task with the smallest key enters the
    /// plan first.
    line: BTreeSet<(PlanSortKey, TaskId)>,
    /// The waiting tasks except best-effort tasks, by release.
    waiting: BTreeSet<(Time, TaskId)>,
    /// The waiting tasks of bags without weight.
    best_effort: TaskSet,
    /// The position and the width of each task in the given plan: the plan with which the policy begins.
    given: FxHashMap<TaskId, (u32, u32)>,
    /// The arrival times of all tasks that have arrived since the policy began.
    came: Vec<Time>,
    began: Option<Time>,
    /// The area that running tasks are expected to hold from now on, in processor-ticks.
    held: f64,
    now: i64,
}

impl WaitingPlan {
    /// Returns an empty plan.
    pub fn new(objective: Objective) -> Self {
        Self {
            residual: Residual::new(objective),
            tasks: Vec::new(),
            numbers: FxHashMap::default(),
            keys: Vec::new(),
            work: Vec::new(),
            jobs: Vec::new(),
            plan: Solution::default(),
            line: BTreeSet::new(),
            waiting: BTreeSet::new(),
            best_effort: TaskSet::new(),
            given: FxHashMap::default(),
            came: Vec::new(),
            began: None,
            held: 0.0,
            now: 0,
        }
    }

    /// Sets a given plan. The given plan determines the positions of tasks that arrive.
    pub fn follow(&mut self, plan: &Schedule) {
        let place = |(at, placement): (u32, &Placement)| (placement.task, (at, placement.processors.len()));
        self.given = (0..).zip(plan.placements()).map(place).collect();
    }

    /// Returns whether the policy has processed events.
    pub fn has_begun(&self) -> bool {
        self.began.is_some()
    }

    /// Returns the tasks of the given plan.
    pub fn of_given(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.given.keys().copied()
    }

    /// Returns the number of a task of the plan.
    pub fn number(&self, task: TaskId) -> Option<u32> {
        self.numbers.get(&task).copied()
    }

    /// Returns the allotment with the index `position` of the task `number`.
    pub fn choice(&self, number: u32, position: u32) -> Choice {
        self.residual.choices.of(number)[position as usize]
    }

    /// Returns the chosen allotment of a task.
    pub fn chosen(&self, number: u32) -> Choice {
        self.choice(number, self.plan.chosen[number as usize])
    }

    /// Returns the task that has waited longest, apart from best-effort tasks.
    pub fn oldest(&self) -> Option<TaskId> {
        self.waiting.first().map(|&(_, task)| task)
    }

    /// Processes events. Returns the tasks to be inserted into the plan.
    pub fn hear(&mut self, events: &[Event], view: &View<'_>) -> Vec<TaskId> {
        let View { now, instance, .. } = *view;
        self.now = now.ticks();
        self.renumber();
        self.restate(&Event::estimated(events, instance), instance);
        let mut new = Vec::new();
        let began = self.began.is_some_and(|began| began < now);
        for event in events {
            if let Event::Submitted(task) | Event::Interrupted(task) = *event {
                self.came.extend((began && matches!(event, Event::Submitted(_))).then_some(now));
                if view.waiting.contains(task) && self.arrives(instance, task) {
                    new.push(task);
                }
            }
        }
        // Add tasks that arrived before this policy began, and waiting tasks that no event reported.
        if self.waiting.len() + self.best_effort.len() != view.waiting.len() {
            let gone = self.waiting.iter().map(|&(_, task)| task).chain(self.best_effort.iter());
            let gone: Vec<TaskId> = gone.filter(|&task| !view.waiting.contains(task)).collect();
            gone.into_iter().for_each(|task| self.leaves(instance, task));
            new.retain(|&task| view.waiting.contains(task));
            for task in view.waiting.iter() {
                if self.arrives(instance, task) {
                    new.push(task);
                }
            }
        }
        self.began.get_or_insert(now);
        let held = |run: &Running| (run.expected_end(instance, now) - now).area(run.processors.len()) as f64;
        self.held = view.running.iter().map(held).sum();
        new
    }

    /// Adds a waiting task. Returns true if the task is new and not a best-effort task. The plan must contain such a
    /// task.
    fn arrives(&mut self, instance: &Instance, task: TaskId) -> bool {
        if instance.job_of(task).is_best_effort() {
            self.best_effort.insert(task);
            return false;
        }
        self.waiting.insert((instance.release(task), task))
    }

    /// Removes a task that starts or has stopped waiting.
    pub fn leaves(&mut self, instance: &Instance, task: TaskId) {
        self.best_effort.remove(task);
        self.waiting.remove(&(instance.release(task), task));
        self.line.remove(&(self.key(instance, task), task));
        if let Some(number) = self.numbers.remove(&task) {
            self.take(number);
        }
    }

    /// Removes the data of tasks that are not in the plan, if there are many such tasks.
    fn renumber(&mut self) {
        if self.tasks.len() < 2 * self.plan.order.len() + 64 {
            return;
        }
        let kept = &self.plan.order;
        self.residual.choices = Arc::new(self.residual.choices.of_some(kept));
        (self.tasks, self.residual.wishes, self.jobs) =
            (some(&self.tasks, kept), some(&self.residual.wishes, kept), some(&self.jobs, kept));
        (self.work, self.plan.chosen) = (some(&self.work, kept), some(&self.plan.chosen, kept));
        self.keys = some(&self.keys, kept);
        self.plan.order = (0..self.tasks.len() as u32).collect();
        self.numbers = self.tasks.iter().copied().zip(0..).collect();
    }

    /// Returns the current plan, and a function that improves a plan on the free processors of `skyline`.
    pub fn improvement(&self, skyline: &Skyline) -> (Solution, background::Improve<Solution>) {
        let (residual, skyline) = (self.residual.clone(), skyline.clone());
        let improve = move |plan: Solution, warmth: f64, random: ChaCha8Rng, course: &mut SearchCourse| {
            let found = residual.improve(&skyline, plan, warmth, random, course);
            (found.rank, found.solution)
        };
        (self.plan.clone(), Box::new(improve))
    }

    /// Returns the position and the width of each task of the plan and of the given plan. A task that is only in the
    /// given plan is placed after all tasks of the plan.
    pub fn given(&self) -> FxHashMap<TaskId, (u32, u32)> {
        let all = self.plan.order.len() as u32;
        let mut given: FxHashMap<TaskId, (u32, u32)> =
            self.given.iter().map(|(&task, &(at, width))| (task, (all + at, width))).collect();
        let own = |(at, &number): (u32, &u32)| (self.tasks[number as usize], (at, self.chosen(number).processors));
        given.extend((0..).zip(&self.plan.order).map(own));
        given
    }

    /// Improves the plan by annealing, on the free processors of `skyline`.
    pub fn improve(&mut self, skyline: &Skyline, warmth: f64, random: ChaCha8Rng, course: &mut SearchCourse) {
        let plan = std::mem::take(&mut self.plan.order);
        let plan = Solution { order: plan, chosen: self.plan.chosen.clone() };
        self.plan = self.residual.improve(skyline, plan, warmth, random, course).solution;
    }

    /// Holds the slot of each task of the plan in `skyline`. Returns the reservations in the order of the plan.
    pub fn schedule(&self, skyline: &mut Skyline) -> Vec<Reservation> {
        let place = |&number: &u32| {
            let Choice { processors, time } = self.chosen(number);
            let start = skyline.earliest_fit(processors, time, self.residual.choices.release(number));
            skyline.hold(processors, start, start + time)
        };
        self.plan.order.iter().map(place).collect()
    }

    /// Returns the cost of the plan if its tasks have the reservations `reserved`.
    pub fn cost(&self, reserved: &[Reservation]) -> f64 {
        self.residual.cost(&self.plan, reserved.iter().map(|reservation| reservation.start.ticks()))
    }

    /// Returns the start of a task of the plan in `reserved`.
    pub fn start_of(&self, number: u32, reserved: &[Reservation]) -> Option<Time> {
        let placed = self.plan.order.iter().zip(reserved).find(|(at, _)| **at == number);
        placed.map(|(_, reservation)| reservation.start)
    }

    /// If the task that has the promise starts after its promised latest start in `reserved`, and an earlier start is
    /// possible, returns a slot for this task. Otherwise, returns `None`.
    pub fn broken(&self, promise: &PromisedStart<u32>, reserved: &[Reservation], outlook: &Outlook) -> Option<Fixed> {
        let (task, latest, width) = promise.given()?;
        let number = self.number(task)?;
        let planned = self.start_of(number, reserved).filter(|&planned| planned > latest)?;
        let position = self.residual.choices.nearest(number, width);
        let choice = self.choice(number, position);
        let start = Time::from_ticks(outlook.skyline.earliest_fit(choice.processors, choice.time, latest.ticks()));
        (start < planned).then_some(Fixed { number, position, start, choice })
    }

    /// Renews the promise to the task that has waited longest. The new promise depends on the start of this task in
    /// `reserved`.
    pub fn renew(&self, promise: &mut PromisedStart<u32>, reserved: &[Reservation], view: &View<'_>) {
        let Some(oldest) = self.oldest() else { return promise.forget() };
        let number = self.number(oldest).filter(|_| promise.is_meant());
        if let Some((number, start)) = number.and_then(|number| Some((number, self.start_of(number, reserved)?))) {
            promise.renew(oldest, start, self.chosen(number).processors, view);
        }
    }

    /// Removes a task from the order of the plan.
    pub fn take(&mut self, number: u32) {
        self.plan.order.retain(|&other| other != number);
    }

    /// Inserts a fixed task into the order of the plan. The start of its reservation `own` determines its position.
    pub fn put_back(&mut self, fixed: &Fixed, own: Reservation, reserved: &mut Vec<Reservation>) {
        // Insert the task before the first task that starts later. The order need not be sorted by start, because
        // tasks may be placed into gaps.
        let at = reserved.iter().position(|other| other.start > own.start).unwrap_or(reserved.len());
        self.plan.order.insert(at, fixed.number);
        self.plan.chosen[fixed.number as usize] = fixed.position;
        reserved.insert(at, own);
    }

    /// Returns the tasks to start: first the tasks that the plan starts now, and then best-effort tasks that delay no
    /// planned task. `reserved` contains the reservations of the plan. These reservations are already held in
    /// `skyline`.
    pub fn planned(&self, reserved: Vec<Reservation>, view: &View<'_>, skyline: &mut Skyline) -> StartsAndRest {
        let now = view.now;
        let end = reserved.iter().map(|reservation| reservation.end).max().unwrap_or(now);
        let next = reserved.iter().map(|reservation| reservation.start).filter(|&start| start > now).min();
        let all = self.plan.order.iter().zip(&reserved).filter(|(_, reservation)| reservation.start <= now);
        let due = all.map(|(&number, reservation)| (self.tasks[number as usize], reservation.clone())).collect();
        let mut planned = StartsAndRest { reserved, due, next, end };
        let mut candidate = self.best_effort.first();
        while let Some(task) = candidate {
            let profile = view.instance.profile(task);
            let width = profile.min_processors();
            let time = profile.time(width).ticks();
            let start = skyline.earliest_fit(width, time, now.ticks());
            if start == now.ticks() {
                let reservation = skyline.hold(width, start, start + time);
                planned.end = planned.end.max(reservation.end);
                planned.due.push((task, reservation));
                candidate = self.best_effort.next(TaskId(task.0 + 1));
            } else {
                // If a best-effort task does not fit, skip the other tasks of its bag, because they are equal.
                planned.next = planned.next.into_iter().chain([Time::from_ticks(start)]).min();
                let last = view.instance.job_of(task).task_ids().next_back();
                candidate = last.and_then(|last| self.best_effort.next(TaskId(last.0 + 1)));
            }
        }
        planned
    }
}

/// The tasks that start now, and the reservations of the plan.
#[derive(Debug)]
pub(super) struct StartsAndRest {
    /// The reservation of each task of the plan, in the order of the plan.
    pub reserved: Vec<Reservation>,
    /// The tasks to start now.
    pub due: Vec<(TaskId, Reservation)>,
    /// The next planned start after now.
    pub next: Option<Time>,
    /// The latest end of the tasks that have a reservation and of the best-effort tasks that start now.
    pub end: Time,
}

/// Returns the elements of `of` at the indices in `kept`.
fn some<T: Copy>(of: &[T], kept: &[u32]) -> Vec<T> {
    kept.iter().map(|&number| of[number as usize]).collect()
}
