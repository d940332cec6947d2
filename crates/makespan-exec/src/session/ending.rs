//! How running jobs come to their end.

use makespan_core::{JobId, Outcome, Running};
use nix::sys::signal::Signal;

use super::{Session, outcome, ticks};
use crate::ExecuteError;
use crate::journal::{Cause, Record};

impl Session<'_> {
    /// A process has ended: reaps it and records how.
    pub(super) fn exited(&mut self, job: JobId) -> Result<(), ExecuteError> {
        let Some(active) = self.active.remove(&job) else { return Ok(()) };
        let cause = active.ending.map(|(cause, _)| cause);
        let status = active.reap();
        let at = self.clock.now();
        let Some(running) = self.state.cluster.run_of(job).cloned() else {
            return Ok(());
        };
        let Some(outcome) = outcome(status, cause) else {
            self.journal.append(&Record::Interrupted { job, at })?;
            self.state.cluster.end(job);
            let name = self.state.name(job);
            self.observer.message(&format!("job `{name}` was interrupted; resuming the run starts it again"));
            return Ok(());
        };
        let reason = self.reason(&running, outcome);
        self.record_end(running, at, outcome, reason.as_deref())
    }

    fn reason(&self, running: &Running, outcome: Outcome) -> Option<String> {
        match outcome {
            Outcome::TimedOut => {
                let walltime = self.state.instance.job(running.job).walltime?;
                Some(format!("it was ended at its walltime of {walltime} s"))
            }
            Outcome::Failed { status } if status > 128 => Some(format!("signal {} ended it", status - 128)),
            Outcome::Failed { status } => Some(format!("it returned exit status {status}")),
            Outcome::Succeeded | Outcome::Interrupted | Outcome::NotStarted => None,
        }
    }

    /// Ends jobs at their walltime, and kills those that do not react.
    pub(super) fn enforce_limits(&mut self) -> Result<(), ExecuteError> {
        let now = self.clock.now();
        let due = |limit: Option<makespan_core::Time>| limit.is_some_and(|limit| limit <= now);
        let late: Vec<JobId> = self
            .active
            .iter()
            .filter(|(_, active)| active.ending.is_none() && due(active.walltime))
            .map(|(&job, _)| job)
            .collect();
        for job in late {
            self.terminate(job, Cause::Walltime)?;
        }
        self.kill_overdue(false);
        Ok(())
    }

    /// Announces the end of a job in the journal, then asks for it.
    fn terminate(&mut self, job: JobId, cause: Cause) -> Result<(), ExecuteError> {
        let kill = self.clock.now() + ticks(self.options.grace);
        let Some(active) = self.active.get_mut(&job) else { return Ok(()) };
        active.ending = Some((cause, kill));
        // Even with a full disk the process is ended; the error is reported after.
        let written = self.journal.append(&Record::Ending { job, cause });
        active.signal(Signal::SIGTERM);
        Ok(written?)
    }

    fn kill_overdue(&mut self, all: bool) {
        let now = self.clock.now();
        for active in self.active.values_mut() {
            if let Some((_, kill)) = &mut active.ending
                && (all || *kill <= now)
            {
                // Again each second, should a new member of the group appear.
                *kill = now + makespan_core::Time::from_seconds(1);
                active.signal(Signal::SIGKILL);
            }
        }
    }

    /// Ends every running job: SIGTERM, SIGKILL after the grace period or on a second request. Goes on after an error
    /// and returns the first.
    pub(super) fn end_all(&mut self) -> Result<(), ExecuteError> {
        let running: Vec<JobId> =
            self.active.iter().filter(|(_, active)| active.ending.is_none()).map(|(&job, _)| job).collect();
        let mut outcome = Ok(());
        for job in running {
            outcome = outcome.and(self.terminate(job, Cause::Stop));
        }
        while !self.active.is_empty() {
            self.kill_overdue(self.options.stop.requests() > 1);
            // What the policy has not heard it will not hear any more.
            self.events.clear();
            outcome = outcome.and(self.wait());
        }
        let stopped = self.journal.append(&Record::Stopped { at: self.clock.now() });
        outcome.and(stopped.map_err(ExecuteError::from))
    }
}
