//! The policy of the engine: it starts each task at the start that the shown plan gives to the task.
//!
//! If tasks end early, or jobs arrive, the processors do not wait for the next plan: a task also starts before its
//! planned start, or without a planned start, if it delays no reservation of the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Decision, Event, Instance, Policy, ProcSet, TaskId, Time, View};

use super::owners::Owners;
use super::room::{Candidate, Room, end_of};
use super::rules::{PlannedSlot, StartRules};
use crate::words::JobNumber;

/// Maximum number of tasks without a reservation that are tried at an event.
const TRIED: usize = 1000;

/// A slot of the plan, with the task in the engine. The task is `None` if the engine has not received it.
struct Slot {
    task: Option<TaskId>,
    planned: PlannedSlot,
}

/// The key by which tasks without a reservation are sorted: a larger weight for each processor-second comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LineKey(u64, TaskId);

impl LineKey {
    pub fn of(instance: &Instance, task: TaskId) -> Self {
        let profile = instance.profile(task);
        let width = profile.min_processors();
        let work = profile.time(width).area(width).max(1) as f64;
        // The bits of positive numbers have the order of the numbers.
        Self(!(instance.weight(task).millionths() as f64 / work).to_bits(), task)
    }
}

/// Starts tasks as in the shown plan.
pub(super) struct Follower {
    owners: Arc<Mutex<Owners>>,
    rules: Arc<Mutex<StartRules>>,
    /// The version of the plan from which the slots come.
    version: u64,
    /// The slots of tasks that have not started, by start.
    slots: Vec<Slot>,
    /// Waiting tasks without a slot.
    line: BTreeSet<LineKey>,
    keys: BTreeMap<TaskId, LineKey>,
}

impl Follower {
    pub fn new(owners: Arc<Mutex<Owners>>, rules: Arc<Mutex<StartRules>>) -> Self {
        Self { owners, rules, version: 0, slots: Vec::new(), line: BTreeSet::new(), keys: BTreeMap::new() }
    }

    /// Takes over a new plan, and the tasks that have arrived or no longer wait.
    fn renew(&mut self, events: &[Event], view: &View<'_>, owners: &Owners, rules: &StartRules) {
        if rules.version != self.version {
            self.version = rules.version;
            let slot = |planned: &PlannedSlot| {
                let tasks = owners.tasks(planned.job);
                let task = Some(TaskId(tasks.start + planned.task)).filter(|task| task.0 < tasks.end);
                let slot = Slot { task, planned: planned.clone() };
                task.is_none_or(|task| view.waiting.contains(task)).then_some(slot)
            };
            let before = self.planned();
            self.slots = rules.plan.iter().filter_map(slot).collect();
            let now = self.planned();
            now.difference(&before).for_each(|&task| self.remove(task));
            let left_out = before.difference(&now).filter(|task| view.waiting.contains(**task));
            left_out.for_each(|&task| self.add(view.instance, task));
        }
        self.slots.retain(|slot| slot.task.is_none_or(|task| view.waiting.contains(task)));
        for event in events {
            match *event {
                Event::Submitted(task) | Event::Interrupted(task) if view.waiting.contains(task) => {
                    let of_plan = owners.of(task).map(|(owned, number)| (owned.job, number));
                    let is_own = |slot: &&mut Slot| Some((slot.planned.job, slot.planned.task)) == of_plan;
                    match self.slots.iter_mut().find(is_own) {
                        Some(slot) => slot.task = Some(task),
                        None => self.add(view.instance, task),
                    }
                }
                Event::Finished(task) | Event::Failed(task) => self.remove(task),
                _ => {}
            }
        }
        let planned = self.slots.iter().filter(|slot| slot.task.is_some()).count();
        if planned + self.line.len() != view.waiting.len() {
            self.line_up(view);
        }
    }

    /// Returns the tasks with a slot.
    fn planned(&self) -> BTreeSet<TaskId> {
        self.slots.iter().filter_map(|slot| slot.task).collect()
    }

    /// Collects the waiting tasks without a slot again.
    fn line_up(&mut self, view: &View<'_>) {
        let planned = self.planned();
        self.line.clear();
        self.keys.clear();
        view.waiting.iter().filter(|task| !planned.contains(task)).for_each(|task| self.add(view.instance, task));
    }

    fn add(&mut self, instance: &Instance, task: TaskId) {
        let key = LineKey::of(instance, task);
        self.line.insert(key);
        self.keys.insert(task, key);
    }

    fn remove(&mut self, task: TaskId) {
        if let Some(key) = self.keys.remove(&task) {
            self.line.remove(&key);
        }
    }
}

/// The decisions at one instant.
struct Starts<'a> {
    view: &'a View<'a>,
    room: Room<'a>,
    /// Whether a task may run on any processors, because only their number matters for its run time.
    may_move: bool,
    /// The reservations of the tasks that have not started.
    reserved: Vec<Candidate<'a>>,
    started: Vec<(TaskId, ProcSet)>,
    wake: Option<Time>,
}

