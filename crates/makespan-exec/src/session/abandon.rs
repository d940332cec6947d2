//! Jobs that wait for what did not succeed.

use makespan_core::{Event, JobId, Outcome, ProcSet, Running, Time};

use super::Session;
use crate::ExecuteError;

impl Session<'_> {
    /// These jobs ended in earlier sessions without success. What waits for them and was not written down as not started,
    /// because the session died before, is so now.
    pub(super) fn close(&mut self, closed: &[JobId]) -> Result<(), ExecuteError> {
        if self.state.instance.precedence().is_none() {
            return Ok(());
        }
        self.events.extend(closed.iter().copied().map(Event::Failed));
        let now = self.now();
        closed.iter().try_for_each(|&job| self.abandon_but(job, now, closed))
    }

    /// What waits for a job that did not succeed ends without a start.
    pub(super) fn abandon(&mut self, job: JobId, at: Time) -> Result<(), ExecuteError> {
        self.abandon_but(job, at, &[])
    }

    /// The same, but for those that have their record; ascending.
    fn abandon_but(&mut self, job: JobId, at: Time, recorded: &[JobId]) -> Result<(), ExecuteError> {
        let reason = format!("`{}`, which it waits for, did not succeed", self.state.name(job));
        for lost in self.state.cluster.abandon(job) {
            if recorded.binary_search(&lost).is_err() {
                let running = Running { job: lost, start: at, processors: ProcSet::new() };
                self.record_end(running, at, Outcome::NotStarted, Some(&reason))?;
            }
        }
        Ok(())
    }
}
