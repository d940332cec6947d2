//! What waits, what runs, and what has ended.

use makespan_core::{Instance, JobId, JobSet, ProcSet, Run, Running, Time, View};

use crate::{Defect, Progress};

/// The state of a run as its policy and its observer see it.
#[derive(Debug)]
pub(crate) struct State<'a> {
    pub instance: &'a Instance,
    pub waiting: JobSet,
    pub running: Vec<Running>,
    /// Processors that a job may have, as of [`State::refresh`].
    free: ProcSet,
    pub runs: Vec<Run>,
    /// Jobs to be released, the latest first.
    pub unreleased: Vec<JobId>,
}

impl<'a> State<'a> {
    /// A state in which these jobs are still to be released.
    pub fn new(instance: &'a Instance, mut open: Vec<JobId>, runs: Vec<Run>) -> Self {
        open.sort_unstable_by_key(|&id| std::cmp::Reverse((instance.job(id).release, id)));
        let free = ProcSet::first(instance.processors());
        Self { instance, waiting: JobSet::new(), running: Vec::new(), free, runs, unreleased: open }
    }

    pub fn view(&self, now: Time) -> View<'_> {
        let Self { instance, waiting, running, free, .. } = self;
        View { now, instance, waiting, running, free, down: &[] }
    }

    /// Looks again which processors are free.
    pub fn refresh(&mut self, now: Time) {
        let held = self.running.iter().fold(ProcSet::new(), |held, running| held.union(&running.processors));
        let closed = self.instance.unavailable().iter().filter(|period| period.start <= now && now < period.end);
        let taken = closed.fold(held, |taken, period| taken.union(&period.processors));
        self.free = ProcSet::first(self.instance.processors()).difference(&taken);
    }

    pub fn progress(&self, now: Time) -> Progress<'_> {
        Progress { view: self.view(now), runs: &self.runs, unreleased: self.unreleased.len() }
    }

    pub fn name(&self, job: JobId) -> &'a str {
        &self.instance.job(job).name
    }

    /// The next job whose release date has come.
    pub fn release(&mut self, now: Time) -> Option<JobId> {
        self.unreleased.pop_if(|id| self.instance.job(*id).release <= now)
    }

    /// When the next job is released.
    pub fn next_release(&self) -> Option<Time> {
        self.unreleased.last().map(|&id| self.instance.job(id).release)
    }

    /// Puts a job among the waiting ones.
    pub fn submit(&mut self, job: JobId) {
        self.waiting.insert(job);
    }

    /// Takes a job from the waiting ones.
    pub fn take(&mut self, job: JobId) -> Result<(), Defect> {
        if job.index() >= self.instance.jobs().len() {
            return Err(Defect::UnknownJob(job.0));
        }
        if self.waiting.remove(job) { Ok(()) } else { Err(Defect::NotWaiting(self.name(job).to_owned())) }
    }

    /// Checks a start that the policy wants, and takes the job from the waiting ones.
    pub fn check_start(&mut self, job: JobId, processors: &ProcSet, now: Time) -> Result<(), Defect> {
        self.take(job)?;
        let name = || self.name(job).to_owned();
        let last = self.instance.processors() - 1;
        if processors.last().is_some_and(|id| id > last) {
            return Err(Defect::UnknownProcessors { job: name(), processors: processors.clone(), last });
        }
        let profile = self.instance.job(job).profile();
        let allotment = processors.len();
        if !profile.accepts(allotment) {
            let (min, max) = (profile.min_processors(), profile.max_processors());
            return Err(Defect::Allotment { job: name(), allotment, min, max });
        }
        if !self.instance.accepts(job, processors) {
            return Err(Defect::Machine { job: name(), processors: processors.clone() });
        }
        let held = self.running.iter().fold(ProcSet::new(), |held, running| held.union(&running.processors));
        let busy = processors.intersection(&held);
        if !busy.is_empty() {
            return Err(Defect::Busy { job: name(), processors: processors.clone(), busy });
        }
        for period in self.instance.unavailable().iter().filter(|period| period.start <= now && now < period.end) {
            let closed = processors.intersection(&period.processors);
            if !closed.is_empty() {
                let processors = processors.clone();
                return Err(Defect::Unavailable { job: name(), processors, closed, until: period.end });
            }
        }
        Ok(())
    }
}
