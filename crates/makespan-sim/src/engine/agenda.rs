//! The future instants of a simulation.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Instance, JobId, TaskId, Time};

use crate::SimulationOptions;
use crate::failures::{OutageChange, Outages};

/// The end of a running task: its time, the task, and true if the walltime ends the task. If the task is interrupted,
/// the entry becomes obsolete and is ignored at its time.
pub(super) type RunningEnd = (Time, TaskId, bool);

/// All future instants of the simulation except the starts and ends of unavailable periods, which the cluster stores.
pub(super) struct FutureInstants<'a> {
    /// All jobs, sorted by release date and then by id.
    releases: Vec<JobId>,
    released: usize,
    ends: BinaryHeap<Reverse<RunningEnd>>,
    outages: Outages<'a>,
    pub wake: Option<Time>,
}

impl<'a> FutureInstants<'a> {
    pub fn new(instance: &Instance, options: &'a SimulationOptions) -> Self {
        let mut releases: Vec<JobId> = instance.ids().collect();
        releases.sort_by_key(|&id| instance.job(id).release);
        let model = options.failure_model.as_ref();
        let outages = Outages::new(&options.failures, model, instance.platform(), instance.first_release());
        Self { releases, released: 0, ends: BinaryHeap::new(), outages, wake: None }
    }

    /// Returns the instant of the next event, or `None` if no event is left.
    pub fn next(&self, instance: &Instance) -> Option<Time> {
        let release = self.releases.get(self.released).map(|&id| instance.job(id).release);
        let end = self.ends.peek().map(|Reverse(end)| end.0);
        [release, end, self.outages.next(), self.wake].into_iter().flatten().min()
    }

    /// Adds the end of a task.
    pub fn expect(&mut self, end: RunningEnd) {
        self.ends.push(Reverse(end));
    }

    /// If the earliest end of a task is at or before `now`, removes and returns this end.
    pub fn end(&mut self, now: Time) -> Option<RunningEnd> {
        let due = self.ends.peek().is_some_and(|Reverse(end)| end.0 <= now);
        if due { self.ends.pop().map(|Reverse(end)| end) } else { None }
    }

    /// Removes and returns the next job with a release date at or before `now`.
    pub fn release(&mut self, instance: &Instance, now: Time) -> Option<JobId> {
        let job = *self.releases.get(self.released).filter(|&&id| instance.job(id).release <= now)?;
        self.released += 1;
        Some(job)
    }

    /// Removes and returns the next change of processors (down or up) at or before `now`.
    pub fn turn(&mut self, now: Time) -> Option<OutageChange> {
        self.outages.turn(now)
    }
}
