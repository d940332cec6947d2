//! What waits, what runs and what is free: the state of a cluster, simulated or real.

mod closed;
mod order;
mod resources;
mod start;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::model::{Instance, InstanceError, Job, ProcSet, Restated, TaskId, Time, Unavailable};
use crate::online::{Defect, Event, Running, TaskSet, View};
use closed::Change;
pub use closed::expected_repair;
use order::Order;
use resources::Held;

/// No position among the running tasks.
const NONE: u32 = u32::MAX;

/// The state of a cluster that a [`crate::Policy`] sees, kept up to date by whoever drives it.
///
/// It checks what a policy wants ([`Defect`]) and knows nothing of how long tasks really run. A start or an end changes
/// the free processors in place; the tasks that run are found and taken out in constant time.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    instance: Cow<'a, Instance>,
    now: Time,
    waiting: TaskSet,
    running: Vec<Running>,
    /// For each task where it is in `running`, or [`NONE`].
    slots: Vec<u32>,
    /// Neither held nor blocked.
    free: ProcSet,
    /// What running tasks hold besides processors.
    held: Held,
    /// Within an unavailable period, or down.
    blocked: ProcSet,
    /// Starts and ends of the instance's unavailable periods by time, and how many have come.
    changes: Vec<Change>,
    changed: usize,
    /// How many unavailable periods the instance had when this began; those behind them were announced.
    own_periods: usize,
    /// The unavailable periods in force, as positions in the instance.
    periods: Vec<u32>,
    /// What is down, each processor once: since it went down first, until it is expected up.
    down: Vec<Unavailable>,
    /// Until when each of these was said to be down; where nobody said, since when it is.
    said: Vec<Time>,
    /// The failures in force, with what was said of the repair.
    outages: Vec<(Outage, ProcSet, Option<Time>)>,
    /// When the next repair is overdue.
    overdue: Time,
    order: Order,
    /// By how much a task may be expected to outlast the instant at which its processors close.
    grace: Time,
}

/// Names processors that are down, from [`Cluster::fail`] to [`Cluster::repair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage(pub u32);

impl<'a> Cluster<'a> {
    /// A cluster at time 0 on which nothing waits and nothing runs.
    pub fn new(instance: &'a Instance) -> Self {
        Self::of(Cow::Borrowed(instance))
    }

    fn of(instance: Cow<'a, Instance>) -> Self {
        let mut cluster = Self {
            now: Time::ZERO,
            waiting: TaskSet::new(),
            running: Vec::new(),
            slots: vec![NONE; instance.tasks() as usize],
            free: ProcSet::first(instance.processors()),
            held: Held::default(),
            blocked: ProcSet::new(),
            changes: closed::changes(&instance),
            changed: 0,
            own_periods: instance.unavailable().len(),
            periods: Vec::new(),
            down: Vec::new(),
            said: Vec::new(),
            outages: Vec::new(),
            overdue: Time::MAX,
            order: Order::new(&instance),
            grace: Time::ZERO,
            instance,
        };
        cluster.advance(Time::ZERO);
        cluster
    }

    /// Adds jobs to the instance while it is carried out. They are to be submitted when they are released, as all others. The
    /// identifiers of what was there stay ([`Instance::append`]); an instance that was borrowed is copied once. Returned are the
    /// tasks that will never start, since they wait for one that has failed.
    ///
    /// # Errors
    /// [`InstanceError`] names the job that is wrong; then nothing was added.
    pub fn append(&mut self, jobs: Vec<Job>) -> Result<Vec<TaskId>, InstanceError> {
        self.instance.to_mut().append(jobs)?;
        self.slots.resize(self.instance.tasks() as usize, NONE);
        Ok(self.order.grow(&self.instance))
    }

    /// Replaces estimated times, of what waits, runs or is to come ([`Instance::restate`]); an instance that was borrowed is copied
    /// once. Returned is what the policy is to be told.
    pub fn restate(&mut self, restated: Vec<Restated>) -> Vec<Event> {
        if restated.is_empty() {
            return Vec::new();
        }
        self.instance.to_mut().restate(restated).into_iter().map(Event::Estimated).collect()
    }

    /// Makes known when processors will close: the view shows these unavailable periods behind those that the instance had, in the
    /// place of those that were announced before. An instance that was borrowed is copied once.
    ///
    /// They are told and not enforced: processors close when they do ([`Cluster::fail`]), and a task that would run into such a period
    /// may be started. Whether they were taken: not where one is empty or of processors that are none, nor where they are too far away.
    pub fn announce(&mut self, announced: Vec<Unavailable>) -> bool {
        let is_new = self.instance.unavailable()[self.own_periods..] != announced[..];
        !is_new || self.instance.to_mut().announce(self.own_periods, announced)
    }

    /// What a policy may know.
    pub fn view(&self) -> View<'_> {
        let Self { instance, now, waiting, running, free, down, .. } = self;
        View { now: *now, instance, waiting, running, free, down, ended: self.order.ended(self.held.used_up()) }
    }

    /// Machines and tasks.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Tasks that are released and not started.
    pub fn waiting(&self) -> &TaskSet {
        &self.waiting
    }

    /// Tasks that run, in no order.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// A task that runs.
    pub fn run_of(&self, task: TaskId) -> Option<&Running> {
        self.running.get(*self.slots.get(task.index())? as usize)
    }

    /// How a task is called.
    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        self.instance.name(task)
    }

    /// Takes a task from the running ones; `None` when it does not run. Its processors are free again, as far as they
    /// are neither in an unavailable period nor down.
    pub fn end(&mut self, task: TaskId) -> Option<Running> {
        let slot = std::mem::replace(self.slots.get_mut(task.index())?, NONE);
        if slot == NONE {
            return None;
        }
        let ended = self.running.swap_remove(slot as usize);
        if let Some(moved) = self.running.get(slot as usize) {
            self.slots[moved.task.index()] = slot;
        }
        self.held.give_back(&self.instance, task, &ended.processors);
        if self.blocked.is_empty() {
            self.free.insert(&ended.processors);
        } else {
            self.free.insert(&ended.processors.difference(&self.blocked));
        }
        Some(ended)
    }

    /// What it is for nothing to happen any more although tasks wait.
    ///
    /// # Errors
    /// [`Defect::Stalled`] when a task waits.
    pub fn check_complete(&self) -> Result<(), Defect> {
        let Some(task) = self.waiting.first() else { return Ok(()) };
        Err(Defect::Stalled { waiting: self.waiting.len(), example: self.name(task).into_owned() })
    }
}
