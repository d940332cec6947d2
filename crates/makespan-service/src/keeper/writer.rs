//! The thread that writes. What comes while it writes is one transaction, the next.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use makespan_core::TaskId;
use makespan_exec::Intake;

use super::shared::{Ask, Reply, Shared};
use crate::prepare::refusal;
use crate::store::{Change, Reader, Store};
use crate::words::{JobNumber, Receipt, Refusal, RefusalKind, State};

/// Most that is done at one instant.
const MOST: usize = 2000;
/// Between two attempts to write what cannot be written.
const PAUSE: Duration = Duration::from_millis(500);

/// What somebody is told when it is on disk.
type Answer = Box<dyn FnOnce() + Send>;

/// The thread.
pub(super) struct Writer {
    store: Store,
    shared: Arc<Shared>,
    asks: Receiver<Ask>,
    /// Who waits for a job to be taken back.
    holding: BTreeMap<JobNumber, (Vec<JobNumber>, Vec<Reply<State>>)>,
}

/// What is to be done when a transaction is on disk.
#[derive(Default)]
struct After {
    answers: Vec<Answer>,
    cancel: Vec<JobNumber>,
    withdraw: Vec<(Vec<JobNumber>, Reply<State>)>,
    /// Somebody's limits or reservations are others.
    limits: bool,
}

impl Writer {
    pub fn new(store: Store, shared: Arc<Shared>, asks: Receiver<Ask>) -> Self {
        Self { store, shared, asks, holding: BTreeMap::new() }
    }

    /// Writes until it is told to end.
    pub fn run(mut self) {
        // What could not be written, and nobody waits for.
        let mut left: Vec<Ask> = Vec::new();
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
            let ends = asks.iter().any(|ask| matches!(ask, Ask::End));
            left = self.write(asks);
            if ends {
                return;
            }
        }
    }

    /// Writes all of it. Returned is what is to be tried again.
    fn write(&mut self, asks: Vec<Ask>) -> Vec<Ask> {
        let (mut holding, shared) = (std::mem::take(&mut self.holding), Arc::clone(&self.shared));
        let done = self.store.change(|change| {
            let mut after = After::default();
            for ask in &asks {
                heed(change, ask, &mut after, &mut holding, &shared)?;
            }
            Ok(after)
        });
        self.holding = holding;
        let after = match done {
            Ok((done, taken)) => {
                if !self.shared.writes.swap(true, Ordering::Relaxed) {
                    self.shared.relief();
                }
                self.shared.happened(taken.latest);
                let refused = self.shared.deliver(&taken.handed);
                self.drop_refused(&refused);
                done
            }
            Err(error) => {
                let first = self.shared.writes.swap(false, Ordering::Relaxed);
                if first {
                    self.shared
                        .trouble(&format!("the store cannot be written: {error}; nothing is accepted until it can"));
                }
                return asks.into_iter().filter_map(|ask| refuse(ask, &error)).collect();
            }
        };
        after.answers.into_iter().for_each(|answer| answer());
        if !after.cancel.is_empty() {
            self.shared.ask_engine(&after.cancel, Intake::cancel);
        }
        for (jobs, reply) in after.withdraw {
            let Some(&first) = jobs.first() else { continue };
            let waiting = self.holding.entry(first).or_insert_with(|| (jobs.clone(), Vec::new()));
            waiting.1.push(reply);
            self.shared.ask_engine(&jobs, Intake::withdraw);
        }
        if after.limits {
            self.renew_limits();
        }
        Vec::new()
    }

    /// Jobs that do not fit the machines end.
    fn drop_refused(&mut self, refused: &[(JobNumber, u64, String)]) {
        if refused.is_empty() {
            return;
        }
        let done = self.store.change(|change| {
            refused.iter().try_for_each(|(job, position, why)| change.not_taken((*job, *position), why))
        });
        if let Ok(((), taken)) = done {
            self.shared.happened(taken.latest);
        }
    }

    /// Reads who may use how much.
    fn renew_limits(&self) {
        if let Ok(processors) = self.shared.readers.read(Reader::limits) {
            self.shared.limits.lock().unwrap_or_else(PoisonError::into_inner).processors = processors;
        }
    }
}

/// Sends an answer when all is on disk.
fn answer<T: Send + 'static>(after: &mut After, reply: &Reply<T>, answer: Result<T, Refusal>) {
    let reply = reply.clone();
    after.answers.push(Box::new(move || {
        let _ = reply.send(answer);
    }));
}

