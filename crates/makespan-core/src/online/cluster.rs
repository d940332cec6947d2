//! What waits, what runs and what is free: the state of a cluster, simulated or real.

mod closed;
mod order;
mod start;
#[cfg(test)]
mod tests;

use crate::model::{Instance, JobId, ProcSet, Time, Unavailable};
use crate::online::{Defect, JobSet, Running, View};
use closed::Change;
pub use closed::expected_repair;
use order::Order;

/// No position among the running jobs.
const NONE: u32 = u32::MAX;

/// The state of a cluster that a [`crate::Policy`] sees, kept up to date by whoever drives it.
///
/// It checks what a policy wants ([`Defect`]) and knows nothing of how long jobs really run. A start or an end changes
/// the free processors in place; the jobs that run are found and taken out in constant time.
#[derive(Clone, Debug)]
pub struct Cluster<'a> {
    instance: &'a Instance,
    now: Time,
    waiting: JobSet,
    running: Vec<Running>,
    /// For each job where it is in `running`, or [`NONE`].
    slots: Vec<u32>,
    /// Neither held nor blocked.
    free: ProcSet,
    /// Within an unavailable period, or down.
    blocked: ProcSet,
    /// Starts and ends of the instance's unavailable periods by time, and how many have come.
    changes: Vec<Change>,
    changed: usize,
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
}

/// Names processors that are down, from [`Cluster::fail`] to [`Cluster::repair`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage(pub u32);

impl<'a> Cluster<'a> {
    /// A cluster at time 0 on which nothing waits and nothing runs.
    pub fn new(instance: &'a Instance) -> Self {
        let mut cluster = Self {
            instance,
            now: Time::ZERO,
            waiting: JobSet::new(),
            running: Vec::new(),
            slots: vec![NONE; instance.jobs().len()],
            free: ProcSet::first(instance.processors()),
            blocked: ProcSet::new(),
            changes: closed::changes(instance),
            changed: 0,
            periods: Vec::new(),
            down: Vec::new(),
            said: Vec::new(),
            outages: Vec::new(),
            overdue: Time::MAX,
            order: Order::new(instance),
        };
        cluster.advance(Time::ZERO);
        cluster
    }

    /// What a policy may know.
    pub fn view(&self) -> View<'_> {
        let Self { instance, now, waiting, running, free, down, .. } = self;
        View { now: *now, instance, waiting, running, free, down, ended: self.order.ended() }
    }

    /// Machines and jobs.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// The present instant.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Jobs that are released and not started.
    pub fn waiting(&self) -> &JobSet {
        &self.waiting
    }

    /// Jobs that run, in no order.
    pub fn running(&self) -> &[Running] {
        &self.running
    }

    /// A job that runs.
    pub fn run_of(&self, job: JobId) -> Option<&Running> {
        self.running.get(*self.slots.get(job.index())? as usize)
    }

    /// How a job is called.
    pub fn name(&self, job: JobId) -> &'a str {
        &self.instance.job(job).name
    }

    /// Puts a job that was [admitted](Cluster::admit) among the running ones. Its processors are no longer free.
    pub fn begin(&mut self, running: Running) {
        self.free.remove(&running.processors);
        self.slots[running.job.index()] = self.running.len() as u32;
        self.running.push(running);
    }

    /// Takes a job from the running ones; `None` when it does not run. Its processors are free again, as far as they
    /// are neither in an unavailable period nor down.
    pub fn end(&mut self, job: JobId) -> Option<Running> {
        let slot = std::mem::replace(self.slots.get_mut(job.index())?, NONE);
        if slot == NONE {
            return None;
        }
        let ended = self.running.swap_remove(slot as usize);
        if let Some(moved) = self.running.get(slot as usize) {
            self.slots[moved.job.index()] = slot;
        }
        if self.blocked.is_empty() {
            self.free.insert(&ended.processors);
        } else {
            self.free.insert(&ended.processors.difference(&self.blocked));
        }
        Some(ended)
    }

    /// What it is for nothing to happen any more although jobs wait.
    ///
    /// # Errors
    /// [`Defect::Stalled`] when a job waits.
    pub fn check_complete(&self) -> Result<(), Defect> {
        let Some(job) = self.waiting.first() else { return Ok(()) };
        Err(Defect::Stalled { waiting: self.waiting.len(), example: self.name(job).to_owned() })
    }
}
