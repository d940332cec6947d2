//! What the threads of a service share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use makespan_core::{Job, Part, Platform, ProcSet, Running, TaskId, Time, Unavailable};
use makespan_exec::Intake;

use super::admission::Limits;
use super::ahead::{Ahead, Lengths};
use super::owners::{Owners, engine_job};
use crate::clock::wall;
use crate::host::Host;
use crate::prepare::PreparedSubmission;
use crate::store::{Handed, Readers, TaskEnd};
use crate::words::{JobNumber, Picture, Receipt, Refusal, Reservation, State, Submission, UserSettings, Who};

/// Most remarks that are kept.
const REMARKS: usize = 20;

/// Who waits for an answer.
pub(super) type Reply<T> = Sender<Result<T, Refusal>>;

/// What the thread that writes is asked.
pub(super) enum Ask {
    Submit {
        who: Who,
        all: Vec<(Submission, PreparedSubmission)>,
        key: Option<(String, String)>,
        reply: Reply<Vec<Receipt>>,
    },
    Cancel(Who, JobNumber, Reply<State>),
    Hold(Who, JobNumber, Reply<State>),
    Release(Who, JobNumber, Reply<State>),
    SetUser(Who, String, UserSettings, Reply<()>),
    Reserve(Reservation, Reply<Reservation>),
    Unreserve(u64, Reply<bool>),
    /// How a task stands.
    Task(Box<TaskEnd>),
    /// What runs when a session begins; what ended was told before.
    Found(BTreeSet<(JobNumber, u64)>),
    /// Whether these tasks were taken back.
    Withdrawn(Vec<TaskId>, bool),
    /// Begins a round on machines of this digest, and gives it all that waits.
    Round(String, Sender<Result<(), String>>),
    /// Forgets what ended before an instant, or the first of it. The answer is whether there may be more.
    Forget(f64, Sender<Result<bool, String>>),
    /// Forgets a round of which nothing is left.
    ForgetRound(u64, Sender<Result<(), String>>),
    /// Answers when all that was asked before is on disk.
    Flush(Sender<Result<(), String>>),
    /// Ends the thread.
    End,
}

/// Who gets the jobs that come.
#[derive(Default)]
pub(super) struct Delivery {
    /// The session that goes on.
    pub intake: Option<Intake>,
    /// The position of the last job that it has.
    pub upto: u64,
    /// The machines of its round.
    pub platform: Option<Platform>,
    /// Jobs that a session is to take back all or none, by the first of them. A session that begins is asked again.
    pub holding: BTreeMap<JobNumber, Vec<JobNumber>>,
}

/// Who was asked for something that concerns the tasks of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The session that goes on.
    Session,
    /// None goes on. The next one is asked before it starts anything.
    Later,
    /// The session has no tasks of these jobs.
    Nobody,
}

/// The engine at an instant, for whoever plans.
pub(super) struct Snapshot {
    /// The wall clock at instant 0 of the run.
    pub origin: f64,
    pub now: Time,
    /// What waits, or the first of it.
    pub part: Part,
    /// Running tasks, with the data from which their lengths are predicted.
    pub running: Vec<(Running, Ahead)>,
    /// How many tasks wait besides.
    pub left_out: u64,
    pub down: Vec<ProcSet>,
    /// How much has happened.
    pub changes: u64,
}

/// What the threads share.
pub(super) struct Shared {
    pub host: Box<dyn Host>,
    pub platform: Platform,
    pub readers: Readers,
    pub owners: Arc<Mutex<Owners>>,
    pub limits: Arc<Mutex<Limits>>,
    /// Run times of ended tasks, by kind.
    pub lengths: Mutex<Lengths>,
    pub delivery: Mutex<Delivery>,
    pub latest: Mutex<u64>,
    pub changed: Condvar,
    pub picture: RwLock<Arc<Picture>>,
    /// Whether somebody wants to know how the engine stands.
    pub wanted: Mutex<bool>,
    pub snapshots: Mutex<Sender<Snapshot>>,
    pub closing: AtomicBool,
    /// Number of running checks of submitted files.
    pub checks: AtomicUsize,
    /// What is wrong, if anything is.
    pub trouble: Mutex<Option<String>>,
    /// What the engine said last.
    pub remarks: Mutex<VecDeque<String>>,
    /// Whether the run has become long, and is to give way to a new one.
    pub worn: AtomicBool,
    /// Whether the store can be written, and jobs are started.
    pub writes: AtomicBool,
    pub runs: AtomicBool,
}

