//! Computes the state of a run from the records of its journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use makespan_core::{Instance, LogEntry, NewTimes, Outcome, ProcSet, Run, TaskId, Time};

use super::{Cause, EqualTimes, JournalError, JournalRecord, VERSION};
use crate::identity::identity;
use crate::process::Identity;
use crate::tasks::TaskList;

/// The state of a run according to its journal.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Wall clock time at instant 0 of the run, in nanoseconds since 1970.
    pub origin: i64,
    /// Boot id of the machine in the last session; empty before the first session.
    pub boot: String,
    /// Control group of the tasks in the last session.
    pub group: Option<String>,
    /// Ended executions, in the order of the journal.
    pub runs: Vec<Run>,
    /// State of each task.
    pub tasks: Vec<Progression>,
    /// Number of starts of each task.
    pub attempts: Vec<u32>,
    /// The latest instant in the journal.
    pub latest: Time,
    /// Logs of the policies.
    pub told: Vec<LogEntry>,
    /// Latest learned times of each task.
    pub estimates: BTreeMap<TaskId, Rc<EqualTimes>>,
    /// True if the journal lists its tasks. If jobs may arrive, the list is in [`Self::known`].
    pub listed: bool,
    /// True if jobs may arrive during the run.
    pub grows: bool,
    /// The tasks in the journal, if jobs may arrive.
    pub known: TaskList,
}

/// State of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progression {
    /// The task was never started, or was interrupted.
    Open,
    /// The task was started, and its end is not in the journal.
    Running(Attempt),
    /// The task ended with this outcome.
    Ended(Outcome),
    /// The task was cancelled.
    Cancelled,
}

/// An attempt at a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Number of the attempt, counted from 1.
    pub attempt: u32,
    /// Instant of the start.
    pub at: Time,
    /// The processors of the attempt.
    pub processors: ProcSet,
    /// Process id of its shim.
    pub pid: i32,
    /// Start time of the shim, in clock ticks since boot.
    pub pid_start: u64,
    /// The GPUs of the attempt, if the journal states them.
    pub gpus: Option<Vec<u64>>,
    /// The reason why a session was about to end the attempt. `None` if no session was about to end it.
    pub ending: Option<Cause>,
}

impl Attempt {
    /// Returns the shim of the attempt, if the engine runs tasks on this machine.
    pub fn shim(&self) -> Option<Identity> {
        (self.pid > 0).then_some(Identity { pid: self.pid, start: self.pid_start })
    }
}

impl History {
    /// Applies the records of a journal of this instance.
    pub(super) fn of(path: &Path, instance: &Instance, records: &[JournalRecord]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Damaged { path: path.to_owned(), line, reason: reason.into() };
        let Some(&JournalRecord::Header { version, fingerprint: ref stated, grows, .. }) = records.first() else {
            return Err(malformed(1, "a journal begins with its header"));
        };
        if version != VERSION {
            return Err(JournalError::Version { path: path.to_owned(), version: u64::from(version) });
        }
        let own = identity(instance, grows);
        let is_other = *stated != own;
        let other = || {
            let (path, journal) = (path.to_owned(), stated.clone());
            Err(JournalError::OtherInstance { path, journal, instance: own })
        };
        if is_other {
            return other();
        }
        if !grows {
            return Self::played(path, instance.tasks(), records);
        }
        let mut history = Self::played(path, 0, records)?;
        if !TaskList::of(instance).begins_with(&history.known) {
            return other();
        }
        history.grow(instance.tasks());
        Ok(history)
    }

    /// Extends the state to this number of tasks.
    fn grow(&mut self, tasks: u64) {
        let count = self.tasks.len().max(tasks as usize);
        self.tasks.resize(count, Progression::Open);
        self.attempts.resize(count, 0);
    }

    /// Applies the records of a journal of another instance. The task numbers are the numbers in the journal.
    pub(super) fn of_edited(path: &Path, records: &[JournalRecord]) -> Result<(TaskList, Self), JournalError> {
        let Some(&JournalRecord::Header { grows, .. }) = records.first() else {
            let reason = "a journal begins with its header".into();
            return Err(JournalError::Damaged { path: path.to_owned(), line: 1, reason });
        };
        if grows {
            let history = Self::played(path, 0, records)?;
            return Ok((history.known.clone(), history));
        }
        let list = records.iter().find_map(|record| match record {
            JournalRecord::Tasks { list } => Some(list.clone()),
            _ => None,
        });
        let list = match list {
            Some(list) => list,
            // A journal that contains only its header lists no tasks.
            None if records.len() == 1 => TaskList::default(),
            None => return Err(JournalError::TasksUnknown { path: path.to_owned() }),
        };
        let history = Self::played(path, list.count(), records)?;
        Ok((list, history))
    }

    /// Applies records of an instance with this number of tasks. The first record must be a header.
    fn played(path: &Path, tasks: u64, records: &[JournalRecord]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Damaged { path: path.to_owned(), line, reason: reason.into() };
        let count = tasks as usize;
        let Some(&JournalRecord::Header { origin, grows, .. }) = records.first() else {
            return Err(malformed(1, "a journal begins with its header"));
        };
        let mut history = Self {
            origin,
            grows,
            known: TaskList::default(),
            boot: String::new(),
            group: None,
            runs: Vec::new(),
            tasks: vec![Progression::Open; count],
            attempts: vec![0; count],
            latest: Time::ZERO,
            told: Vec::new(),
            estimates: BTreeMap::new(),
            listed: false,
        };
        for (index, record) in records.iter().enumerate().skip(1) {
            history.apply(record).map_err(|reason| malformed(index + 1, reason))?;
        }
        Ok(history)
    }

