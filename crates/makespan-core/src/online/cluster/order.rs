//! Jobs that wait for others.

use super::Cluster;
use crate::model::{Instance, JobId, ProcSet, Time};
use crate::online::{Defect, Ended};

/// Where each job stands with what it waits for; empty where none does.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// How many of those that a job waits for have not ended with success.
    missing: Vec<u32>,
    released: Vec<bool>,
    /// Jobs that will never start.
    abandoned: Vec<bool>,
    runs: Vec<Option<(Time, ProcSet)>>,
    at_hand: bool,
}

impl Order {
    pub fn new(instance: &Instance) -> Self {
        let Some(precedence) = instance.precedence() else { return Self::default() };
        let jobs = instance.jobs().len();
        Self {
            missing: instance.ids().map(|id| precedence.incoming(id).len() as u32).collect(),
            released: vec![false; jobs],
            abandoned: vec![false; jobs],
            runs: vec![None; jobs],
            at_hand: false,
        }
    }

    pub fn ended(&self) -> Ended<'_> {
        Ended { runs: &self.runs, at_hand: self.at_hand }
    }
}

impl Cluster<'_> {
    /// The same cluster, on which data need no time between nodes: they are in files that all see.
    #[must_use]
    pub fn with_data_at_hand(mut self) -> Self {
        self.order.at_hand = true;
        self
    }

    /// A job is released, or was interrupted. Whether it is among the waiting ones now: it is not while anything that it
    /// waits for has not ended with success.
    pub fn submit(&mut self, job: JobId) -> bool {
        if let Some(released) = self.order.released.get_mut(job.index()) {
            *released = true;
            if self.order.missing[job.index()] > 0 || self.order.abandoned[job.index()] {
                return false;
            }
        }
        self.waiting.insert(job);
        true
    }

    /// A job has ended with success, at this instant and on these processors. Returned are the jobs that waited for it
    /// last and are released: they are among the waiting ones now.
    pub fn succeed(&mut self, job: JobId, at: Time, processors: &ProcSet) -> Vec<JobId> {
        let Some(precedence) = self.instance.precedence() else { return Vec::new() };
        self.order.runs[job.index()] = Some((at, processors.clone()));
        let mut ready = Vec::new();
        for dependence in precedence.outgoing(job) {
            let next = dependence.job.index();
            self.order.missing[next] -= 1;
            if self.order.missing[next] == 0 && self.order.released[next] && !self.order.abandoned[next] {
                self.waiting.insert(dependence.job);
                ready.push(dependence.job);
            }
        }
        ready
    }

    /// A job will never end with success. Returned, by ascending id, are the jobs that wait for it, directly or through
    /// others, and will never start; none is returned twice.
    pub fn abandon(&mut self, job: JobId) -> Vec<JobId> {
        let Some(precedence) = self.instance.precedence() else { return Vec::new() };
        let (mut lost, mut open) = (Vec::new(), vec![job]);
        while let Some(job) = open.pop() {
            for dependence in precedence.outgoing(job) {
                let abandoned = &mut self.order.abandoned[dependence.job.index()];
                if !std::mem::replace(abandoned, true) {
                    lost.push(dependence.job);
                    open.push(dependence.job);
                }
            }
        }
        lost.sort_unstable();
        lost
    }

    /// Whether the data of a job have arrived on these processors.
    ///
    /// # Errors
    /// [`Defect::Data`] when some arrive later.
    pub fn check_data(&self, job: JobId, processors: &ProcSet) -> Result<(), Defect> {
        let Some(precedence) = self.instance.precedence() else { return Ok(()) };
        for dependence in precedence.incoming(job) {
            let arrival = self.order.ended().arrival(self.instance, dependence, processors);
            if let Some(arrival) = arrival.filter(|&arrival| arrival > self.now) {
                let (job, from) = (self.name(job).to_owned(), self.name(dependence.job).to_owned());
                return Err(Defect::Data { job, processors: processors.clone(), from, arrival });
            }
        }
        Ok(())
    }
}
