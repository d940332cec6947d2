//! What is to come.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use makespan_core::{Failure, Instance, JobId, Time};

/// When a running job will end, and whether its walltime ends it. Of a job that was interrupted it stays behind until
/// its instant comes.
pub(super) type End = (Time, JobId, bool);

/// All instants of interest but the unavailable periods, which the cluster knows.
pub(super) struct Agenda {
    /// By release date, then id.
    releases: Vec<JobId>,
    released: usize,
    ends: BinaryHeap<Reverse<End>>,
    /// When processors go up (false) or down (true), with the position of the failure; those that have come are passed.
    outages: Vec<(Time, bool, u32)>,
    passed: usize,
    pub wake: Option<Time>,
}

impl Agenda {
    pub fn new(instance: &Instance, failures: &[Failure]) -> Self {
        let mut releases: Vec<JobId> = instance.ids().collect();
        releases.sort_by_key(|&id| instance.job(id).release);
        let both = |(index, failure): (usize, &Failure)| {
            [(failure.down, true, index as u32), (failure.up, false, index as u32)]
        };
        let mut outages: Vec<_> = failures.iter().enumerate().flat_map(both).collect();
        outages.sort_unstable();
        Self { releases, released: 0, ends: BinaryHeap::new(), outages, passed: 0, wake: None }
    }

    /// The next instant of interest; `None` when nothing will happen any more.
    pub fn next(&self, instance: &Instance) -> Option<Time> {
        let release = self.releases.get(self.released).map(|&id| instance.job(id).release);
        let end = self.ends.peek().map(|Reverse(end)| end.0);
        let outage = self.outages.get(self.passed).map(|outage| outage.0);
        [release, end, outage, self.wake].into_iter().flatten().min()
    }

    /// A job will end.
    pub fn expect(&mut self, end: End) {
        self.ends.push(Reverse(end));
    }

    /// The next end that is due.
    pub fn end(&mut self, now: Time) -> Option<End> {
        let due = self.ends.peek().is_some_and(|Reverse(end)| end.0 <= now);
        if due { self.ends.pop().map(|Reverse(end)| end) } else { None }
    }

    /// The next job that is due to be released.
    pub fn release(&mut self, instance: &Instance, now: Time) -> Option<JobId> {
        let job = *self.releases.get(self.released).filter(|&&id| instance.job(id).release <= now)?;
        self.released += 1;
        Some(job)
    }

    /// The next outage that is due: whether processors go down, and the position of the failure.
    pub fn outage(&mut self, now: Time) -> Option<(bool, u32)> {
        let &(_, down, index) = self.outages.get(self.passed).filter(|outage| outage.0 <= now)?;
        self.passed += 1;
        Some((down, index))
    }
}