impl Starts<'_> {
    /// Starts a task on processors, if the task may start there. A task that is not due may start only if it delays no
    /// reservation.
    fn start(&mut self, task: TaskId, user: &str, processors: ProcSet, own: Option<usize>, due: Option<Time>) -> bool {
        let now = self.view.now;
        let end = end_of(self.view.instance, task, &processors, now);
        let candidate = Candidate { task: Some(task), user, processors: &processors, time: (now, end) };
        if !self.room.may_start(&candidate, due.unwrap_or(Time::ZERO))
            || due.is_none() && !self.room.fits(&candidate, own, &self.reserved)
        {
            return false;
        }
        if let Some(arrival) = self.view.arrival(task, &processors).filter(|&arrival| arrival > now) {
            self.wake_at(arrival);
            return false;
        }
        self.room.start(&candidate, own.map(|own| &self.reserved[own]));
        if let Some(own) = own {
            // The reservation now holds nothing.
            self.reserved[own].time = (Time::MAX, Time::MAX);
        }
        self.started.push((task, processors));
        true
    }

    fn wake_at(&mut self, at: Time) {
        self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
    }

    /// Starts the task of a slot, if its planned start has come, or if it can start earlier without a delay of others.
    fn try_slot(&mut self, task: TaskId, slot: &PlannedSlot, own: usize) {
        let (now, instance) = (self.view.now, self.view.instance);
        let due = Some(now.saturating_since(slot.start)).filter(|_| slot.start <= now);
        if slot.start > now {
            self.wake_at(slot.start);
        }
        let width = slot.processors.len();
        if width > self.room.free.len() {
            return;
        }
        if slot.processors.is_subset(&self.room.free)
            && self.start(task, &slot.user, slot.processors.clone(), Some(own), due)
        {
            return;
        }
        if !self.may_move {
            return;
        }
        let end = end_of(instance, task, &slot.processors, now);
        let Some(others) = self.room.open(width, end, Some(own), &self.reserved) else { return };
        // If only the number of processors matters, the reservation may use any processors.
        let due = due.filter(|_| self.room.is_counted);
        self.start(task, &slot.user, others, Some(own), due);
    }

    /// Starts a task without a slot, if it has only one allotment and delays no reservation.
    fn try_unplanned(&mut self, task: TaskId, user: &str) {
        let profile = self.view.instance.profile(task);
        let width = profile.min_processors();
        if !self.may_move || width != profile.max_processors() || width > self.room.free.len() {
            return;
        }
        let end = self.view.now + profile.time(width);
        if let Some(processors) = self.room.open(width, end, None, &self.reserved) {
            self.start(task, user, processors, None, None);
        }
    }
}

impl Policy for Follower {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        let (rules, owners) = (Arc::clone(&self.rules), Arc::clone(&self.owners));
        let rules = rules.lock().unwrap_or_else(PoisonError::into_inner);
        let owners = owners.lock().unwrap_or_else(PoisonError::into_inner);
        self.renew(events, view, &owners, &rules);
        if view.waiting.is_empty() {
            return;
        }
        let now = view.now;
        let goes_on = |job: JobNumber| rules.begun.as_ref().is_none_or(|begun| begun.contains(&job));
        let reserved = self.slots.iter().map(|Slot { task, planned }| {
            let late = now.saturating_since(planned.start);
            // A late task needs its whole time from now on. Other jobs do not wait for a job that the engine has not
            // received by its planned start.
            let is_held = goes_on(planned.job) && (task.is_some() || planned.start > now);
            let time = if is_held { (planned.start + late, planned.end + late) } else { (Time::MAX, Time::MAX) };
            Candidate { task: *task, user: &planned.user, processors: &planned.processors, time }
        });
        let reserved = reserved.collect();
        let room = Room::of(view, &owners, &rules.processors);
        let may_move = view.instance.has_equal_processors() && !view.instance.platform().restricts_placement();
        let mut starts = Starts { view, room, may_move, reserved, started: Vec::new(), wake: None };
        for (own, Slot { task, planned }) in self.slots.iter().enumerate() {
            if let Some(task) = task.filter(|_| goes_on(planned.job)) {
                starts.try_slot(task, planned, own);
            }
        }
        for key in self.line.iter().take(TRIED) {
            if starts.room.free.is_empty() {
                break;
            }
            if let Some((owned, _)) = owners.of(key.1).filter(|(owned, _)| goes_on(owned.job)) {
                starts.try_unplanned(key.1, &owned.user);
            }
        }
        let opens = view.instance.unavailable().iter().map(|period| period.end).filter(|&end| end > now).min();
        let Starts { started, wake, .. } = starts;
        decisions.extend(wake.into_iter().chain(opens).min().map(Decision::WakeAt));
        for (task, processors) in started {
            self.remove(task);
            self.slots.retain(|slot| slot.task != Some(task));
            decisions.push(Decision::Start { task, processors });
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
