//! The thread that writes the store. Requests that arrive during a transaction form the next transaction.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use makespan_core::TaskId;
use makespan_exec::Intake;

use super::line;
use super::shared::{Reply, RequestRecipient, SharedState, StoreRequest};
use crate::log::Priority;
use crate::prepare::refusal;
use crate::store::{LogEvent, Reader, Store, StoreChange};
use crate::words::{JobNumber, Receipt, Refusal, RefusalKind, State};

/// Maximum number of requests in a transaction.
const MOST: usize = 2000;
/// Maximum number of jobs, and of events, that are deleted in one request.
const FORGOTTEN: usize = 500;
/// Pause before the next attempt after writing has failed.
const PAUSE: Duration = Duration::from_millis(500);

/// A function that sends a reply when the transaction is on disk.
type Answer = Box<dyn FnOnce() + Send>;

/// A request to hold a job: the user who sent it, and the channel for the reply.
type HoldRequest = (String, Reply<State>);

type Holding = BTreeMap<JobNumber, (Vec<JobNumber>, Vec<HoldRequest>)>;

/// The state of the thread.
pub(super) struct Writer {
    store: Store,
    shared: Arc<SharedState>,
    asks: Receiver<StoreRequest>,
    /// Requests to hold a job, until the engine has withdrawn the job. The key is the job. Each entry contains the
    /// job, the jobs in the engine that wait for this job, and the requests.
    holding: Holding,
}

/// The actions to take when a transaction is on disk.
#[derive(Default)]
struct After {
    answers: Vec<Answer>,
    cancel: Vec<JobNumber>,
    withdraw: Vec<(Vec<JobNumber>, HoldRequest)>,
    /// Whether the limits of a user have changed.
    limits: bool,
    /// Jobs that the engine was asked to withdraw, and whether it has withdrawn them.
    withdrawn: Vec<(JobNumber, bool)>,
}

impl Writer {
    pub fn new(store: Store, shared: Arc<SharedState>, asks: Receiver<StoreRequest>) -> Self {
        Self { store, shared, asks, holding: BTreeMap::new() }
    }

    /// Writes until a request ends the thread.
    pub fn run(mut self) {
        // Requests that could not be written, if their senders do not wait for a reply.
        let mut left: Vec<StoreRequest> = Vec::new();
        loop {
            let mut asks = std::mem::take(&mut left);
            let first = if asks.is_empty() {
                self.asks.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.asks.recv_timeout(PAUSE)
            };
            match first {
                Ok(ask) => asks.push(ask),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            while asks.len() < MOST {
                let Ok(ask) = self.asks.try_recv() else { break };
                asks.push(ask);
            }
            let ends = asks.iter().any(|ask| matches!(ask, StoreRequest::End));
            left = self.write(asks);
            if ends {
                // If the disk is full, the checkpoint fails and the changes stay in the write-ahead log.
                let _ = self.store.checkpoint();
                return;
            }
        }
    }

    /// Writes the effects of all requests in one transaction. Returns the requests that must be repeated.
    fn write(&mut self, asks: Vec<StoreRequest>) -> Vec<StoreRequest> {
        let (holding, shared) = (&self.holding, &self.shared);
        let done = self.store.change(|change| {
            let mut after = After::default();
            for ask in &asks {
                heed(change, ask, &mut after, holding, shared)?;
            }
            Ok(after)
        });
        let after = match done {
            Ok((done, taken)) => {
                if !self.shared.writes.swap(true, Ordering::Relaxed) {
                    self.shared.relief();
                }
                // The jobs are delivered before their events are announced, so that a plan that includes these events
                // includes the jobs.
                let refused = self.shared.deliver(&taken.handed);
                self.shared.happened(taken.latest);
                taken.events.iter().for_each(|event| self.report(event));
                self.drop_refused(&refused);
                done
            }
            Err(error) => {
                let first = self.shared.writes.swap(false, Ordering::Relaxed);
                if first {
                    self.shared.trouble(&format!(
                        "the store cannot be written: {error}; until it can be written, requests that change the \
                         store are refused"
                    ));
                }
                return asks.into_iter().filter_map(|ask| refuse(ask, &error)).collect();
            }
        };
        if after.limits {
            self.renew_limits();
        }
        after.answers.into_iter().for_each(|answer| answer());
        if !after.cancel.is_empty() {
            let _ = self.shared.ask_engine(&after.cancel, Intake::cancel);
        }
        after.withdrawn.into_iter().for_each(|(job, done)| self.withdrawn(job, done));
        after.withdraw.into_iter().for_each(|(jobs, request)| self.withdraw(jobs, request));
        Vec::new()
    }

    /// Asks the engine to withdraw a job, and the jobs in the engine that wait for this job. If there is no session,
    /// the next session receives the request.
    fn withdraw(&mut self, jobs: Vec<JobNumber>, request: HoldRequest) {
        let Some(&first) = jobs.first() else { return };
        if self.shared.withdraw(&jobs) == RequestRecipient::Nobody {
            let _ = request.1.send(Err(not_held(first)));
            return;
        }
        self.holding.entry(first).or_insert_with(|| (jobs, Vec::new())).1.push(request);
    }

    /// Replies to the requests to hold a job, after the engine has answered whether it withdrew the job.
    fn withdrawn(&mut self, job: JobNumber, done: bool) {
        self.shared.was_withdrawn(job);
        for (_, reply) in self.holding.remove(&job).into_iter().flat_map(|(_, requests)| requests) {
            let _ = reply.send(if done { Ok(State::Held) } else { Err(not_held(job)) });
        }
    }

    /// Ends the jobs that do not fit the platform.
    fn drop_refused(&mut self, refused: &[(JobNumber, u64, String)]) {
        if refused.is_empty() {
            return;
        }
        let done = self.store.change(|change| {
            refused.iter().try_for_each(|(job, position, why)| change.not_taken(*job, *position, why))
        });
        if let Ok(((), taken)) = done {
            self.shared.happened(taken.latest);
            taken.events.iter().for_each(|event| self.report(event));
        }
    }

    /// Writes an event to the log, and counts the start or the end of a job.
    fn report(&self, event: &LogEvent) {
        let (priority, line) = match event {
            LogEvent::Job(event) => {
                self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner).add(event);
                line::of_job(event)
            }
            LogEvent::Request(priority, line) => (*priority, line.clone()),
        };
        self.shared.log.add(priority, &line);
    }

