//! What becomes of the jobs that ran when an earlier session died.

use std::fs;
use std::time::SystemTime;

use makespan_core::{Instance, JobId, Outcome, Run};

use crate::files::Files;
use crate::journal::{Attempt, Cause, History, Journal, Progression, Record};
use crate::process::{Identity, boot, end_group};
use crate::session::{outcome, since_origin};
use crate::{ExecuteError, ExecuteOptions, Observer};

/// What the recovery works on.
pub(crate) struct Recovery<'a> {
    pub instance: &'a Instance,
    pub options: &'a ExecuteOptions,
    pub files: &'a Files,
    pub journal: &'a mut Journal,
    pub observer: &'a mut dyn Observer,
}

impl Recovery<'_> {
    /// Settles every job that the journal shows as running. One that has left its exit status has ended. One that
    /// still runs is ended with its group, since no process of ours holds its walltime any more, and runs again; it
    /// may leave its status in the last moment, which counts. One that died with us runs again.
    pub fn settle(&mut self, history: &mut History) -> Result<(), ExecuteError> {
        let unsettled: Vec<(JobId, Attempt)> = (0..)
            .map(JobId)
            .zip(&history.jobs)
            .filter_map(|(id, job)| match job {
                Progression::Running(attempt) => Some((id, attempt.clone())),
                _ => None,
            })
            .collect();
        let same_boot = history.boot == boot();
        for (job, mut attempt) in unsettled {
            let mut ended = self.status(job, &attempt, history.origin);
            if same_boot {
                self.end(job, &mut attempt, ended.is_none())?;
                ended = ended.or_else(|| self.status(job, &attempt, history.origin));
            }
            self.record(history, job, attempt, ended)?;
        }
        Ok(())
    }

    /// Ends what is left of a job's processes; `early` when the job itself may be among them.
    fn end(&mut self, job: JobId, attempt: &mut Attempt, early: bool) -> Result<(), ExecuteError> {
        let name = &self.instance.job(job).name;
        let leader = Identity { pid: attempt.pid, start: attempt.pid_start };
        if early && leader.is_alive() {
            self.observer.message(&format!(
                "job `{name}` outlived the session that started it (process {}); it is being ended",
                attempt.pid
            ));
            if attempt.ending.is_none() {
                // From now on a status other than 0 is our doing.
                self.journal.append(&Record::Ending { job, cause: Cause::Stop })?;
                attempt.ending = Some(Cause::Stop);
            }
        }
        let marks: Vec<String> =
            self.files.marks(name).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        end_group(leader, &marks, self.options.grace);
        Ok(())
    }

    /// The exit status that the shim left, and when.
    fn status(&self, job: JobId, attempt: &Attempt, origin: i64) -> Option<(i32, makespan_core::Time)> {
        let path = self.files.status(job, attempt.attempt);
        let status = fs::read_to_string(&path).ok()?.trim().parse().ok()?;
        let written = fs::metadata(&path).and_then(|metadata| metadata.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
        Some((status, since_origin(written, origin).max(attempt.at)))
    }

    fn record(
        &mut self,
        history: &mut History,
        job: JobId,
        attempt: Attempt,
        ended: Option<(i32, makespan_core::Time)>,
    ) -> Result<(), ExecuteError> {
        let settled = ended.and_then(|(status, at)| Some((outcome(status, attempt.ending)?, at)));
        if let Some((outcome, end)) = settled {
            let Attempt { at: start, processors, .. } = attempt;
            self.journal.append(&Record::Ended { job, start, at: end, processors: processors.clone(), outcome })?;
            history.runs.push(Run { job, start, end, processors, outcome });
            history.jobs[job.index()] = Progression::Ended(outcome);
            history.latest = history.latest.max(end);
            let name = &self.instance.job(job).name;
            self.observer.message(&format!("job `{name}` ended when no session was there to record it; it counts"));
        } else {
            self.journal.append(&Record::Interrupted { job, at: history.latest })?;
            history.jobs[job.index()] = Progression::Open;
            let name = &self.instance.job(job).name;
            self.observer.message(&format!("job `{name}` was interrupted and runs again"));
        }
        Ok(())
    }
}

/// The jobs that have ended without success, or were given up, and are not among those still to be run.
pub(crate) fn closed_jobs(history: &History, open: &[JobId]) -> Vec<JobId> {
    let closed = |id: &JobId| match history.jobs[id.index()] {
        Progression::Open | Progression::Running(_) | Progression::Ended(Outcome::Succeeded) => false,
        Progression::Ended(_) | Progression::Cancelled => open.binary_search(id).is_err(),
    };
    (0..history.jobs.len() as u32).map(JobId).filter(closed).collect()
}

/// The jobs that are still to be run, ascending.
pub(crate) fn open_jobs(history: &History, retry_failed: bool) -> Vec<JobId> {
    let open = |job: &Progression| match job {
        Progression::Open | Progression::Running(_) => true,
        Progression::Ended(Outcome::Succeeded) => false,
        Progression::Ended(_) | Progression::Cancelled => retry_failed,
    };
    (0..).map(JobId).zip(&history.jobs).filter(|(_, job)| open(job)).map(|(id, _)| id).collect()
}
