//! A service that stores jobs in memory and runs nothing. The first word of a command selects a refusal.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use makespan_core::{WaitKind, WaitReason};
use makespan_service::Service;
use makespan_service::words::{
    BoundPicture, BoxPicture, Content, Delay, Explanation, Filter, Happening, HappeningKind, Health, JobDetail,
    JobNumber, JobOutlook, JobSummary, LogPart, Metric, MetricKind, NodePicture, OtherJobs, Page, Picture, RangeShare,
    Reason, Receipt, Refusal, RefusalKind, Reservation, Role, Span, State, Stream, Submission, TaskDetail, UserChange,
    UserSettings, UserSummary, WhatIf, Who,
};

#[derive(Default)]
pub struct Fake {
    inner: Mutex<Inner>,
    changed: Condvar,
}

#[derive(Default)]
struct Inner {
    jobs: Vec<JobSummary>,
    happenings: Vec<Happening>,
    keys: HashMap<String, (Vec<Submission>, Vec<Receipt>)>,
    users: BTreeMap<String, UserSettings>,
    reservations: Vec<Reservation>,
    version: u64,
    boxes: usize,
    logs: Vec<u8>,
    logs_ended: bool,
}

pub fn refusal(kind: RefusalKind, message: &str) -> Refusal {
    Refusal { kind, message: message.into(), place: None, remedy: None }
}

impl Fake {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Replaces the plan by a plan with the given number of boxes.
    pub fn plan_again(&self, boxes: usize) {
        let mut inner = self.inner();
        inner.version += 1;
        inner.boxes = boxes;
    }

    /// Appends bytes to the output of all tasks.
    pub fn print(&self, bytes: &[u8], ended: bool) {
        let mut inner = self.inner();
        inner.logs.extend_from_slice(bytes);
        inner.logs_ended = ended;
    }

    /// Ends a job with the given state.
    pub fn end(&self, job: u64, state: State) {
        self.change(&mut self.inner(), job, state, HappeningKind::Ended);
    }

    pub fn job_count(&self) -> usize {
        self.inner().jobs.len()
    }

    fn change(&self, inner: &mut Inner, job: u64, state: State, kind: HappeningKind) {
        let index = job as usize - 1;
        inner.jobs[index].state = state;
        let (sequence, user) = (inner.happenings.len() as u64 + 1, inner.jobs[index].user.clone());
        inner.happenings.push(Happening { sequence, at: 1.0, job: JobNumber(job), user, task: None, kind, state });
        self.changed.notify_all();
    }

    fn take(&self, inner: &mut Inner, who: &Who, submission: &Submission) -> Receipt {
        let number = JobNumber(inner.jobs.len() as u64 + 1);
        inner.jobs.push(JobSummary {
            number,
            name: submission.name.clone().unwrap_or_else(|| "job".into()),
            user: who.user.clone(),
            state: State::Waiting,
            submitted: 1.5,
            expected_start: Some(2.0),
            expected_end: None,
            longer_than: None,
            behind: None,
            blocked: None,
            started: None,
            ended: None,
            processors: 1,
            weight: 1.0,
            priority: 0,
            deadline: None,
            tasks: 1,
            tasks_ended: 0,
        });
        self.change(inner, number.0, State::Waiting, HappeningKind::Submitted);
        Receipt { jobs: vec![number], submitted: 1.5, remarks: Vec::new() }
    }

    fn find(inner: &Inner, who: &Who, job: JobNumber) -> Result<JobSummary, Refusal> {
        let found = inner.jobs.iter().find(|known| known.number == job);
        found
            .filter(|known| who.role != Role::Submitter || known.user == who.user)
            .cloned()
            .ok_or_else(|| refusal(RefusalKind::Unknown, "there is no such job"))
    }

    fn alter(&self, who: &Who, job: JobNumber, state: State, kind: HappeningKind) -> Result<State, Refusal> {
        let mut inner = self.inner();
        if Self::find(&inner, who, job)?.state.is_final() {
            return Err(refusal(RefusalKind::Conflict, "it has ended"));
        }
        self.change(&mut inner, job.0, state, kind);
        Ok(state)
    }

    fn admin(who: &Who) -> Result<(), Refusal> {
        if who.role == Role::Admin { Ok(()) } else { Err(refusal(RefusalKind::Forbidden, "only an admin")) }
    }
}

fn check(submission: &Submission) -> Result<(), Refusal> {
    let Content::Command { argv, .. } = &submission.content else { return Ok(()) };
    let kind = match argv.last().map(String::as_str) {
        None => {
            let remedy = Some("write a command".into());
            return Err(Refusal {
                place: Some("content.command.argv".into()),
                remedy,
                ..refusal(RefusalKind::BadInput, "empty")
            });
        }
        Some("huge") => RefusalKind::FitsNowhere,
        Some("cycle") => RefusalKind::Cycle,
        Some("full") => RefusalKind::Full,
        Some("quota") => RefusalKind::Quota,
        Some("closing") => RefusalKind::Closing,
        Some("panic") => panic!("as it was asked for"),
        Some(_) => return Ok(()),
    };
    Err(refusal(kind, "as it was asked for"))
}

