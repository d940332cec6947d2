//! The data that the threads of a service share.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use makespan_core::{Job, Platform, ProcSet, Running, SubInstance, TaskId, Time, Unavailable};
use makespan_exec::Intake;
use makespan_history::Calibration;

use super::ahead::{LengthPredictor, Lengths};
use super::owners::{Owners, engine_job};
use super::rules::{PlannedSlot, StartRules};
use super::tally::JobTally;
use crate::clock::wall;
use crate::host::Host;
use crate::log::Log;
use crate::prepare::PreparedSubmission;
use crate::redact;
use crate::store::{HandedJob, JobRow, Readers, TaskEnd};
use crate::words::{JobNumber, Picture, Receipt, Refusal, Reservation, State, Submission, UserChange, Who};

/// Maximum number of stored remarks.
const REMARKS: usize = 20;

/// The channel on which a request is answered.
pub(super) type Reply<T> = Sender<Result<T, Refusal>>;

/// A request to the thread that writes the store.
pub(super) enum StoreRequest {
    Submit {
        who: Who,
        all: Vec<(Submission, PreparedSubmission)>,
        key: Option<(String, String)>,
        reply: Reply<Vec<Receipt>>,
    },
    /// Checks a submission as `Submit` does, but stores nothing. The reply contains the jobs as they would be stored, and
    /// their weights in the plan.
    TryOut(Who, Box<(Submission, PreparedSubmission)>, Reply<Vec<(JobRow, f64)>>),
    Cancel(Who, JobNumber, Reply<State>),
    Hold(Who, JobNumber, Reply<State>),
    Release(Who, JobNumber, Reply<State>),
    SetUser(Who, String, UserChange, Reply<()>),
    /// Stores a reservation of the user with this name.
    Reserve(String, Reservation, Reply<Reservation>),
    /// Deletes the reservation with this number, for the user with this name.
    Unreserve(String, u64, Reply<bool>),
    /// Stores a change of the state of a task.
    Task(Box<TaskEnd>),
    /// Reports the tasks that are running at the beginning of a session. Tasks that ended earlier have already been
    /// reported.
    Found(BTreeSet<(JobNumber, u64)>),
    /// Reports whether the engine has withdrawn these tasks.
    Withdrawn(Vec<TaskId>, bool),
    /// Begins a round (a run of the engine) on the platform with this digest, and assigns all waiting jobs to the
    /// round.
    Round(String, Sender<Result<(), String>>),
    /// Deletes a limited number of jobs that ended before an instant, and a limited number of events from before this
    /// instant. The reply is true if there may be more to delete.
    Forget(f64, Sender<Result<bool, String>>),
    /// Deletes a round if it has no jobs.
    ForgetRound(u64, Sender<Result<(), String>>),
    /// Replies when the effects of all earlier requests are on disk.
    Flush(Sender<Result<(), String>>),
    /// Ends the thread that writes the store.
    End,
}

/// The session that receives new jobs, and its progress.
#[derive(Default)]
pub(super) struct Delivery {
    /// The current session, if there is one.
    pub intake: Option<Intake>,
    /// The position of the last job that the session has received.
    pub upto: u64,
    /// The platform of the session.
    pub platform: Option<Platform>,
    /// The jobs that a session must withdraw, in groups. The key is the first job of the group. A session must
    /// withdraw either all jobs of a group or none. Each new session receives these requests again.
    pub holding: BTreeMap<JobNumber, Vec<JobNumber>>,
}

/// The recipient of a request about the tasks of jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestRecipient {
    /// The current session.
    Session,
    /// No recipient yet. The next session receives the request before it starts any task.
    Later,
    /// No recipient, because the session has no tasks of these jobs.
    Nobody,
}

/// The state of the engine at one instant, for the planner.
pub(super) struct Snapshot {
    /// The wall clock at instant 0 of the run, in seconds since 1970.
    pub origin: f64,
    pub now: Time,
    /// The waiting tasks, or the first waiting tasks if there are many.
    pub part: SubInstance,
    /// The number of the planner's request for this snapshot.
    pub request: u64,
    /// The number of tasks that the engine has received, including ended tasks.
    pub tasks: u64,
    /// Running tasks, with the data from which their lengths are predicted.
    pub running: Vec<(Running, LengthPredictor)>,
    /// The names of the resources besides processors that running tasks hold.
    pub resources: BTreeMap<TaskId, Vec<String>>,
    /// The number of waiting tasks that are not in `part`.
    pub left_out: u64,
    pub down: Vec<Unavailable>,
    /// The number of changes since the beginning of the session.
    pub changes: u64,
}