fn heed(
    change: &mut Change<'_>,
    ask: &Ask,
    after: &mut After,
    holding: &mut BTreeMap<JobNumber, (Vec<JobNumber>, Vec<Reply<State>>)>,
    shared: &Shared,
) -> Result<(), rusqlite::Error> {
    match ask {
        Ask::Submit { reply, .. } => {
            let receipts = submit(change, ask)?;
            answer(after, reply, receipts);
        }
        Ask::Cancel(who, job, reply) => {
            let done = change.part(|change| change.cancel(who, *job))?;
            if let Ok((_, true)) = done {
                after.cancel.push(*job);
            }
            answer(after, reply, done.map(|(state, _)| state));
        }
        Ask::Hold(who, job, reply) => match change.part(|change| change.hold(who, *job))? {
            Ok(jobs) if jobs.is_empty() => answer(after, reply, Ok(State::Held)),
            Ok(jobs) => after.withdraw.push((jobs, reply.clone())),
            Err(refused) => answer(after, reply, Err(refused)),
        },
        Ask::Release(who, job, reply) => {
            let done = change.part(|change| change.release(who, *job))?;
            answer(after, reply, done);
        }
        Ask::SetUser(who, user, settings, reply) => {
            let done = change.part(|change| change.set_user(who, user, settings))?;
            after.limits = true;
            answer(after, reply, done);
        }
        Ask::Reserve(reservation, reply) => {
            let done = change.reserve(reservation.clone())?;
            answer(after, reply, Ok(done));
        }
        Ask::Unreserve(number, reply) => {
            let done = change.unreserve(*number)?;
            answer(after, reply, Ok(done));
        }
        Ask::Task(end) => change.note(end)?,
        Ask::Found(running) => {
            change.wait_again(|job, task| running.contains(&(job, task)))?;
            after.cancel.extend(change.to_cancel()?);
        }
        Ask::Withdrawn(tasks, done) => withdrawn(change, (tasks, *done), after, holding, shared)?,
        Ask::Round(platform, reply) => {
            change.begin_round(platform)?;
            change.hand_all()?;
            let reply = reply.clone();
            after.answers.push(Box::new(move || {
                let _ = reply.send(Ok(()));
            }));
        }
        Ask::End => {}
    }
    Ok(())
}

fn submit(change: &mut Change<'_>, ask: &Ask) -> Result<Result<Vec<Receipt>, Refusal>, rusqlite::Error> {
    let Ask::Submit { who, all, key, .. } = ask else { return Ok(Ok(Vec::new())) };
    change.part(|change| {
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
        Ok(Ok(receipts))
    })
}

/// A refusal of one of several submissions.
pub(super) fn at_position(refused: Refusal, at: usize, count: usize) -> Refusal {
    if count == 1 {
        return refused;
    }
    let place = refused.place.map_or_else(String::new, |place| format!(".{place}"));
    Refusal { place: Some(format!("submissions[{at}]{place}")), ..refused }
}

fn withdrawn(
    change: &mut Change<'_>,
    (tasks, done): (&[TaskId], bool),
    after: &mut After,
    holding: &mut BTreeMap<JobNumber, (Vec<JobNumber>, Vec<Reply<State>>)>,
    shared: &Shared,
) -> Result<(), rusqlite::Error> {
    let first = tasks.first().and_then(|&task| {
        let owners = shared.owners.lock().unwrap_or_else(PoisonError::into_inner);
        owners.of(task).map(|(owned, _)| owned.job)
    });
    let Some((job, (jobs, replies))) = first.and_then(|job| Some((job, holding.remove(&job)?))) else { return Ok(()) };
    if done {
        change.withdrawn(&jobs)?;
    }
    for reply in &replies {
        let message = format!("job {job} has just started; only one that waits can be held");
        let refused = || refusal(RefusalKind::Conflict, "", message.clone(), "cancel it, if it is not to go on");
        answer(after, reply, if done { Ok(State::Held) } else { Err(refused()) });
    }
    Ok(())
}

/// Tells whoever waits that the store cannot be written; what nobody waits for is tried again.
fn refuse(ask: Ask, error: &rusqlite::Error) -> Option<Ask> {
    let full = || {
        let message = format!("the store cannot be written: {error}; nothing was taken");
        refusal(RefusalKind::Full, "", message, "make room on its disk, and try again")
    };
    match ask {
        Ask::Submit { reply, .. } => _ = reply.send(Err(full())),
        Ask::Cancel(_, _, reply) | Ask::Hold(_, _, reply) | Ask::Release(_, _, reply) => _ = reply.send(Err(full())),
        Ask::SetUser(.., reply) => _ = reply.send(Err(full())),
        Ask::Reserve(_, reply) => _ = reply.send(Err(full())),
        Ask::Unreserve(_, reply) => _ = reply.send(Err(full())),
        ask @ (Ask::Task(_) | Ask::Found(_) | Ask::Withdrawn(..) | Ask::Round(..)) => return Some(ask),
        Ask::End => {}
    }
    None
}
