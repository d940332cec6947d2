//! Checks of a policy's decisions.

use super::Cluster;
use crate::model::{ProcSet, TaskId, Time};
use crate::online::{Defect, Running};

impl Cluster<'_> {
    /// Removes a task from the waiting tasks.
    ///
    /// # Errors
    /// [`Defect::UnknownJob`] and [`Defect::NotWaiting`].
    pub fn withdraw(&mut self, task: TaskId) -> Result<(), Defect> {
        self.check_waiting(task)?;
        self.waiting.remove(task);
        Ok(())
    }

    /// Starts a waiting task now on these processors.
    ///
    /// # Errors
    /// The [`Defect`] of this start: the task is not waiting, its processors, data or resources are not available, or
    /// the task does not accept the processors. If an error is returned, nothing is changed.
    pub fn start(&mut self, task: TaskId, processors: ProcSet) -> Result<&Running, Defect> {
        self.start_limited(task, processors, None)
    }

    /// Starts a waiting task now on these processors. If a policy has limited the run time of the task
    /// ([`Decision::Limit`](crate::Decision::Limit)), the task is expected to end when this limit expires.
    ///
    /// # Errors
    /// The [`Defect`] of this start, as in [`Cluster::start`].
    pub fn start_limited(
        &mut self,
        task: TaskId,
        processors: ProcSet,
        limit: Option<Time>,
    ) -> Result<&Running, Defect> {
        self.check_waiting(task)?;
        self.check_place(task, &processors)?;
        self.check_data(task, &processors)?;
        self.check_open(task, &processors, limit)?;
        self.check_resources(task, &processors)?;
        self.take_resources(task, &processors);
        self.waiting.remove(task);
        self.free.remove(&processors);
        let slot = self.running.len();
        self.slots[task.index()] = slot as u32;
        self.running.push(Running { task, start: self.now, processors });
        Ok(&self.running[slot])
    }

    /// Records a task that already runs, although it was not submitted to this cluster. From now on, the task holds its
    /// processors and resources.
    ///
    /// # Errors
    /// [`Defect::Busy`] or a similar defect if the processors of the task are not free. If an error is returned,
    /// nothing is changed.
    pub fn take_over(&mut self, running: Running) -> Result<(), Defect> {
        let task = running.task;
        self.submit(task);
        let taken = self.check_place(task, &running.processors);
        self.waiting.remove(task);
        taken?;
        self.take_resources(task, &running.processors);
        self.free.remove(&running.processors);
        self.slots[task.index()] = self.running.len() as u32;
        self.running.push(running);
        Ok(())
    }

    /// Returns this cluster with a grace period: the expected end of a task may be up to `grace` later than the
    /// instant at which its processors close.
    ///
    /// A real run needs the grace period, because its policy is always called a moment late. Without the grace period,
    /// a task that was planned to end exactly when an unavailable period begins could not start.
    #[must_use]
    pub fn with_grace(mut self, grace: Time) -> Self {
        self.grace = grace;
        self
    }

    /// Returns an error if a task is not waiting.
    ///
    /// # Errors
    /// [`Defect::UnknownJob`] and [`Defect::NotWaiting`].
    pub fn check_waiting(&self, task: TaskId) -> Result<(), Defect> {
        if !self.instance.has_task(task) {
            return Err(Defect::UnknownJob(task.0));
        }
        if self.waiting.contains(task) { Ok(()) } else { Err(Defect::NotWaiting(self.name(task).into_owned())) }
    }

    /// Returns an error if processors are not free, or if the task cannot run on them.
    fn check_place(&self, task: TaskId, processors: &ProcSet) -> Result<(), Defect> {
        let name = || self.name(task).into_owned();
        let last = self.instance.processors() - 1;
        if processors.last().is_some_and(|id| id > last) {
            return Err(Defect::UnknownProcessors { job: name(), processors: processors.clone(), last });
        }
        let profile = self.instance.profile(task);
        let allotment = processors.len();
        if !profile.accepts(allotment) {
            let (min, max) = (profile.min_processors(), profile.max_processors());
            return Err(Defect::Allotment { job: name(), allotment, min, max });
        }
        if !self.instance.accepts(task, processors) {
            return Err(Defect::Machine { job: name(), processors: processors.clone() });
        }
        if !processors.is_subset(&self.free) {
            return Err(self.not_free(task, processors));
        }
        let platform = self.instance.platform();
        if platform.restricts_placement() && !platform.is_best_placement(processors) {
            return Err(Defect::Scattered { job: name(), processors: processors.clone() });
        }
        Ok(())
    }

    /// Returns an error if an unavailable period closes some of the processors before the expected end of the task.
    fn check_open(&self, task: TaskId, processors: &ProcSet, limit: Option<Time>) -> Result<(), Defect> {
        let ahead = &self.changes[self.changed..];
        if ahead.is_empty() {
            return Ok(());
        }
        let time = self.instance.time(task, processors);
        let end = self.now + limit.map_or(time, |limit| limit.min(time));
        for change in ahead.iter().take_while(|change| change.at + self.grace < end).filter(|change| change.closes) {
            let closed = processors.intersection(&self.instance.unavailable()[change.period as usize].processors);
            if !closed.is_empty() {
                let (job, processors) = (self.name(task).into_owned(), processors.clone());
                return Err(Defect::Closing { job, processors, closed, from: change.at, end });
            }
        }
        Ok(())
    }

    /// Returns the reason why these processors are not free.
    #[cold]
    fn not_free(&self, task: TaskId, processors: &ProcSet) -> Defect {
        let mut held = ProcSet::new();
        self.running.iter().for_each(|running| held.insert(&running.processors));
        let busy = processors.intersection(&held);
        let (name, wanted) = (self.name(task).into_owned(), processors.clone());
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
