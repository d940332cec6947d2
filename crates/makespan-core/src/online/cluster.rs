//! The state of a simulated or real cluster: waiting tasks, running tasks and free processors.

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

/// Marks a task that is not running.
const NONE: u32 = u32::MAX;

/// The state of a cluster that a [`crate::Policy`] sees. The caller that drives the cluster keeps it up to date.
///
/// A cluster checks the decisions of a policy ([`Defect`]) and does not know the real run times. The start or end of a
/// task changes the free processors in place. Running tasks are found and removed in constant time.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    instance: Cow<'a, Instance>,
    now: Time,
    waiting: TaskSet,
    running: Vec<Running>,
    /// For each task, its position in `running`, or [`NONE`].
    slots: Vec<u32>,
    /// Processors that are neither held nor blocked.
    free: ProcSet,
    /// Resources that running tasks hold besides processors.
    held: Held,
    /// Processors within an unavailable period or down.
    blocked: ProcSet,
    /// Starts and ends of the instance's unavailable periods, in order of time.
    changes: Vec<Change>,
    changed: usize,
    /// Number of unavailable periods that the instance had initially. Later periods were announced.
    own_periods: usize,
    /// The current unavailable periods, as positions in the instance.
    periods: Vec<u32>,
    /// Processors that are down, each once, from the first failure until the expected repair.
    down: Vec<Unavailable>,
    /// For each entry of `down`, the announced repair, or the start of the failure if none was announced.
    said: Vec<Time>,
    /// The current failures, with the announced repair.
    outages: Vec<(Outage, ProcSet, Option<Time>)>,
    /// The instant at which the next repair is overdue.
    overdue: Time,
    order: Order,
    /// Time by which a task's expected end may exceed the instant at which its processors close.
    grace: Time,
}

/// An identifier of processors that are down, from [`Cluster::fail`] to [`Cluster::repair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage(pub u32);

impl<'a> Cluster<'a> {
    /// Creates a cluster at time 0 without waiting or running tasks.
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

    /// Appends jobs to the instance while it is executed. The caller must submit them at their release, like all other
    /// jobs. Existing identifiers remain valid ([`Instance::append`]). A borrowed instance is copied once. Returns the
    /// tasks that will never start because they wait for a failed task.
    ///
    /// # Errors
    /// [`InstanceError`] names the invalid job. In this case, nothing is added.
    pub fn append(&mut self, jobs: Vec<Job>) -> Result<Vec<TaskId>, InstanceError> {
        self.instance.to_mut().append(jobs)?;
        self.slots.resize(self.instance.tasks() as usize, NONE);
        Ok(self.order.grow(&self.instance))
    }

    /// Replaces estimated times of waiting, running or future tasks ([`Instance::restate`]). A borrowed instance is
    /// copied once. Returns the events for the policy.
    pub fn restate(&mut self, restated: Vec<Restated>) -> Vec<Event> {
        if restated.is_empty() {
            return Vec::new();
        }
        self.instance.to_mut().restate(restated).into_iter().map(Event::Estimated).collect()
    }

    /// Announces future unavailable periods. They replace previously announced periods; the initial periods of the
    /// instance remain. A borrowed instance is copied once.
    ///
    /// Announced periods are visible to the policy but not enforced: processors close only when they fail
    /// ([`Cluster::fail`]), and a task that would run into such a period may start. Returns true on success, and false
    /// if a period is empty, has unknown processors, or is too far away.
    pub fn announce(&mut self, announced: Vec<Unavailable>) -> bool {
        let is_new = self.instance.unavailable()[self.own_periods..] != announced[..];
        !is_new || self.instance.to_mut().announce(self.own_periods, announced)
    }

    /// Returns the state that a policy may see.
    pub fn view(&self) -> View<'_> {
        let Self { instance, now, waiting, running, free, down, .. } = self;
        View { now: *now, instance, waiting, running, free, down, ended: self.order.ended(self.held.used_up()) }
    }

    /// Returns the instance.
    pub fn instance(&self) -> &Instance {
        &self.instance
    }

    /// Returns the current instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the tasks that are released and not started.
    pub fn waiting(&self) -> &TaskSet {
        &self.waiting
    }

    /// Returns the running tasks, in arbitrary order.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// Returns a running task.
    pub fn run_of(&self, task: TaskId) -> Option<&Running> {
        self.running.get(*self.slots.get(task.index())? as usize)
    }

    /// Returns the name of a task.
    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        self.instance.name(task)
    }

    /// Removes a running task, or returns `None` if the task does not run. Its processors become free, unless they are
    /// in an unavailable period or down.
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

    /// Checks that no tasks wait. Call this when nothing more will happen.
    ///
    /// # Errors
    /// [`Defect::Stalled`] if a task waits.
    pub fn check_complete(&self) -> Result<(), Defect> {
        let Some(task) = self.waiting.first() else { return Ok(()) };
        Err(Defect::Stalled { waiting: self.waiting.len(), example: self.name(task).into_owned() })
    }
}
