//! Starts tasks: prepares them, records the start, and lets them run.

use std::time::Duration;

use makespan_core::{Event, ProcSet, Run, TaskId, Time};

use super::Session;
use super::active::{Active, SessionNews, TaskEnd};
use super::closing::is_guess;
use super::delayed::{DelayedStart, FIRST_PAUSE};
use crate::clock::{began, ticks};
use crate::engine::{EngineStart, Refusal, is_spread};
use crate::journal::JournalRecord;
use crate::status::AttemptClaim;
use crate::{ExecuteError, MeasuredAttempt};

/// Time between two attempts to write a journal that cannot be written.
const WRITE_PAUSE: Time = Time::from_ticks(500_000_000);

/// Time between two attempts to start a task while its cores are lent.
const LENT_PAUSE: Time = Time::from_ticks(10_000_000);

impl Session<'_> {
    /// Starts a task on the processors that the policy chose.
    pub(super) fn start(&mut self, task: TaskId, processors: ProcSet) -> Result<(), ExecuteError> {
        let limit = self.policy.granted.get(&task).copied();
        self.state.cluster.start_limited(task, processors.clone(), limit)?;
        self.state.take_gpus(task, &processors);
        self.launch_in_turn(DelayedStart { task, processors, due: self.now(), pause: FIRST_PAUSE })
    }

    /// Starts a task unless starts are delayed.
    pub(super) fn launch(&mut self, delayed: DelayedStart) -> Result<(), ExecuteError> {
        self.admit(delayed).map_or(Ok(()), |delayed| self.launch_now(delayed))
    }

    /// Starts the shim of a task. The shim waits until the record of the start is written.
    fn launch_now(&mut self, delayed: DelayedStart) -> Result<(), ExecuteError> {
        let DelayedStart { task, processors, pause, .. } = delayed;
        let instance = self.state.cluster.instance();
        let attempt = self.attempts[task.index()] + 1;
        let (name, command) = (self.state.name(task), instance.command(task));
        let gpus = self.state.gpus.as_ref().map(|gpus| gpus.of(task));
        let held = gpus.map(<[u64]>::to_vec);
        let memory = self.retries.limit(instance, task, &processors);
        let walltime = self.limit(task);
        let after = self.open_before(task);
        let start = EngineStart {
            task,
            name: &name,
            command: &command,
            attempt,
            allotment: processors.len(),
            processors: &processors,
            is_pinned: self.options.pinning.pins(instance, task),
            gpus,
            memory,
            walltime,
            expected: instance.time(task, &processors),
            is_guess: is_guess(instance, task),
            files: &self.files.of(task, attempt),
            environment: &[],
            not_before: self.until_release(task),
            after: &after,
        };
        let started = if self.ledger.stalled.is_some() {
            // While the journal cannot be written, no task starts.
            self.machine.starting.add(DelayedStart { task, processors, due: self.now(), pause });
            return Ok(());
        } else if let Err(error) = self.ledger.journal.in_place() {
            // A journal that cannot be found is not the fault of the task, so the start is tried again.
            Err(Refusal { reason: error.to_string(), passing: true, closing: false })
        } else if !self.machine.engine.reserve_cores(task, &processors) {
            self.machine.starting.add(DelayedStart { task, processors, due: self.now() + LENT_PAUSE, pause });
            return Ok(());
        } else {
            if attempt > 1 {
                self.observer.restarts(task);
            }
            self.machine.engine.start(&start)
        };
        let at = self.now();
        self.holding.last = Some(at);
        match started {
            Ok(identity) => {
                let (pid, pid_start) = (identity.pid, identity.start);
                let walltime = self.own_walltime(task).map(|walltime| at + walltime);
                self.ledger.journal.note(JournalRecord::Started {
                    task,
                    attempt,
                    at,
                    processors: processors.clone(),
                    pid,
                    pid_start,
                    gpus: held,
                });
                let active = Active { attempt, start: at, processors, going: false, walltime, ending: None };
                if self.machine.handed.is_none() {
                    self.news.push(SessionNews::Started(active.running(task)));
                }
                self.machine.active.insert(task, active);
            }
            Err(Refusal { closing: true, .. }) => {
                self.policy.events.push(Event::Interrupted(task));
                self.policy.closing = true;
            }
            Err(Refusal { passing: true, reason, .. }) => {
                if pause == FIRST_PAUSE {
                    let name = self.state.name(task);
                    self.observer.message(&format!("job `{name}` waits: {reason}; trying again"));
                }
                self.machine.starting.add(DelayedStart { task, processors, due: at, pause }.refused(at));
            }
            Err(Refusal { reason, .. }) => {
                return self.record_end(TaskEnd::not_started(task, at, processors, &reason));
            }
        }
        Ok(())
    }

    /// Retries delayed starts that are due.
    pub(super) fn start_delayed(&mut self) -> Result<(), ExecuteError> {
        if self.ledger.stalled.is_some() {
            return Ok(());
        }
        // A start that is refused again is due later, so the loop ends.
        let now = self.now();
        while self.machine.starting.next().is_some_and(|due| due <= now)
            && !self.is_held(now)
            && let Some(delayed) = self.machine.starting.take_due(now)
        {
            let (task, was_refused) = (delayed.task, delayed.was_refused());
            self.launch(delayed)?;
            if was_refused && self.machine.active.contains_key(&task) {
                self.retry_refused();
            }
        }
        Ok(())
    }

    /// Makes the earliest refused start due now, because a resource that the task needs may have become free.
    pub(super) fn retry_refused(&mut self) {
        let now = self.now();
        self.machine.starting.hasten_refused(now);
    }

    /// Writes and syncs all records, lets the started tasks run, and reports the news to the observer. If the journal
    /// cannot be written, no task starts and no news are reported.
    pub(super) fn commit(&mut self) {
        self.write_and_sync(Duration::ZERO);
    }

    /// Works as [`Self::commit`], but syncs the journal in groups, some time after the last sync
    /// ([`crate::ExecuteOptions::group`]). After the sync of a group, the observer receives its news.
    pub(super) fn commit_in_groups(&mut self) {
        self.write_and_sync(self.options.group);
    }

    fn write_and_sync(&mut self, group: Duration) {
        let now = self.now();
        if self.ledger.stalled.is_some_and(|again| now < again) {
            return;
        }
        let mut written = self.ledger.journal.write();
        if self.uses_up() || self.machine.engine.outlives_us() {
            written = written.and_then(|()| self.ledger.journal.sync());
        }
        match &written {
            Ok(()) => self.let_go(),
            Err(_) => self.call_off(),
        }
        let due = self.ledger.synced.map_or(now, |synced| synced + ticks(group));
        let may_wait = written.is_ok() && self.ledger.stalled.is_none() && self.ledger.journal.awaits_sync();
        self.ledger.group = Some(due).filter(|&due| may_wait && now < due);
        if self.ledger.group.is_some() {
            return;
        }
        let syncs = self.ledger.journal.awaits_sync();
        match written.and_then(|()| self.ledger.journal.sync()) {
            Ok(()) => {
                if syncs {
                    self.ledger.synced = Some(self.now());
                }
                if self.ledger.stalled.take().is_some() {
                    self.observer.message("the journal can be written again; the run continues");
                }
                self.tell_news();
            }
            Err(error) => {
                if self.ledger.stalled.is_none() {
                    self.observer.message(&format!("{error}; no job is started until the journal can be written"));
                }
                self.ledger.stalled = Some(now + WRITE_PAUSE);
            }
        }
    }

    /// Returns whether tasks use consumables. If tasks use consumables, their starts must be recorded even after a
    /// power failure.
    fn uses_up(&self) -> bool {
        !self.state.instance().platform().consumables().is_empty()
    }

    /// Lets tasks run if their start is recorded.
    fn let_go(&mut self) {
        for (&task, active) in self.machine.active.iter_mut().filter(|(_, active)| !active.going) {
            let claim = AttemptClaim {
                run: self.ledger.origin,
                instance: self.ledger.fingerprint.clone(),
                task,
                attempt: active.attempt,
                at: active.start,
                processors: active.processors.clone(),
            };
            active.going = true;
            self.attempts[task.index()] = active.attempt;
            // A claim contains only numbers and plain text, so its serialization cannot fail.
            self.machine.engine.go(task, &serde_json::to_string(&claim).unwrap_or_default());
        }
    }

    /// Ends the shims of tasks that may not run yet. The starts of these tasks are tried again later.
    pub(super) fn call_off(&mut self) {
        let waiting: Vec<TaskId> =
            self.machine.active.iter().filter(|(_, active)| !active.going).map(|(&task, _)| task).collect();
        for task in waiting {
            self.machine.engine.call_off(task);
            let Some(active) = self.machine.active.remove(&task) else { continue };
            self.ledger
                .journal
                .retain(|record| !matches!(record, JournalRecord::Started { task: other, attempt, .. } if (*other, *attempt) == (task, active.attempt)));
            self.news.retain(
                |news| !matches!(news, SessionNews::Started(running) if (running.task, running.start) == (task, active.start)),
            );
            let (due, processors) = (self.now(), active.processors);
            self.machine.starting.add(DelayedStart { task, processors, due, pause: FIRST_PAUSE });
        }
    }

    pub(super) fn tell_news(&mut self) {
        let now = self.now();
        for news in std::mem::take(&mut self.news) {
            match news {
                SessionNews::Started(running) => self.observer.started(&running, &self.state.progress(now)),
                SessionNews::Ended { run, attempt, reason, again } => {
                    self.tell_measured(&run, attempt);
                    let (reason, progress) = (reason.as_deref(), self.state.progress(now));
                    if again {
                        self.observer.retried(&run, reason, attempt, &progress);
                    } else {
                        self.observer.ended(&run, reason, &progress);
                    }
                }
                SessionNews::Lost { run, reason, attempt } => {
                    self.observer.lost(&run, &reason, attempt, &self.state.progress(now));
                }
                SessionNews::Grown(tasks) => self.observer.grown(tasks, &self.state.progress(now)),
                SessionNews::Withdrawn(tasks, done) => self.observer.withdrawn(&tasks, done),
                SessionNews::Cancelled(task) => self.observer.cancelled(task, &self.state.progress(now)),
                SessionNews::Interrupted(run) => self.observer.interrupted(&run, &self.state.progress(now)),
                SessionNews::Estimated(tasks) => self.observer.estimated(&tasks, &self.state.progress(now)),
                SessionNews::Halted(cause) => self.observer.halted(&cause),
                SessionNews::Told(entry) => self.observer.told(&entry),
                SessionNews::Message(text) => self.observer.message(&text),
            }
        }
    }

    /// Reports the measured resource use of an attempt to the observer.
    fn tell_measured(&mut self, run: &Run, attempt: u32) {
        if attempt > 0 {
            let command = self.state.instance().command(run.task);
            let began = began(self.ledger.origin, run.start);
            let host = self.machine.engine.host(&run.processors);
            let is_spread = is_spread(self.machine.engine, self.state.instance().platform(), &run.processors);
            let is_pinned = self.options.pinning.pins(self.state.instance(), run.task);
            let host = host.as_str();
            let memory_source = self.state.instance().task(run.task).memory_estimate;
            let command = &command;
            let measured = MeasuredAttempt { run, command, attempt, began, host, is_spread, is_pinned, memory_source };
            self.observer.measured(&measured);
        }
    }

    /// Returns the instant at which the next start or write is retried.
    pub(super) fn next_attempt(&self) -> Option<Time> {
        let starts = self.machine.starting.next().map(|due| self.holding.until.map_or(due, |until| due.max(until)));
        self.ledger.stalled.or(starts)
    }

    /// Returns the grace period in ticks.
    pub(super) fn grace(&self) -> Time {
        ticks(self.options.grace)
    }
}
