//! Implements the operations of the service ([`Service`]) for `Keeper`.

mod detail;
mod output;
mod submitted;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use makespan_core::{WaitKind, WaitReason};
use nix::sys::statvfs::statvfs;

use super::explain::{ExplainedJob, Prediction};
use super::forecasts::PERCENT;
use super::outlook::{Expectation, Outlook};
use super::shared::{Reply, StoreRequest};
use super::{Keeper, explain, numbers};
use crate::Service;
use crate::clock::wall;
use crate::prepare::refusal;
use crate::store::{JobRow, Reader, database_size};
use crate::words::{
    Explanation, Filter, Happening, Health, JobDetail, JobNumber, JobOutlook, JobSummary, LogPart, Metric, Page,
    Picture, RangeShare, Receipt, Refusal, RefusalKind, Reservation, Role, Span, State, Stream, Submission, UserChange,
    UserSummary, WhatIf, Who,
};

/// Maximum wait for a reply of the thread that writes the store.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum wait for a plan that includes all changes.
const LONGEST_PLANNING: Duration = Duration::from_secs(10);
/// Pause between two checks whether such a plan exists.
const POLL: Duration = Duration::from_millis(20);
/// Maximum number of spans of a history.
const SPANS: usize = 1000;
/// Maximum length of the name of a reservation, in characters.
const LONGEST_NAME: usize = 1000;
/// Maximum number of elements on a page of a list.
const MAX_ITEMS: usize = 1000;
/// Maximum time from now to the end of a reservation, in seconds: about 30 years.
const FARTHEST: f64 = 1e9;
/// Maximum distance of the start and the end of a history from 1970, in seconds.
const MAX_INSTANT: f64 = 1e11;

