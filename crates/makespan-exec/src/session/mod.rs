//! One process executing a run: the loop between policy and machine.

mod abandon;
mod active;
mod clock;
mod ending;
mod state;

use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use makespan_core::{Decision, Event, JobId, Outcome, Policy, ProcSet, Run, Running, Time};

use crate::files::Files;
use crate::journal::{Journal, Record};
use crate::{ExecuteError, ExecuteOptions, Observer};
use active::{Active, Start};
pub(crate) use active::{exit_status, outcome};
pub(crate) use clock::{Clock, since_origin, ticks};
pub(crate) use state::State;

/// A wake-up that is due at once comes no sooner than this, so that a careless policy does not keep a core busy.
const SHORTEST_WAKE: Time = Time::from_ticks(1_000_000);

/// Everything that one process holds while it executes a run.
pub(crate) struct Session<'a> {
    pub options: &'a ExecuteOptions,
    pub observer: &'a mut dyn Observer,
    pub journal: Journal,
    pub files: Files,
    pub clock: Clock,
    pub cores: Vec<usize>,
    pub state: State<'a>,
    pub attempts: Vec<u32>,
    pub active: BTreeMap<JobId, Active>,
    pub exits: Exits,
    /// What the policy has not heard yet.
    pub events: Vec<Event>,
    pub wake: Option<Time>,
}

/// Where the threads that wait for processes report.
pub(crate) struct Exits {
    sender: Sender<JobId>,
    receiver: Receiver<JobId>,
}

impl Exits {
    pub fn new() -> Self {
        let (sender, receiver) = mpsc::channel();
        Self { sender, receiver }
    }
}

impl Session<'_> {
    /// Runs until every job has ended or a stop is requested. Whatever happens, nothing runs when it returns. Of the
    /// `closed` jobs, which ended before and are not run again, those hear that wait for them.
    pub fn run(&mut self, closed: &[JobId], policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        let outcome = self.close(closed).and_then(|()| self.drive(policy));
        if outcome.is_ok() && self.active.is_empty() && !self.options.stop.is_requested() {
            return Ok(self.journal.append(&Record::Finished { at: self.clock.now() })?);
        }
        let ended = self.end_all();
        outcome.and(ended)
    }

    fn drive(&mut self, policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        while !self.options.stop.is_requested() {
            let now = self.clock.now();
            while let Some(job) = self.state.release(now) {
                if self.state.cluster.submit(job) {
                    self.events.push(Event::Submitted(job));
                }
            }
            if self.events.is_empty() && self.wake.is_some_and(|wake| wake <= now) {
                self.events.push(Event::Wake);
            }
            // A job that cannot be started ends at once.
            while !self.events.is_empty() {
                self.tell(policy)?;
            }
            self.enforce_limits()?;
            if self.active.is_empty() && self.state.unreleased.is_empty() && self.wake.is_none() {
                return Ok(self.state.cluster.check_complete()?);
            }
            self.wait()?;
        }
        Ok(())
    }

    /// Tells the policy all that it has not heard yet, and does what it wants.
    fn tell(&mut self, policy: &mut dyn Policy) -> Result<(), ExecuteError> {
        let mut events = std::mem::take(&mut self.events);
        events.sort_by_key(Event::order);
        for event in &events {
            if let Event::Finished(job) | Event::Failed(job) = *event {
                self.state.cluster.end(job);
            }
        }
        self.wake = None;
        let now = self.clock.now();
        self.state.cluster.advance(now);
        let mut decisions = Vec::new();
        policy.on(&events, &self.state.cluster.view(), &mut decisions);
        for decision in decisions {
            match decision {
                Decision::Start { job, processors } => {
                    self.state.cluster.admit(job, &processors)?;
                    self.start(job, processors)?;
                }
                Decision::WakeAt(at) => {
                    let at = at.max(now + SHORTEST_WAKE);
                    self.wake = Some(self.wake.map_or(at, |wake| wake.min(at)));
                }
                Decision::Cancel(job) => {
                    self.state.cluster.withdraw(job)?;
                    self.journal.append(&Record::Cancelled { job, at: now })?;
                    self.observer.message(&format!("job `{}` was given up by the policy", self.state.name(job)));
                    self.abandon(job, now)?;
                }
            }
        }
        Ok(())
    }

    fn start(&mut self, job: JobId, processors: ProcSet) -> Result<(), ExecuteError> {
        let instance = self.state.instance;
        let attempt = self.attempts[job.index()] + 1;
        let start = Start {
            job,
            name: self.state.name(job),
            command: &instance.job(job).task.command,
            attempt,
            processors: &processors,
        };
        let exits = self.exits.sender.clone();
        let started = Active::start(&start, &self.files, &self.cores, move || {
            // A session that is gone has no use for it.
            let _ = exits.send(job);
        });
        let at = self.clock.now();
        let running = Running { job, start: at, processors: processors.clone() };
        self.state.cluster.begin(running.clone());
        let mut active = match started {
            Ok(active) => active,
            Err(reason) => return self.record_end(running, at, Outcome::NotStarted, Some(&reason)),
        };
        let (pid, pid_start) = (active.identity.pid, active.identity.start);
        let written = self.journal.append(&Record::Started { job, attempt, at, processors, pid, pid_start });
        active.walltime = instance.job(job).walltime.map(|walltime| at + walltime);
        if written.is_ok() {
            self.attempts[job.index()] = attempt;
            active.go();
        }
        // Without its record the job never runs: the shim leaves when its input is closed at the end of the session.
        self.active.insert(job, active);
        written?;
        self.observer.started(&running, &self.state.progress(at));
        Ok(())
    }

    /// Writes down an end and tells the policy later.
    pub(crate) fn record_end(
        &mut self,
        running: Running,
        at: Time,
        outcome: Outcome,
        reason: Option<&str>,
    ) -> Result<(), ExecuteError> {
        let Running { job, start, processors } = running;
        self.journal.append(&Record::Ended { job, start, at, processors: processors.clone(), outcome })?;
        let run = Run { job, start, end: at, processors, outcome };
        self.state.runs.push(run.clone());
        let succeeded = outcome == Outcome::Succeeded;
        self.events.push(if succeeded { Event::Finished(job) } else { Event::Failed(job) });
        if succeeded {
            let ready = self.state.cluster.succeed(job, at, &run.processors);
            self.events.extend(ready.into_iter().map(Event::Submitted));
        }
        self.observer.ended(&run, reason, &self.state.progress(at));
        if succeeded { Ok(()) } else { self.abandon(job, at) }
    }

    /// Sleeps until a process ends, an instant of interest comes, or the next tick.
    fn wait(&mut self) -> Result<(), ExecuteError> {
        if !self.events.is_empty() {
            return Ok(());
        }
        let now = self.clock.now();
        let limits = self.active.values().map(|active| match active.ending {
            Some((_, kill)) => Some(kill),
            None => active.walltime,
        });
        let next = limits.flatten().chain(self.wake).chain(self.state.next_release()).min();
        let until = next.map_or(Duration::MAX, |next| Duration::from_nanos(next.saturating_since(now).ticks() as u64));
        match self.exits.receiver.recv_timeout(until.min(self.options.tick)) {
            Ok(job) => self.exited(job)?,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
        while let Ok(job) = self.exits.receiver.try_recv() {
            self.exited(job)?;
        }
        self.observer.tick(&self.state.progress(self.clock.now()));
        Ok(())
    }
}