impl Service for Fake {
    fn submit(&self, who: &Who, submission: Submission, key: Option<&str>) -> Result<Receipt, Refusal> {
        Ok(self.submit_many(who, vec![submission], key)?.remove(0))
    }

    fn submit_many(&self, who: &Who, all: Vec<Submission>, key: Option<&str>) -> Result<Vec<Receipt>, Refusal> {
        all.iter().try_for_each(check)?;
        let mut inner = self.inner();
        if let Some((known, receipts)) = key.and_then(|key| inner.keys.get(key)) {
            return if *known == all { Ok(receipts.clone()) } else { Err(refusal(RefusalKind::Conflict, "used")) };
        }
        let receipts: Vec<Receipt> = all.iter().map(|one| self.take(&mut inner, who, one)).collect();
        if let Some(key) = key {
            inner.keys.insert(key.to_owned(), (all, receipts.clone()));
        }
        Ok(receipts)
    }

    fn cancel(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.alter(who, job, State::Cancelled, HappeningKind::Cancelled)
    }

    fn hold(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.alter(who, job, State::Held, HappeningKind::Held)
    }

    fn release(&self, who: &Who, job: JobNumber) -> Result<State, Refusal> {
        self.alter(who, job, State::Waiting, HappeningKind::Released)
    }

    fn jobs(&self, who: &Who, filter: &Filter, after: Option<u64>, limit: usize) -> Result<Page<JobSummary>, Refusal> {
        let inner = self.inner();
        let seen = |job: &&JobSummary| {
            (who.role != Role::Submitter || job.user == who.user)
                && (filter.state.is_empty() || filter.state.contains(&job.state))
                && filter.user.as_ref().is_none_or(|user| *user == job.user)
                && filter.text.as_ref().is_none_or(|text| job.name.contains(text))
        };
        let mut all: Vec<JobSummary> = inner.jobs.iter().filter(seen).cloned().collect();
        if filter.newest {
            all.reverse();
        }
        let total = all.len() as u64;
        let from =
            after.map_or(0, |after| all.iter().position(|job| job.number.0 == after).map_or(all.len(), |at| at + 1));
        let items: Vec<JobSummary> = all.iter().skip(from).take(limit).cloned().collect();
        let next = items.last().filter(|_| from + items.len() < all.len()).map(|job| job.number.0);
        let is_hidden = |job: &&JobSummary| who.role == Role::Submitter && job.user != who.user;
        let others = inner.jobs.iter().filter(is_hidden).filter(|job| !job.state.is_final()).count() as u64;
        Ok(Page { items, next, total, others, trouble: Vec::new() })
    }

    fn job(&self, who: &Who, job: JobNumber) -> Result<JobDetail, Refusal> {
        let summary = Self::find(&self.inner(), who, job)?;
        let task = TaskDetail {
            task: 0,
            name: "<img src=x onerror=alert(1)>".into(),
            state: summary.state,
            command: vec!["true".into()],
            expected_start: None,
            started: Some(1.0),
            ended: None,
            processors: Some("0-3".into()),
            nodes: vec!["n1".into()],
            exit: None,
            memory: Some(7),
            attempts: 1,
            estimate: 1.0,
            estimated_by: "guess".into(),
            needs: BTreeMap::from([("memory".into(), 3)]),
            reason: None,
        };
        let after = Vec::new();
        let environment = BTreeMap::from([("A".into(), "b".into())]);
        Ok(JobDetail { summary, task_list: vec![task], after, directory: None, environment, begin: None, reason: None })
    }

    fn log(&self, who: &Who, job: JobNumber, task: u64, _: Stream, from: u64, most: usize) -> Result<LogPart, Refusal> {
        let inner = self.inner();
        Self::find(&inner, who, job)?;
        if task > 0 {
            return Err(refusal(RefusalKind::Unknown, "there is no such task"));
        }
        let bytes: Vec<u8> = inner.logs.iter().skip(from as usize).take(most).copied().collect();
        Ok(LogPart { bytes, size: inner.logs.len() as u64, ended: inner.logs_ended })
    }