    /// Reads the processor limits of the users from the store, and wakes the engine, which may start other jobs now.
    fn renew_limits(&self) {
        if let Ok(processors) = self.shared.readers.read(Reader::limits) {
            self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner).processors = processors;
        }
        let _ = self.shared.announce(&self.shared.delivery.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

/// Sends a reply when the transaction is on disk.
fn answer<T: Send + 'static>(after: &mut After, reply: &Reply<T>, answer: Result<T, Refusal>) {
    let reply = reply.clone();
    after.answers.push(Box::new(move || {
        let _ = reply.send(answer);
    }));
}

/// Sends a reply to an internal request when the transaction is on disk.
fn done<T: Send + 'static>(after: &mut After, reply: &Sender<Result<T, String>>, done: T) {
    let reply = reply.clone();
    after.answers.push(Box::new(move || {
        let _ = reply.send(Ok(done));
    }));
}

fn heed(
    change: &mut StoreChange<'_>,
    ask: &StoreRequest,
    after: &mut After,
    holding: &Holding,
    shared: &SharedState,
) -> Result<(), rusqlite::Error> {
    match ask {
        StoreRequest::Submit { reply, .. } => {
            let receipts = submit(change, ask)?;
            answer(after, reply, receipts);
        }
        StoreRequest::TryOut(who, submitted, reply) => {
            let tried = change.try_out(who, &submitted.0, &submitted.1)?;
            answer(after, reply, tried);
        }
        StoreRequest::Cancel(who, job, reply) => {
            let done = logged(change, line::cancelled(&who.user, *job), |change| change.cancel(who, *job))?;
            if let Ok((_, true)) = done {
                after.cancel.push(*job);
            }
            answer(after, reply, done.map(|(state, _)| state));
        }
        StoreRequest::Hold(who, job, reply) => match change.part(|change| change.hold(who, *job))? {
            Ok(jobs) if jobs.is_empty() => {
                change.log_request(change.event_count(), line::held(&who.user, *job));
                answer(after, reply, Ok(State::Held));
            }
            Ok(jobs) => after.withdraw.push((jobs, (who.user.clone(), reply.clone()))),
            Err(refused) => answer(after, reply, Err(refused)),
        },
        StoreRequest::Release(who, job, reply) => {
            let done = logged(change, line::released(&who.user, *job), |change| change.release(who, *job))?;
            answer(after, reply, done);
        }
        StoreRequest::SetUser(who, user, settings, reply) => {
            let line = line::limits_set(&who.user, user, settings);
            let done = logged(change, line, |change| change.set_user(who, user, settings))?;
            after.limits = true;
            answer(after, reply, done);
        }
        StoreRequest::Reserve(user, reservation, reply) => {
            let done = change.reserve(reservation.clone())?;
            if let Ok(done) = &done {
                change.log_request(change.event_count(), line::reserved(user, done));
            }
            answer(after, reply, done);
        }
        StoreRequest::Unreserve(user, number, reply) => {
            let done = change.unreserve(*number)?;
            if done {
                change.log_request(change.event_count(), line::unreserved(user, *number));
            }
            answer(after, reply, Ok(done));
        }
        StoreRequest::Task(end) => change.note(end)?,
        StoreRequest::Found(running) => {
            change.wait_again(|job, task| running.contains(&(job, task)))?;
        }
        StoreRequest::Withdrawn(tasks, done) => withdrawn(change, (tasks, *done), after, holding, shared)?,
        StoreRequest::Round(platform, reply) => {
            change.begin_round(platform)?;
            change.hand_all()?;
            done(after, reply, ());
        }
        StoreRequest::Forget(before, reply) => {
            let more = change.forget(*before, FORGOTTEN)?;
            done(after, reply, more);
        }
        StoreRequest::ForgetRound(round, reply) => {
            change.forget_round(*round)?;
            done(after, reply, ());
        }
        StoreRequest::Flush(reply) => done(after, reply, ()),
        StoreRequest::End => {}
    }
    Ok(())
}

