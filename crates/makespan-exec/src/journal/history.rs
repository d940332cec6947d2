//! What the records of a journal amount to.

use std::path::Path;

use makespan_core::{Instance, JobId, LogEntry, Outcome, ProcSet, Run, Time};

use super::{Cause, JournalError, Record, VERSION};
use crate::fingerprint;

/// What a run has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The wall clock at instant 0, nanoseconds after 1970.
    pub origin: i64,
    /// The boot of the machine in the last session; empty before the first.
    pub boot: String,
    /// The control group in which the jobs of the last session ran.
    pub group: Option<String>,
    /// Ended executions, in the order of the journal.
    pub runs: Vec<Run>,
    /// Where each job stands.
    pub jobs: Vec<Progression>,
    /// How often each job was started.
    pub attempts: Vec<u32>,
    /// The latest instant in the journal.
    pub latest: Time,
    /// What policies told of their plans.
    pub told: Vec<LogEntry>,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progression {
    /// Never started, or interrupted.
    Open,
    /// Started and not recorded as ended.
    Running(Attempt),
    /// Ended.
    Ended(Outcome),
    /// Given up by the policy.
    Cancelled,
}

/// One start of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Counted from 1.
    pub attempt: u32,
    /// When.
    pub at: Time,
    /// Where.
    pub processors: ProcSet,
    /// Its process.
    pub pid: i32,
    /// When that process started, in clock ticks after boot.
    pub pid_start: u64,
    /// Why it was being ended, if it was.
    pub ending: Option<Cause>,
}

impl History {
    /// Plays the records forward.
    pub(super) fn of(path: &Path, instance: &Instance, records: &[Record]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Damaged { path: path.to_owned(), line, reason: reason.into() };
        let Some(Record::Header { version, fingerprint: stated, origin }) = records.first() else {
            return Err(malformed(1, "a journal begins with its header"));
        };
        if *version != VERSION {
            return Err(JournalError::Version { path: path.to_owned(), version: u64::from(*version) });
        }
        let own = fingerprint(instance);
        if *stated != own {
            return Err(JournalError::OtherInstance { path: path.to_owned(), journal: stated.clone(), instance: own });
        }
        let count = instance.jobs().len();
        let mut history = Self {
            origin: *origin,
            boot: String::new(),
            group: None,
            runs: Vec::new(),
            jobs: vec![Progression::Open; count],
            attempts: vec![0; count],
            latest: Time::ZERO,
            told: Vec::new(),
        };
        for (index, record) in records.iter().enumerate().skip(1) {
            history.apply(record).map_err(|reason| malformed(index + 1, reason))?;
        }
        Ok(history)
    }

    /// Adds a record.
    ///
    /// # Errors
    /// Why it cannot follow those before it; nothing is changed.
    pub(super) fn apply(&mut self, record: &Record) -> Result<(), &'static str> {
        match record.clone() {
            Record::Header { .. } => return Err("a second header"),
            Record::Session { at, boot, group } => {
                (self.boot, self.group) = (boot, group);
                self.seen(at);
            }
            Record::Started { job, attempt, at, processors, pid, pid_start } => {
                let before = self.attempts.get(job.index()).copied();
                let place = self.waiting(job)?;
                if before.is_none_or(|before| attempt <= before) {
                    return Err("an attempt that has been made already");
                }
                *place = Progression::Running(Attempt { attempt, at, processors, pid, pid_start, ending: None });
                self.attempts[job.index()] = attempt;
                self.seen(at);
            }
            Record::Ending { job, cause } => self.running(job)?.ending = Some(cause),
            Record::Ended { job, start, at, processors, outcome: Outcome::NotStarted } => {
                *self.waiting(job)? = Progression::Ended(Outcome::NotStarted);
                self.runs.push(Run { job, start, end: at, processors, outcome: Outcome::NotStarted });
                self.seen(at);
            }
            Record::Ended { job, start, at, processors, outcome } => {
                let attempt = self.running(job)?;
                if attempt.at != start || attempt.processors != processors {
                    return Err("an end that does not fit its start");
                }
                *self.job(job)? = Progression::Ended(outcome);
                self.runs.push(Run { job, start, end: at, processors, outcome });
                self.seen(at);
            }
            Record::Interrupted { job, at } => {
                self.running(job)?;
                *self.job(job)? = Progression::Open;
                self.seen(at);
            }
            Record::Cancelled { job, at } => {
                *self.waiting(job)? = Progression::Cancelled;
                self.seen(at);
            }
            Record::Told { entry } => {
                self.job(entry.job)?;
                self.seen(entry.time);
                self.told.push(entry);
            }
            Record::Stopped { at } | Record::Finished { at } => self.seen(at),
        }
        Ok(())
    }

    /// A job that may be started: one that neither runs nor has succeeded.
    fn waiting(&mut self, job: JobId) -> Result<&mut Progression, &'static str> {
        match self.job(job)? {
            Progression::Running(_) => Err("a job starts that runs already"),
            Progression::Ended(Outcome::Succeeded) => Err("a job starts that has succeeded"),
            progression => Ok(progression),
        }
    }

    fn running(&mut self, job: JobId) -> Result<&mut Attempt, &'static str> {
        match self.job(job)? {
            Progression::Running(attempt) => Ok(attempt),
            _ => Err("a job ends that does not run"),
        }
    }

    fn job(&mut self, job: JobId) -> Result<&mut Progression, &'static str> {
        self.jobs.get_mut(job.index()).ok_or("a job that the instance does not have")
    }

    fn seen(&mut self, at: Time) {
        self.latest = self.latest.max(at);
    }
}