impl Keeper {
    /// Sends a request to the thread that writes the store, and waits for the reply.
    fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> StoreRequest) -> Result<T, Refusal> {
        let closing = || refusal(RefusalKind::Closing, "", "the service is about to end", "try again in a moment");
        if self.shared.is_closing() {
            return Err(closing());
        }
        let (reply, answer) = mpsc::channel();
        let sent = self.asks.lock().unwrap_or_else(PoisonError::into_inner).send(ask(reply));
        sent.map_err(|_| closing())?;
        answer.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Disconnected => closing(),
            RecvTimeoutError::Timeout => self.unanswered(),
        })?
    }

    /// Returns the refusal for a request that got no reply. The request may still be executed.
    fn unanswered(&self) -> Refusal {
        let why = self.shared.present_trouble().unwrap_or_else(|| "the disk of the store is slow".to_owned());
        let message =
            format!("no answer within {} s ({why}); the request may still be executed later", PATIENCE.as_secs());
        let remedy =
            "check the queue before you try again; requests with the same Idempotency-Key are executed only once";
        refusal(RefusalKind::Closing, "", message, remedy)
    }

    fn read<T>(&self, act: impl FnOnce(&Reader) -> Result<T, rusqlite::Error>) -> Result<T, Refusal> {
        self.shared.readers.read(act).map_err(|error| unreadable(&error))
    }

    fn row(&self, who: &Who, job: JobNumber) -> Result<JobRow, Refusal> {
        self.read(|reader| reader.job(who, job))?.ok_or_else(|| unknown(job))
    }

    /// Adds the expected starts and ends of jobs to their summaries. If the start or the end of a job depends on a
    /// running task with an unknown end, also adds the number of the job of this task. If `who` may not see this job,
    /// adds 0 instead. If a job cannot start at present, adds the reason.
    fn expect(&self, who: &Who, summaries: &mut [JobSummary]) {
        let trouble = self.shared.present_trouble();
        let limits = self.shared.rules.lock().unwrap_or_else(PoisonError::into_inner).processors.clone();
        let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for summary in summaries {
            if summary.state == State::Waiting {
                summary.blocked = trouble.clone().or_else(|| explain::exceeded(summary, &limits));
            }
            let Some(outlook) = &outlook else { continue };
            let Expectation { start, end, longer_than, behind } = match summary.state {
                State::Waiting => outlook.of_waiting(summary.number, wall()).unwrap_or_default(),
                State::Running => outlook.of_running(summary.number, summary.started, wall()),
                _ => continue,
            };
            (summary.expected_start, summary.expected_end, summary.longer_than) = (start, end, longer_than);
            summary.behind = behind.map(|runs| runs.number_for(who));
        }
    }

    /// Adds the states of the jobs for which a job waits. The jobs `new` are not stored.
    fn explained(&self, row: JobRow, new: &[JobNumber]) -> Result<ExplainedJob, Refusal> {
        let everybody = Who { user: String::new(), role: Role::Reader };
        let mut before = Vec::with_capacity(row.after.len());
        for &job in &row.after {
            if new.contains(&job) {
                before.push((job, State::Waiting));
            } else {
                before.extend(self.read(|reader| reader.job(&everybody, job))?.map(|row| (job, row.summary.state)));
            }
        }
        Ok(ExplainedJob { row, before })
    }

    /// Predicts and explains the starts of jobs for the user `who`.
    fn outlooks(&self, who: &Who, outlook: Option<&Outlook>, jobs: &[ExplainedJob]) -> (Vec<JobOutlook>, RangeShare) {
        let calibration = Arc::clone(&self.shared.calibration.lock().unwrap_or_else(PoisonError::into_inner));
        let prediction = Prediction { outlook, calibration: &calibration, now: wall() };
        let mut outlooks = explain::outlooks(who, jobs, &prediction);
        let trouble = self.shared.present_trouble();
        for (outlook, job) in outlooks.iter_mut().zip(jobs) {
            if let Some(text) = trouble.clone().filter(|_| job.row.summary.state == State::Waiting) {
                let why = WaitReason::new(WaitKind::Service, "the service has a problem", text);
                outlook.reasons.insert(0, why.into());
            }
        }
        if who.role == Role::Submitter {
            let may_see = |job: &JobNumber| self.read(|reader| reader.job(who, *job)).is_ok_and(|row| row.is_some());
            let reasons = || outlooks.iter().flat_map(|outlook| &outlook.reasons);
            let named: BTreeSet<JobNumber> = reasons().flat_map(|reason| reason.jobs.iter().copied()).collect();
            let mut seen: BTreeSet<JobNumber> = named.into_iter().filter(may_see).collect();
            seen.extend(jobs.iter().map(|job| job.row.summary.number));
            let reasons = outlooks.iter_mut().flat_map(|outlook| &mut outlook.reasons);
            reasons.for_each(|reason| reason.jobs.retain(|job| seen.contains(job)));
        }
        (outlooks, RangeShare::new(PERCENT, Some(&calibration)))
    }

    /// Waits until a plan includes all changes so far, and returns this plan.
    fn current_outlook(&self) -> Result<Arc<Outlook>, Refusal> {
        let (events, settings) = (self.latest(), self.shared.settings.load(Ordering::Relaxed));
        let _awaited = AwaitedPlan::new(&self.shared.awaited);
        let end = Instant::now() + LONGEST_PLANNING;
        loop {
            let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let is_current = |outlook: &Arc<Outlook>| {
                outlook.includes.events >= events && outlook.includes.settings.is_some_and(|at| at >= settings)
            };
            if let Some(outlook) = outlook.filter(is_current) {
                return Ok(outlook);
            }
            if Instant::now() > end || self.shared.is_closing() {
                let message = "the service is planning, and the new plan is not ready yet";
                return Err(refusal(RefusalKind::Closing, "", message, "try again in some seconds"));
            }
            std::thread::sleep(POLL);
        }
    }

    /// Sends the reservations to the engine.
    fn announce(&self) -> Result<(), Refusal> {
        let delivery = self.shared.delivery.lock().unwrap_or_else(PoisonError::into_inner);
        self.shared.announce(&delivery).map_err(|error| unreadable(&error))
    }
}

/// Asks the planner not to rest while a client waits for a plan.
struct AwaitedPlan<'a>(&'a AtomicUsize);

impl<'a> AwaitedPlan<'a> {
    fn new(awaited: &'a AtomicUsize) -> Self {
        awaited.fetch_add(1, Ordering::Relaxed);
        Self(awaited)
    }
}

impl Drop for AwaitedPlan<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn unreadable(error: &rusqlite::Error) -> Refusal {
    refusal(RefusalKind::Full, "", format!("the store cannot be read: {error}"), "check its disk")
}

