//! What the records of a journal amount to.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use makespan_core::{Instance, LogEntry, Outcome, ProcSet, Restated, Run, TaskId, Time};

use super::{Cause, Estimated, JournalError, Record, VERSION};
use crate::fingerprint::identity;
use crate::process::Identity;
use crate::tasks::TaskList;

/// What a run has done so far.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The wall clock at instant 0, nanoseconds after 1970.
    pub origin: i64,
    /// The boot of the machine in the last session; empty before the first.
    pub boot: String,
    /// The control group in which the tasks of the last session ran.
    pub group: Option<String>,
    /// Ended executions, in the order of the journal.
    pub runs: Vec<Run>,
    /// Where each task stands.
    pub tasks: Vec<Progression>,
    /// How often each task was started.
    pub attempts: Vec<u32>,
    /// The latest instant in the journal.
    pub latest: Time,
    /// What policies told of their plans.
    pub told: Vec<LogEntry>,
    /// The estimates that were replaced, as they were last.
    pub estimates: BTreeMap<TaskId, Rc<Estimated>>,
    /// Whether the journal says what its tasks do. Where the run grows, what it says of them is in [`Self::known`].
    pub listed: bool,
    /// Whether jobs come while the run goes on.
    pub grows: bool,
    /// Where the run grows: the tasks that the journal knows.
    pub known: TaskList,
}

/// Where a task stands.
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

/// One start of a task.
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
    /// The GPUs that it holds, where the journal tells.
    pub gpus: Option<Vec<u64>>,
    /// Why it was being ended, if it was.
    pub ending: Option<Cause>,
}

impl Attempt {
    /// The process around it, where the engine is of processes of this machine.
    pub fn shim(&self) -> Option<Identity> {
        (self.pid > 0).then_some(Identity { pid: self.pid, start: self.pid_start })
    }
}