impl Shared {
    /// Something happened, of this number.
    pub fn happened(&self, latest: u64) {
        let mut now = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest > *now {
            *now = latest;
            self.changed.notify_all();
        }
    }

    /// Waits until something has happened after this number, at most so long.
    pub fn wait(&self, after: u64, timeout: Duration) -> u64 {
        let end = Instant::now() + timeout;
        let mut now = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        while *now <= after && !self.is_closing() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            (now, _) = self.changed.wait_timeout(now, left).unwrap_or_else(PoisonError::into_inner);
        }
        *now
    }

    pub fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Something is wrong, in words.
    pub fn trouble(&self, text: &str) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(text.to_owned());
        self.note(text);
    }

    /// Nothing is wrong any more.
    pub fn relief(&self) {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Something that everybody should know.
    pub fn note(&self, text: &str) {
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.push_back(text.to_owned());
        if remarks.len() > REMARKS {
            remarks.pop_front();
        }
    }

    /// Hands jobs to the session that goes on. Returned are those that do not fit its machines, and why.
    pub fn deliver(&self, handed: &[Handed]) -> Vec<(JobNumber, u64, String)> {
        let mut delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut jobs, mut refused): (Vec<Job>, _) = (Vec::new(), Vec::new());
        let (Some(intake), Some(platform)) = (delivery.intake.clone(), delivery.platform.clone()) else {
            return refused;
        };
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        for handed in handed.iter().filter(|handed| handed.position > delivery.upto) {
            match engine_job(handed, &platform) {
                Ok(job) => {
                    jobs.push(job);
                    owners.push(handed);
                }
                Err(error) => refused.push((handed.job, handed.position, error)),
            }
        }
        drop(owners);
        delivery.upto = handed.iter().map(|handed| handed.position).fold(delivery.upto, u64::max);
        if !jobs.is_empty() {
            intake.append(jobs);
        }
        refused
    }

    /// Asks the session that goes on for something that concerns the tasks of jobs.
    pub fn ask_engine(&self, jobs: &[JobNumber], ask: impl Fn(&Intake, Vec<TaskId>)) -> Asked {
        self.ask_session(&self.delivery.lock().unwrap_or_else(PoisonError::into_inner), jobs, ask)
    }

    /// Asks the session that goes on, or the next one, to take jobs back, all or none.
    pub fn withdraw(&self, jobs: &[JobNumber]) -> Asked {
        let mut delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.ask_session(&delivery, jobs, Intake::withdraw);
        if let (Some(&first), true) = (jobs.first(), asked != Asked::Nobody) {
            delivery.holding.insert(first, jobs.to_vec());
        }
        asked
    }

    /// The same, by who has the lock.
    pub fn ask_session(&self, delivery: &Delivery, jobs: &[JobNumber], ask: impl Fn(&Intake, Vec<TaskId>)) -> Asked {
        let Some(intake) = &delivery.intake else { return Asked::Later };
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks: Vec<TaskId> = jobs.iter().flat_map(|job| owners.tasks(*job)).map(TaskId).collect();
        drop(owners);
        if tasks.is_empty() {
            return Asked::Nobody;
        }
        ask(intake, tasks);
        Asked::Session
    }

    /// Tells a session when processors are kept free.
    pub fn announce(&self, delivery: &Delivery) -> Result<(), rusqlite::Error> {
        let Some(intake) = &delivery.intake else { return Ok(()) };
        let (reservations, round) = self.readers.read(|reader| Ok((reader.reservations(wall())?, reader.round()?)))?;
        let began = round.map_or_else(wall, |round| round.began);
        let ticks = |at: f64| Time::from_ticks(((at - began).max(0.0) * 1e9) as i64);
        let period = |one: Reservation| Unavailable {
            start: ticks(one.start),
            end: ticks(one.end),
            processors: ProcSet::from_intervals(one.processors),
        };
        intake.announce(reservations.into_iter().map(period).collect());
        Ok(())
    }

    /// A session has said whether it has taken a job back.
    pub fn was_withdrawn(&self, job: JobNumber) {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner).holding.remove(&job);
    }

    /// Ends the session that goes on; what runs goes on.
    pub fn leave(&self) {
        let delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(intake) = &delivery.intake {
            intake.leave();
        }
    }
}