    /// Applies a record.
    ///
    /// # Errors
    /// The reason why the record cannot follow the records before it. After an error, nothing has changed.
    pub(super) fn apply(&mut self, record: &JournalRecord) -> Result<(), &'static str> {
        match record.clone() {
            JournalRecord::Header { .. } => return Err("the record is a second header"),
            JournalRecord::Grown { .. } if !self.grows => {
                return Err("the record adds tasks to a run with a fixed list of jobs");
            }
            JournalRecord::Grown { list } => {
                self.known.extend(list);
                self.grow(self.known.count());
            }
            JournalRecord::Tasks { list } if list.count() != self.tasks.len() as u64 => {
                return Err("the list of tasks in the record differs from the tasks of the run");
            }
            JournalRecord::Tasks { .. } => self.listed = true,
            JournalRecord::Session { at, boot, group } => {
                (self.boot, self.group) = (boot, group);
                self.seen(at);
            }
            JournalRecord::Started { task, attempt, at, processors, pid, pid_start, gpus } => {
                let before = self.attempts.get(task.index()).copied();
                let place = self.waiting(task)?;
                if before.is_none_or(|before| attempt <= before) {
                    return Err("the record starts an attempt that was already started");
                }
                *place = Progression::Running(Attempt { attempt, at, processors, pid, pid_start, gpus, ending: None });
                self.attempts[task.index()] = attempt;
                self.seen(at);
            }
            JournalRecord::Begun { task, at, processors } => {
                let attempt = self.running(task)?;
                (attempt.at, attempt.processors) = (at, processors);
                self.seen(at);
            }
            JournalRecord::Ending { task, cause } => self.running(task)?.ending = Some(cause),
            JournalRecord::Ended { task, start, at, processors, outcome: Outcome::NotStarted, accounting } => {
                // A task that was handed over to an engine may be interrupted or lost before it starts.
                match self.task(task)? {
                    running @ Progression::Running(_) => *running = Progression::Ended(Outcome::NotStarted),
                    _ => *self.waiting(task)? = Progression::Ended(Outcome::NotStarted),
                }
                self.runs.push(Run { task, start, end: at, processors, outcome: Outcome::NotStarted, accounting });
                self.seen(at);
            }
            JournalRecord::Ended { task, start, at, processors, outcome: Outcome::Succeeded, accounting }
                if processors.is_empty() =>
            {
                // The task needed no start.
                let outcome = Outcome::Succeeded;
                *self.waiting(task)? = Progression::Ended(outcome);
                self.runs.push(Run { task, start, end: at, processors, outcome, accounting });
                self.seen(at);
            }
            JournalRecord::Ended { task, start, at, processors, outcome, accounting } => {
                let attempt = self.running(task)?;
                if attempt.at != start || attempt.processors != processors {
                    return Err("the start or the processors in the record differ from the record of the start");
                }
                *self.task(task)? = Progression::Ended(outcome);
                self.runs.push(Run { task, start, end: at, processors, outcome, accounting });
                self.seen(at);
            }
            JournalRecord::Interrupted { task, at } => {
                self.running(task)?;
                *self.task(task)? = Progression::Open;
                self.seen(at);
            }
            JournalRecord::Cancelled { task, at } => {
                *self.waiting(task)? = Progression::Cancelled;
                self.seen(at);
            }
            JournalRecord::Told { entry } => {
                self.task(entry.task)?;
                self.seen(entry.time);
                self.told.push(entry);
            }
            JournalRecord::Estimated { at, times } => {
                let last = times.iter().flat_map(|estimated| estimated.jobs.iter().map(|(_, last)| *last)).max();
                last.map(|last| self.task(last).map(drop)).transpose()?;
                self.seen(at);
                for estimated in times.into_iter().map(Rc::new) {
                    self.estimates.extend(estimated.tasks().map(|task| (task, Rc::clone(&estimated))));
                }
            }
            JournalRecord::Stopped { at } | JournalRecord::Finished { at } => self.seen(at),
        }
        Ok(())
    }

    /// Returns the state of a task that may start, because it is not running and has not succeeded.
    fn waiting(&mut self, task: TaskId) -> Result<&mut Progression, &'static str> {
        match self.task(task)? {
            Progression::Running(_) => Err("the record starts a job that is already running"),
            Progression::Ended(Outcome::Succeeded) => Err("the record starts a job that has already succeeded"),
            progression => Ok(progression),
        }
    }

    fn running(&mut self, task: TaskId) -> Result<&mut Attempt, &'static str> {
        match self.task(task)? {
            Progression::Running(attempt) => Ok(attempt),
            _ => Err("the record names a job that is not running"),
        }
    }

    fn task(&mut self, task: TaskId) -> Result<&mut Progression, &'static str> {
        self.tasks.get_mut(task.index()).ok_or("the record names a job that is not in the instance")
    }

    /// Returns the latest learned times, relative to `stated`, the instance at the beginning of the run. Omits times
    /// that do not fit the instance.
    pub(crate) fn restated(&self, stated: &Instance) -> Vec<NewTimes> {
        self.estimates.iter().filter_map(|(&task, estimated)| estimated.restated(task, stated)).collect()
    }

    fn seen(&mut self, at: Time) {
        self.latest = self.latest.max(at);
    }
}