impl History {
    /// Plays the records forward.
    pub(super) fn of(path: &Path, instance: &Instance, records: &[Record]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Damaged { path: path.to_owned(), line, reason: reason.into() };
        let Some(&Record::Header { version, fingerprint: ref stated, grows, .. }) = records.first() else {
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

    /// The instance has so many tasks.
    fn grow(&mut self, tasks: u64) {
        let count = self.tasks.len().max(tasks as usize);
        self.tasks.resize(count, Progression::Open);
        self.attempts.resize(count, 0);
    }

    /// What a journal of another instance amounts to, with the tasks that its records number.
    pub(super) fn of_edited(path: &Path, records: &[Record]) -> Result<(TaskList, Self), JournalError> {
        let Some(&Record::Header { grows, .. }) = records.first() else {
            let reason = "a journal begins with its header".into();
            return Err(JournalError::Damaged { path: path.to_owned(), line: 1, reason });
        };
        if grows {
            let history = Self::played(path, 0, records)?;
            return Ok((history.known.clone(), history));
        }
        let list = records.iter().find_map(|record| match record {
            Record::Tasks { list } => Some(list.clone()),
            _ => None,
        });
        let list = match list {
            Some(list) => list,
            // Nothing was begun.
            None if records.len() == 1 => TaskList::default(),
            None => return Err(JournalError::TasksUnknown { path: path.to_owned() }),
        };
        let history = Self::played(path, list.count(), records)?;
        Ok((list, history))
    }

    /// Plays the records of an instance of so many tasks forward. The first is a header.
    fn played(path: &Path, tasks: u64, records: &[Record]) -> Result<Self, JournalError> {
        let malformed =
            |line: usize, reason: &str| JournalError::Damaged { path: path.to_owned(), line, reason: reason.into() };
        let count = tasks as usize;
        let Some(&Record::Header { origin, grows, .. }) = records.first() else {
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

    /// Adds a record.
    ///
    /// # Errors
    /// Why it cannot follow those before it; nothing is changed.
    pub(super) fn apply(&mut self, record: &Record) -> Result<(), &'static str> {
        match record.clone() {
            Record::Header { .. } => return Err("a second header"),
            Record::Grown { .. } if !self.grows => return Err("tasks that come to a run that does not grow"),
            Record::Grown { list } => {
                self.known.extend(list);
                self.grow(self.known.count());
            }
            Record::Tasks { list } if list.count() != self.tasks.len() as u64 => {
                return Err("a list of other tasks");
            }
            Record::Tasks { .. } => self.listed = true,
            Record::Session { at, boot, group } => {
                (self.boot, self.group) = (boot, group);
                self.seen(at);
            }
            Record::Started { task, attempt, at, processors, pid, pid_start, gpus } => {
                let before = self.attempts.get(task.index()).copied();
                let place = self.waiting(task)?;
                if before.is_none_or(|before| attempt <= before) {
                    return Err("an attempt that has been made already");
                }
                *place = Progression::Running(Attempt { attempt, at, processors, pid, pid_start, gpus, ending: None });
                self.attempts[task.index()] = attempt;
                self.seen(at);
            }
            Record::Begun { task, at, processors } => {
                let attempt = self.running(task)?;
                (attempt.at, attempt.processors) = (at, processors);
                self.seen(at);
            }
            Record::Ending { task, cause } => self.running(task)?.ending = Some(cause),
            Record::Ended { task, start, at, processors, outcome: Outcome::NotStarted, accounting } => {
                // What was handed over may turn out never to start.
                match self.task(task)? {
                    running @ Progression::Running(_) => *running = Progression::Ended(Outcome::NotStarted),
                    _ => *self.waiting(task)? = Progression::Ended(Outcome::NotStarted),
                }
                self.runs.push(Run { task, start, end: at, processors, outcome: Outcome::NotStarted, accounting });
                self.seen(at);
            }
            Record::Ended { task, start, at, processors, outcome, accounting } => {
                let attempt = self.running(task)?;
                if attempt.at != start || attempt.processors != processors {
                    return Err("an end that does not fit its start");
                }
                *self.task(task)? = Progression::Ended(outcome);
                self.runs.push(Run { task, start, end: at, processors, outcome, accounting });
                self.seen(at);
            }
            Record::Interrupted { task, at } => {
                self.running(task)?;
                *self.task(task)? = Progression::Open;
                self.seen(at);
            }
            Record::Cancelled { task, at } => {
                *self.waiting(task)? = Progression::Cancelled;
                self.seen(at);
            }
            Record::Told { entry } => {
                self.task(entry.task)?;
                self.seen(entry.time);
                self.told.push(entry);
            }
            Record::Estimated { at, times } => {
                let last = times.iter().flat_map(|estimated| estimated.jobs.iter().map(|(_, last)| *last)).max();
                last.map(|last| self.task(last).map(drop)).transpose()?;
                self.seen(at);
                for estimated in times.into_iter().map(Rc::new) {
                    self.estimates.extend(estimated.tasks().map(|task| (task, Rc::clone(&estimated))));
                }
            }
            Record::Stopped { at } | Record::Finished { at } => self.seen(at),
        }
        Ok(())
    }

    /// A task that may be started: one that neither runs nor has succeeded.
    fn waiting(&mut self, task: TaskId) -> Result<&mut Progression, &'static str> {
        match self.task(task)? {
            Progression::Running(_) => Err("a job starts that runs already"),
            Progression::Ended(Outcome::Succeeded) => Err("a job starts that has succeeded"),
            progression => Ok(progression),
        }
    }

    fn running(&mut self, task: TaskId) -> Result<&mut Attempt, &'static str> {
        match self.task(task)? {
            Progression::Running(attempt) => Ok(attempt),
            _ => Err("a job ends that does not run"),
        }
    }

    fn task(&mut self, task: TaskId) -> Result<&mut Progression, &'static str> {
        self.tasks.get_mut(task.index()).ok_or("a job that the instance does not have")
    }

    /// The estimates that were replaced, of the instance as it began; those that do not fit it are left out.
    pub(crate) fn restated(&self, stated: &Instance) -> Vec<Restated> {
        self.estimates.iter().filter_map(|(&task, estimated)| estimated.restated(task, stated)).collect()
    }

    fn seen(&mut self, at: Time) {
        self.latest = self.latest.max(at);
    }
}
