//! What a policy wants, checked.

use super::Cluster;
use crate::model::{JobId, ProcSet};
use crate::online::Defect;

impl Cluster<'_> {
    /// Takes a job from the waiting ones.
    ///
    /// # Errors
    /// [`Defect::UnknownJob`] and [`Defect::NotWaiting`].
    pub fn withdraw(&mut self, job: JobId) -> Result<(), Defect> {
        if job.index() >= self.instance.jobs().len() {
            return Err(Defect::UnknownJob(job.0));
        }
        if self.waiting.remove(job) { Ok(()) } else { Err(Defect::NotWaiting(self.name(job).to_owned())) }
    }

    /// Checks a start that the policy wants now, and takes the job from the waiting ones; [`Cluster::begin`] follows.
    ///
    /// # Errors
    /// Every [`Defect`] of a start but [`Defect::Closing`].
    pub fn admit(&mut self, job: JobId, processors: &ProcSet) -> Result<(), Defect> {
        self.withdraw(job)?;
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
        if !processors.is_subset(&self.free) {
            return Err(self.not_free(job, processors));
        }
        let platform = self.instance.platform();
        if platform.restricts_placement() && platform.held_in_part(processors).len() > 1 {
            return Err(Defect::Scattered { job: name(), processors: processors.clone() });
        }
        Ok(())
    }

    /// Whether these processors stay open for as long as the job is expected to run from now on.
    ///
    /// # Errors
    /// [`Defect::Closing`] when an unavailable period begins before.
    pub fn check_open(&self, job: JobId, processors: &ProcSet) -> Result<(), Defect> {
        let ahead = &self.changes[self.changed..];
        if ahead.is_empty() {
            return Ok(());
        }
        let end = self.now + self.instance.time(job, processors);
        for change in ahead.iter().take_while(|change| change.at < end).filter(|change| change.closes) {
            let closed = processors.intersection(&self.instance.unavailable()[change.period as usize].processors);
            if !closed.is_empty() {
                let (job, processors) = (self.name(job).to_owned(), processors.clone());
                return Err(Defect::Closing { job, processors, closed, from: change.at, end });
            }
        }
        Ok(())
    }

    /// Why these processors are not free.
    #[cold]
    fn not_free(&self, job: JobId, processors: &ProcSet) -> Defect {
        let mut held = ProcSet::new();
        self.running.iter().for_each(|running| held.insert(&running.processors));
        let busy = processors.intersection(&held);
        let (name, wanted) = (self.name(job).to_owned(), processors.clone());
        if !busy.is_empty() {
            return Defect::Busy { job: name, processors: wanted, busy };
        }
        let periods = self.periods.iter().map(|&period| &self.instance.unavailable()[period as usize]);
        let mut meeting = periods.chain(&self.down).filter(|period| !period.processors.is_disjoint(processors));
        let (closed, until) = meeting.next().map_or_else(
            || (processors.intersection(&self.blocked), self.now),
            |period| (period.processors.intersection(processors), period.end),
        );
        Defect::Unavailable { job: name, processors: wanted, closed, until }
    }
}