fn unknown(job: JobNumber) -> Refusal {
    refusal(RefusalKind::Unknown, "", format!("there is no job {job}"), "see the queue")
}

fn only_admin(who: &Who, what: &str) -> Result<(), Refusal> {
    if who.role == Role::Admin {
        return Ok(());
    }
    Err(refusal(RefusalKind::Forbidden, "", format!("only an admin {what}"), "use the token of an admin"))
}

impl Service for Keeper {
    fn submit(&self, who: &Who, submission: Submission, key: Option<&str>) -> Result<Receipt, Refusal> {
        let receipts = self.submit_many(who, vec![submission], key)?;
        receipts.into_iter().next().ok_or_else(|| {
            refusal(RefusalKind::Conflict, "", "this idempotency key was used for a request without submissions", "")
        })
    }

    fn submit_many(&self, who: &Who, submissions: Vec<Submission>, key: Option<&str>) -> Result<Vec<Receipt>, Refusal> {
        self.submit_all(who, submissions, key)
    }

    fn cancel(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.ask(|reply| StoreRequest::Cancel(who.clone(), job, reply))
    }

    fn hold(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.ask(|reply| StoreRequest::Hold(who.clone(), job, reply))
    }

    fn release(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.ask(|reply| StoreRequest::Release(who.clone(), job, reply))
    }

    fn jobs(&self, who: &Who, filter: &Filter, after: Option<u64>, limit: usize) -> Result<Page<JobSummary>, Refusal> {
        let after = after.map(|after| after.min(i64::MAX as u64));
        let mut page = self.read(|reader| reader.jobs(who, filter, after, limit.clamp(1, MAX_ITEMS)))?;
        self.expect(who, &mut page.items);
        page.trouble = self.shared.present_trouble().into_iter().collect();
        Ok(page)
    }

    fn job(&self, who: &Who, job: JobNumber) -> Result<JobDetail, Refusal> {
        self.detail(who, job)
    }

    fn log(
        &self,
        who: &Who,
        job: JobNumber,
        task: u64,
        stream: Stream,
        from: u64,
        most: usize,
    ) -> Result<LogPart, Refusal> {
        self.output(who, job, task, stream, from, most)
    }

    fn picture(&self, who: &Who) -> Arc<Picture> {
        let picture = Arc::clone(&self.shared.picture.read().unwrap_or_else(PoisonError::into_inner));
        if who.role != Role::Submitter {
            return picture;
        }
        let mut own = Picture::clone(&picture);
        let running = own.boxes.iter().filter(|one| one.state == State::Running && one.user == who.user);
        let running: BTreeSet<JobNumber> = running.map(|one| one.job).collect();
        for one in &mut own.boxes {
            one.behind = one.behind.map(|job| if running.contains(&job) { job } else { JobNumber(0) });
            if one.user != who.user {
                one.name.clear();
                one.user.clear();
                one.job = JobNumber(0);
            }
        }
        Arc::new(own)
    }

