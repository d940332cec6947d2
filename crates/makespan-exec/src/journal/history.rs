//! What the records of a journal amount to.

use std::path::Path;

use makespan_core::{Instance, JobId, Outcome, ProcSet, Run, Time};

use super::{Cause, JournalError, Record, VERSION};
use crate::fingerprint;

/// What a run has done so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct History {
    /// The wall clock at instant 0, nanoseconds after 1970.
    pub origin: i64,
    /// The boot of the machine in the last session; empty before the first.
    pub boot: String,
    /// Ended executions, in the order of the journal.
    pub runs: Vec<Run>,
    /// Where each job stands.
    pub jobs: Vec<Progression>,
    /// How often each job was started.
    pub attempts: Vec<u32>,
    /// The latest instant in the journal.
    pub latest: Time,
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

/// The records in the bytes of a journal, and how many bytes of it are sound. A torn last line is left out.
pub(super) fn records(path: &Path, bytes: &[u8]) -> Result<(Vec<Record>, usize), JournalError> {
    let mut records = Vec::new();
    let mut sound = 0;
    for (index, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let last = sound + line.len() == bytes.len();
        match serde_json::from_slice(line) {
            Ok(record) if line.ends_with(b"\n") => records.push(record),
            Err(error) if !last => {
                let reason = error.to_string();
                return Err(JournalError::Malformed { path: path.to_owned(), line: index + 1, reason });
            }
            // Torn: the end of this line never reached the disk as it was written.
            _ => break,
        }
        sound += line.len();
    }
    Ok((records, sound))
}

impl History {
    /// Plays the records forward.
    pub(super) fn of(path: &Path, instance: &Instance, records: &[Record]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Malformed { path: path.to_owned(), line, reason: reason.into() };
        let Some(Record::Header { version, fingerprint: stated, origin }) = records.first() else {
            return Err(malformed(1, "a journal begins with its header"));
        };
        if *version != VERSION {
            return Err(JournalError::Version { path: path.to_owned(), version: *version });
        }
        let own = fingerprint(instance);
        if *stated != own {
            return Err(JournalError::OtherInstance { path: path.to_owned(), journal: stated.clone(), instance: own });
        }
        let count = instance.jobs().len();
        let mut history = Self {
            origin: *origin,
            boot: String::new(),
            runs: Vec::new(),
            jobs: vec![Progression::Open; count],
            attempts: vec![0; count],
            latest: Time::ZERO,
        };
        for (index, record) in records.iter().enumerate().skip(1) {
            history.apply(record).map_err(|reason| malformed(index + 1, reason))?;
        }
        Ok(history)
    }

    fn apply(&mut self, record: &Record) -> Result<(), &'static str> {
        match record.clone() {
            Record::Header { .. } => return Err("a second header"),
            Record::Session { at, boot } => {
                self.boot = boot;
                self.seen(at);
            }
            Record::Started { job, attempt, at, processors, pid, pid_start } => {
                *self.job(job)? =
                    Progression::Running(Attempt { attempt, at, processors, pid, pid_start, ending: None });
                self.attempts[job.index()] = attempt;
                self.seen(at);
            }
            Record::Ending { job, cause } => match self.job(job)? {
                Progression::Running(attempt) => attempt.ending = Some(cause),
                _ => return Err("a job is being ended that does not run"),
            },
            Record::Ended { job, start, at, processors, outcome } => {
                *self.job(job)? = Progression::Ended(outcome);
                self.runs.push(Run { job, start, end: at, processors, outcome });
                self.seen(at);
            }
            Record::Interrupted { job, at } => {
                *self.job(job)? = Progression::Open;
                self.seen(at);
            }
            Record::Cancelled { job, at } => {
                *self.job(job)? = Progression::Cancelled;
                self.seen(at);
            }
            Record::Stopped { at } | Record::Finished { at } => self.seen(at),
        }
        Ok(())
    }

    fn job(&mut self, job: JobId) -> Result<&mut Progression, &'static str> {
        self.jobs.get_mut(job.index()).ok_or("a job that the instance does not have")
    }

    fn seen(&mut self, at: Time) {
        self.latest = self.latest.max(at);
    }
}