/// Carries out a request. If the request is not refused, adds a line about the request to the log.
fn logged<T>(
    change: &mut StoreChange<'_>,
    (priority, line): (Priority, String),
    act: impl FnOnce(&mut StoreChange<'_>) -> Result<Result<T, Refusal>, rusqlite::Error>,
) -> Result<Result<T, Refusal>, rusqlite::Error> {
    let before = change.event_count();
    let done = change.part(act)?;
    if done.is_ok() {
        change.log_request(before, (priority, line));
    }
    Ok(done)
}

fn submit(change: &mut StoreChange<'_>, ask: &StoreRequest) -> Result<Result<Vec<Receipt>, Refusal>, rusqlite::Error> {
    let StoreRequest::Submit { who, all, key, .. } = ask else { return Ok(Ok(Vec::new())) };
    change.part(|change| {
        let before = change.event_count();
        if let Some((key, digest)) = key {
            match change.earlier(who, key, digest)? {
                Ok(Some(receipts)) => return Ok(Ok(receipts)),
                Ok(None) => {}
                Err(refused) => return Ok(Err(refused)),
            }
        }
        let mut receipts = Vec::with_capacity(all.len());
        for (at, (submission, prepared)) in all.iter().enumerate() {
            match change.submit(who, submission, prepared)? {
                Ok(receipt) => receipts.push(receipt),
                Err(refused) => return Ok(Err(at_position(refused, at, all.len()))),
            }
        }
        if let Some((key, digest)) = key {
            change.remember(who, key, digest, &receipts)?;
        }
        if let Some(line) = line::submitted(&who.user, &receipts) {
            change.log_request(before, line);
        }
        Ok(Ok(receipts))
    })
}

/// If there are several submissions, adds the position of the refused submission to the place of the refusal.
pub(super) fn at_position(refused: Refusal, at: usize, count: usize) -> Refusal {
    if count == 1 {
        return refused;
    }
    let place = refused.place.map_or_else(String::new, |place| format!(".{place}"));
    Refusal { place: Some(format!("submissions[{at}]{place}")), ..refused }
}

/// Stores whether the engine has withdrawn tasks.
fn withdrawn(
    change: &mut StoreChange<'_>,
    (tasks, done): (&[TaskId], bool),
    after: &mut After,
    holding: &Holding,
    shared: &SharedState,
) -> Result<(), rusqlite::Error> {
    // If the request was repeated, these task numbers may now belong to another job.
    let job = tasks.first().and_then(|&task| {
        let owners = shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let (owned, _) = owners.of(task)?;
        owners.tasks(owned.job).contains(&task.0).then_some(owned.job)
    });
    let Some((job, (jobs, requests))) = job.and_then(|job| Some((job, holding.get(&job)?))) else { return Ok(()) };
    if done {
        let before = change.event_count();
        change.withdrawn(jobs)?;
        requests.iter().for_each(|(user, _)| change.log_request(before, line::held(user, job)));
    }
    after.withdrawn.push((job, done));
    Ok(())
}

fn not_held(job: JobNumber) -> Refusal {
    let message = format!("job {job} has just started or ended; only a waiting job can be held");
    refusal(RefusalKind::Conflict, "", message, "cancel the job if it must not run")
}

/// Reports to the sender of a request that the store cannot be written. Returns the request if the writer must repeat
/// the request.
fn refuse(ask: StoreRequest, error: &rusqlite::Error) -> Option<StoreRequest> {
    let full = || {
        let message = format!("the store cannot be written: {error}; the request was not stored");
        refusal(RefusalKind::Full, "", message, "free space on the disk of the store, and try again")
    };
    match ask {
        StoreRequest::Submit { reply, .. } => _ = reply.send(Err(full())),
        StoreRequest::TryOut(.., reply) => _ = reply.send(Err(full())),
        StoreRequest::Cancel(_, _, reply) | StoreRequest::Hold(_, _, reply) | StoreRequest::Release(_, _, reply) => {
            _ = reply.send(Err(full()))
        }
        StoreRequest::SetUser(.., reply) => _ = reply.send(Err(full())),
        StoreRequest::Reserve(_, _, reply) => _ = reply.send(Err(full())),
        StoreRequest::Unreserve(_, _, reply) => _ = reply.send(Err(full())),
        // The retention thread repeats these requests later.
        StoreRequest::Forget(_, reply) => _ = reply.send(Err(error.to_string())),
        StoreRequest::ForgetRound(_, reply) => _ = reply.send(Err(error.to_string())),
        ask @ (StoreRequest::Task(_)
        | StoreRequest::Found(_)
        | StoreRequest::Withdrawn(..)
        | StoreRequest::Round(..)
        | StoreRequest::Flush(_)) => return Some(ask),
        StoreRequest::End => {}
    }
    None
}