    fn explain(&self, who: &Who, job: JobNumber) -> Result<Explanation, Refusal> {
        let job = self.explained(self.row(who, job)?, &[])?;
        let state = job.row.summary.state;
        let outlook = self.outlook.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut outlooks, ranges) = self.outlooks(who, outlook.as_deref(), &[job]);
        Ok(Explanation { outlook: outlooks.remove(0), state, ranges })
    }

    fn what_if(&self, who: &Who, submission: Submission) -> Result<WhatIf, Refusal> {
        self.effect_of(who, submission)
    }

    fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Refusal> {
        self.read(|reader| reader.happenings(who, after, limit.clamp(1, MAX_ITEMS)))
    }

    fn latest(&self) -> u64 {
        *self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, after: u64, timeout: Duration) -> u64 {
        self.shared.wait(after, timeout)
    }

    fn history(&self, who: &Who, start: f64, end: f64, spans: usize) -> Result<Vec<Span>, Refusal> {
        if !(start.abs() <= MAX_INSTANT && end.abs() <= MAX_INSTANT) {
            let message = "the instant is more than 3,000 years away from 1970";
            return Err(refusal(RefusalKind::BadInput, "start", message, "write seconds after 1970"));
        }
        if start >= end {
            return Err(refusal(RefusalKind::BadInput, "start", "the end is not after the start", "swap them"));
        }
        if !(1..=SPANS).contains(&spans) {
            let message = format!("the number of spans is not between 1 and {SPANS}");
            return Err(refusal(RefusalKind::BadInput, "spans", message, "request fewer spans"));
        }
        self.read(|reader| reader.spans(who, (start, end), spans, self.shared.platform.processors()))
    }

    fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Refusal> {
        self.read(|reader| reader.users(who))
    }

    fn change_user(&self, who: &Who, user: &str, settings: &UserChange) -> Result<UserSummary, Refusal> {
        let changed = (who.clone(), user.to_owned(), settings.clone());
        self.ask(|reply| StoreRequest::SetUser(changed.0, changed.1, changed.2, reply))?;
        let all = self.read(|reader| reader.users(who))?;
        let unknown = || refusal(RefusalKind::Unknown, "", format!("there is no user {user}"), "");
        all.into_iter().find(|one| one.user == user).ok_or_else(unknown)
    }

    fn reservations(&self, _who: &Who) -> Result<Vec<Reservation>, Refusal> {
        self.read(|reader| reader.reservations(wall()))
    }

    fn reserve(&self, who: &Who, reservation: Reservation) -> Result<Reservation, Refusal> {
        only_admin(who, "reserves processors")?;
        let Reservation { name, start, end, processors, .. } = &reservation;
        let bad = |place: &str, what: &str, remedy: &str| Err(refusal(RefusalKind::BadInput, place, what, remedy));
        if !(start.is_finite() && end.is_finite() && start < end && *end > wall() && *end < wall() + FARTHEST) {
            let what = "the reservation does not end after its start, has already ended, or ends in more than 30 years";
            return bad("end", what, "write seconds after 1970");
        }
        if name.is_empty() || name.chars().count() > LONGEST_NAME || name.chars().any(char::is_control) {
            return bad(
                "name",
                "the name is empty, contains control characters, or has more than 1000 characters",
                "write a name",
            );
        }
        let there = self.shared.platform.processors();
        if let Some((first, last)) = processors.iter().find(|(first, last)| first > last || *last >= there) {
            let what = format!("{first} to {last} is not a range of processors of the platform");
            return bad("processors", &what, &format!("the platform has the processors 0 to {}", there - 1));
        }
        if processors.is_empty() {
            return bad("processors", "the reservation has no processors", "name processors, such as 0-1");
        }
        let kept = self.ask(|reply| StoreRequest::Reserve(who.user.clone(), reservation, reply))?;
        self.announce()?;
        Ok(kept)
    }

    fn unreserve(&self, who: &Who, number: u64) -> Result<(), Refusal> {
        only_admin(who, "takes reservations back")?;
        let was_there = self.ask(|reply| StoreRequest::Unreserve(who.user.clone(), number, reply))?;
        self.announce()?;
        if was_there {
            Ok(())
        } else {
            Err(refusal(RefusalKind::Unknown, "", format!("there is no reservation {number}"), ""))
        }
    }

    fn metrics(&self) -> Vec<Metric> {
        let counts = self.read(Reader::counts).unwrap_or_default();
        let picture = self.shared.picture.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut metrics = numbers::metrics(&numbers::Measured {
            counts: &counts,
            picture: &picture,
            happenings: self.latest(),
            accepts: self.health().accepts,
            in_use: self.read(Reader::in_use).unwrap_or_default(),
            store: database_size(&self.folder),
            free: statvfs(&self.folder).ok().map(|disk| disk.blocks_available() * disk.fragment_size()),
        });
        metrics.extend(self.shared.tally.lock().unwrap_or_else(PoisonError::into_inner).metrics());
        metrics
    }

    fn health(&self) -> Health {
        Health {
            accepts: self.shared.writes.load(Ordering::Relaxed) && !self.shared.is_closing(),
            runs: self.shared.runs.load(Ordering::Relaxed),
            trouble: self.shared.present_trouble().into_iter().collect(),
            since: self.since,
            version: env!("CARGO_PKG_VERSION").into(),
            runs_as: numbers::user_of_this_process(),
        }
    }
}
