//! The state of a simulated or real cluster: waiting tasks, running tasks and free processors.

mod closed;
mod gangs;
mod order;
mod resources;
mod start;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::model::{Instance, InstanceError, Job, NewTimes, ProcSet, TaskId, Time, Unavailable};
use crate::online::{Defect, Event, Running, TaskSet, View};
use closed::ClosureChange;
pub use closed::expected_repair;
use order::PredecessorProgress;
use resources::HeldAmounts;

/// The value in [`Cluster::slots`] for a task that is not running.
const NONE: u32 = u32::MAX;

/// The state of a cluster that a [`crate::Policy`] sees. The driver (a simulation or a real run) updates the state. A
/// cluster checks the decisions of a policy ([`Defect`]). The state does not contain the real run times.
///
/// The set of free processors is changed in place when a task starts or ends. A running task is found and removed in
/// constant time.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    instance: Cow<'a, Instance>,
    now: Time,
    waiting: TaskSet,
    running: Vec<Running>,
    /// For each task, its position in `running`, or [`NONE`].
    slots: Vec<u32>,
    /// Processors that no task holds and that are not blocked.
    free: ProcSet,
    /// Resources that running tasks hold besides processors.
    held: HeldAmounts,
    /// Processors that are in an unavailable period or down.
    blocked: ProcSet,
    /// Starts and ends of the instance's unavailable periods, in order of time.
    changes: Vec<ClosureChange>,
    changed: usize,
    /// Number of unavailable periods that the instance had initially. Later periods in the instance's list were
    /// announced.
    own_periods: usize,
    /// The current unavailable periods, as positions in the instance.
    periods: Vec<u32>,
    /// Processors that are down, with the instants of the first failure and of the expected repair. No processor is in
    /// two entries.
    down: Vec<Unavailable>,
    /// For each entry of `down`, the announced repair, or the start of the failure if no repair was announced.
    said: Vec<Time>,
    /// The current outages, each with its processors and its announced repair.
    outages: Vec<(Outage, ProcSet, Option<Time>)>,
    /// The earliest expected repair of all processors that are down. After this instant, the repair is overdue.
    overdue: Time,
    order: PredecessorProgress,
    /// Maximum time by which the expected end of a task may exceed the instant at which its processors close.
    grace: Time,
}

/// An identifier of a failure of processors, from [`Cluster::fail`] to [`Cluster::repair`].
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
            held: HeldAmounts::default(),
            blocked: ProcSet::new(),
            changes: closed::changes(&instance),
            changed: 0,
            own_periods: instance.unavailable().len(),
            periods: Vec::new(),
            down: Vec::new(),
            said: Vec::new(),
            outages: Vec::new(),
            overdue: Time::MAX,
            order: PredecessorProgress::new(&instance),
            grace: Time::ZERO,
            instance,
        };
        cluster.advance(Time::ZERO);
        cluster
    }

    /// Appends jobs to the instance while it is executed. The caller must submit the tasks of these jobs at their
    /// release, like all other tasks. Existing identifiers remain valid ([`Instance::append`]). If the instance is
    /// borrowed, the first change copies it. Returns the tasks that will never start because they wait for a failed
    /// task.
    ///
    /// # Errors
    /// [`InstanceError`] names the invalid job. In this case, nothing is added.
    pub fn append(&mut self, jobs: Vec<Job>) -> Result<Vec<TaskId>, InstanceError> {
        self.instance.to_mut().append(jobs)?;
        self.slots.resize(self.instance.tasks() as usize, NONE);
        Ok(self.order.grow(&self.instance))
    }

    /// Replaces estimated times of waiting, running or future tasks ([`Instance::restate`]). If the instance is
    /// borrowed, the first change copies it. Returns the events for the policy.
    pub fn restate(&mut self, restated: Vec<NewTimes>) -> Vec<Event> {
        if restated.is_empty() {
            return Vec::new();
        }
        self.instance.to_mut().restate(restated).into_iter().map(Event::Estimated).collect()
    }

    /// Announces future unavailable periods. The new periods replace previously announced periods; the initial periods
    /// of the instance remain. If the instance is borrowed, the first change copies it.
    ///
    /// Announced periods are visible to the policy but not enforced. Processors close only when they fail
    /// ([`Cluster::fail`]). A task may start even if an announced period begins before the expected end of the task.
    /// Returns true on success, and false if a period is empty, has unknown processors, or would make schedules too
    /// long.
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

    /// Returns the tasks that may start: they are released, all their predecessors have succeeded, and they have not
    /// started yet.
    pub fn waiting(&self) -> &TaskSet {
        &self.waiting
    }

    /// Returns the running tasks, in arbitrary order.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// Returns the run of a task, if the task is running.
    pub fn run_of(&self, task: TaskId) -> Option<&Running> {
        self.running.get(*self.slots.get(task.index())? as usize)
    }

    /// Returns the name of a task.
    pub fn name(&self, task: TaskId) -> Cow<'_, str> {
        self.instance.name(task)
    }

    /// Removes a task from the running tasks and returns its run, or returns `None` if the task does not run. The
    /// processors of the task become free, unless they are in an unavailable period or down.
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

    /// Checks that no task waits. The driver calls this function when no further event can happen.
    ///
    /// # Errors
    /// [`Defect::Stalled`] if a task waits.
    pub fn check_complete(&self) -> Result<(), Defect> {
        let Some(task) = self.waiting.first() else { return Ok(()) };
        Err(Defect::Stalled { waiting: self.waiting.len(), example: self.name(task).into_owned() })
    }
}