    fn picture(&self, who: &Who) -> Arc<Picture> {
        let inner = self.inner();
        let one = BoxPicture {
            job: JobNumber(1),
            task: 0,
            name: if who.role == Role::Submitter { String::new() } else { "secret".into() },
            user: String::new(),
            state: State::Running,
            start: 0.0,
            end: 1.0,
            longer_than: None,
            behind: None,
            processors: vec![(0, 3)],
        };
        let bound = BoundPicture {
            objective: "makespan".into(),
            plan: 2.0,
            bound: 1.0,
            ratio: Some(2.0),
            proof: "load".into(),
            conditions: vec![],
        };
        Arc::new(Picture {
            version: inner.version,
            boxes: vec![one; inner.boxes],
            nodes: vec![NodePicture { name: "n".into(), first: 0, processors: 4, down: false }],
            bounds: vec![bound],
            ..Picture::default()
        })
    }

    fn explain(&self, who: &Who, job: JobNumber) -> Result<Explanation, Refusal> {
        let JobSummary { state, .. } = Self::find(&self.inner(), who, job)?;
        let why = WaitReason::new(WaitKind::Resources, "others run", "others run");
        let reasons = vec![Reason { jobs: vec![job], ..why.into() }];
        let outlook = JobOutlook { job, start: Some(3.0), late: Some(4.0), reasons, ..JobOutlook::default() };
        Ok(Explanation { outlook, state, ranges: RangeShare::new(80, None) })
    }

    fn what_if(&self, _: &Who, submission: Submission) -> Result<WhatIf, Refusal> {
        check(&submission)?;
        let jobs = vec![Delay { job: JobNumber(1), seconds: 2.0 }];
        Ok(WhatIf {
            waiting: vec![JobOutlook { start: Some(1.0), end: Some(2.0), ..JobOutlook::default() }],
            ranges: RangeShare::new(80, None),
            others: OtherJobs { later: 25, most_seconds: 5.0, earlier: 1, hidden: 24, jobs, ..OtherJobs::default() },
            before: vec![],
            after: vec![],
        })
    }

    fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Refusal> {
        let inner = self.inner();
        let seen = inner.happenings.iter().filter(|one| who.role != Role::Submitter || one.user == who.user);
        Ok(seen.filter(|one| one.sequence > after).take(limit).cloned().collect())
    }

    fn latest(&self) -> u64 {
        self.inner().happenings.len() as u64
    }

    fn wait(&self, after: u64, timeout: Duration) -> u64 {
        let inner = self.inner();
        let waits = |inner: &mut Inner| inner.happenings.len() as u64 <= after;
        let (inner, _) = self.changed.wait_timeout_while(inner, timeout, waits).unwrap();
        inner.happenings.len() as u64
    }

    fn history(&self, _: &Who, start: f64, end: f64, spans: usize) -> Result<Vec<Span>, Refusal> {
        let span = Span { start, end, submitted: 1, ended: 1, failed: 0, wait: None, use_of_processors: 0.5 };
        Ok(vec![span; spans])
    }

    fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Refusal> {
        let mut all = vec![summary(&who.user, &UserSettings::default())];
        all.extend(self.inner().users.iter().map(|(user, settings)| summary(user, settings)));
        Ok(all)
    }

    fn change_user(&self, who: &Who, user: &str, change: &UserChange) -> Result<UserSummary, Refusal> {
        Self::admin(who)?;
        let mut inner = self.inner();
        let settings = inner.users.entry(user.to_owned()).or_default();
        *settings = settings.changed(change);
        Ok(summary(user, settings))
    }

    fn reservations(&self, _: &Who) -> Result<Vec<Reservation>, Refusal> {
        Ok(self.inner().reservations.clone())
    }

    fn reserve(&self, who: &Who, mut reservation: Reservation) -> Result<Reservation, Refusal> {
        Self::admin(who)?;
        let mut inner = self.inner();
        reservation.number = inner.reservations.len() as u64 + 1;
        inner.reservations.push(reservation.clone());
        Ok(reservation)
    }

    fn unreserve(&self, who: &Who, number: u64) -> Result<(), Refusal> {
        Self::admin(who)?;
        let mut inner = self.inner();
        let place = inner.reservations.iter().position(|one| one.number == number);
        let place = place.ok_or_else(|| refusal(RefusalKind::Unknown, "there is none"))?;
        inner.reservations.remove(place);
        Ok(())
    }

    fn metrics(&self) -> Vec<Metric> {
        let values = vec![(vec![("state", "waiting".to_owned())], self.job_count() as f64)];
        vec![Metric { name: "makespan_jobs", help: "Jobs.", kind: MetricKind::Gauge, values }]
    }

    fn health(&self) -> Health {
        Health { accepts: true, runs: true, trouble: vec![], since: 1.0, version: "1".into(), runs_as: "root".into() }
    }
}

fn summary(user: &str, settings: &UserSettings) -> UserSummary {
    UserSummary {
        user: user.into(),
        waiting: 0,
        running: 0,
        ended: 0,
        used: 0.0,
        share: 0.0,
        weight: settings.weight.unwrap_or(1.0),
        most_waiting: settings.most_waiting,
        most_processors: settings.most_processors,
    }
}