/// The data that the threads of a service share.
pub(super) struct SharedState {
    pub host: Box<dyn Host>,
    pub log: Log,
    pub platform: Platform,
    pub readers: Readers,
    pub owners: Arc<Mutex<Owners>>,
    pub rules: Arc<Mutex<StartRules>>,
    /// Run times of ended tasks, by kind.
    pub lengths: Mutex<Lengths>,
    pub delivery: Mutex<Delivery>,
    pub latest: Mutex<u64>,
    pub changed: Condvar,
    pub picture: RwLock<Arc<Picture>>,
    /// The number of the planner's request for a snapshot of the engine, or 0 if there is no request.
    pub wanted: Mutex<u64>,
    pub snapshots: Mutex<Sender<Snapshot>>,
    /// The number of changes of reservations and of users' limits.
    pub settings: AtomicU64,
    /// The number of clients that wait for a plan.
    pub awaited: AtomicUsize,
    pub closing: AtomicBool,
    /// Number of running checks of submitted files.
    pub checks: AtomicUsize,
    /// A description of the present problem, if there is one.
    pub trouble: Mutex<Option<String>>,
    pub tally: Mutex<JobTally>,
    /// The calibration of the ranges of starts.
    pub calibration: Mutex<Arc<Calibration>>,
    /// The latest messages for users.
    pub remarks: Mutex<VecDeque<String>>,
    /// Whether the run is long and must be replaced by a new run.
    pub worn: AtomicBool,
    /// Whether the store can be written.
    pub writes: AtomicBool,
    /// Whether jobs are started.
    pub runs: AtomicBool,
}

impl SharedState {
    /// Stores the number of the latest event, and wakes the threads that wait for events.
    pub fn happened(&self, latest: u64) {
        let mut now = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest > *now {
            *now = latest;
            self.changed.notify_all();
        }
    }

    /// Blocks until an event newer than `after` exists, `timeout` expires or the service ends. Returns the number of
    /// the latest event.
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

    /// Stores the description of a problem without names of jobs, and adds it to the messages for all users.
    pub fn trouble(&self, text: &str) {
        let text = redact::message(text);
        let before = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).replace(text.clone());
        if before.as_ref() != Some(&text) {
            self.log.error(&text);
            self.remark(text);
        }
    }

    /// Returns the description of the present problem, if there is one.
    pub fn present_trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Clears the description of the problem.
    pub fn relief(&self) {
        if let Some(text) = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take() {
            self.log.notice(&format!("this problem no longer exists: {text}"));
        }
    }

    /// Adds a message without names of jobs for all users, and writes it to the log.
    pub fn note(&self, text: &str) {
        let text = redact::message(text);
        self.log.warning(&text);
        self.remark(text);
    }

    /// Adds a message about a usual event for all users, without names of jobs.
    pub fn inform(&self, text: &str) {
        let text = redact::message(text);
        self.log.info(&text);
        self.remark(text);
    }

    fn remark(&self, text: String) {
        let mut remarks = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.push_back(text);
        if remarks.len() > REMARKS {
            remarks.pop_front();
        }
    }

    /// Passes jobs to the current session. Returns the jobs that do not fit its platform, each with its position and
    /// the reason.
    pub fn deliver(&self, handed: &[HandedJob]) -> Vec<(JobNumber, u64, String)> {
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

    /// Sends a request about the tasks of jobs to the current session.
    pub fn ask_engine(&self, jobs: &[JobNumber], ask: impl Fn(&Intake, Vec<TaskId>)) -> RequestRecipient {
        self.ask_session(&self.delivery.lock().unwrap_or_else(PoisonError::into_inner), jobs, ask)
    }

    /// Requests that the current or the next session withdraw all of the jobs or none.
    pub fn withdraw(&self, jobs: &[JobNumber]) -> RequestRecipient {
        let mut delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        let asked = self.ask_session(&delivery, jobs, Intake::withdraw);
        if let (Some(&first), true) = (jobs.first(), asked != RequestRecipient::Nobody) {
            delivery.holding.insert(first, jobs.to_vec());
        }
        asked
    }

    /// Sends a request in the same way as [`SharedState::ask_engine`], for a caller that already holds the lock of
    /// `delivery`.
    pub fn ask_session(
        &self,
        delivery: &Delivery,
        jobs: &[JobNumber],
        ask: impl Fn(&Intake, Vec<TaskId>),
    ) -> RequestRecipient {
        let Some(intake) = &delivery.intake else { return RequestRecipient::Later };
        let owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let tasks: Vec<TaskId> = jobs.iter().flat_map(|job| owners.tasks(*job)).map(TaskId).collect();
        drop(owners);
        if tasks.is_empty() {
            return RequestRecipient::Nobody;
        }
        ask(intake, tasks);
        RequestRecipient::Session
    }

    /// Sends the reservations to the current session.
    pub fn announce(&self, delivery: &Delivery) -> Result<(), rusqlite::Error> {
        self.settings.fetch_add(1, Ordering::Relaxed);
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

    /// Gives the slots of a new plan to the engine.
    pub fn follow(&self, slots: Vec<PlannedSlot>) {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner).renew(slots);
        if let Some(intake) = &self.delivery.lock().unwrap_or_else(PoisonError::into_inner).intake {
            intake.decide();
        }
    }

    /// Removes the request to withdraw a job, after a session has answered the request.
    pub fn was_withdrawn(&self, job: JobNumber) {
        self.delivery.lock().unwrap_or_else(PoisonError::into_inner).holding.remove(&job);
    }

    /// Ends the current session. The running tasks continue.
    pub fn leave(&self) {
        let delivery = self.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(intake) = &delivery.intake {
            intake.leave();
        }
    }
}
