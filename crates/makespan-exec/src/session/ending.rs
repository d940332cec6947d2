//! Ends running tasks and records their ends.

use makespan_core::{Accounting, Event, MemoryKill, Outcome, Run, Running, TaskId, Time};

use super::Session;
use super::active::{Active, DoubtfulEnd, SessionNews, TaskEnd, is_of_a_stop, outcome};
use crate::ExecuteError;
use crate::clock::since_origin;
use crate::files::last_line;
use crate::halt::HaltCause;
use crate::journal::{Cause, JournalRecord, Progression};
use crate::status::{AttemptStatus, EndedBy};

/// The exit status of a process that was killed by SIGKILL.
const KILLED: i32 = 128 + nix::libc::SIGKILL;

/// Exit statuses of a shell or of `env` that could not start the program.
const NOT_STARTED: std::ops::RangeInclusive<i32> = 125..=127;

/// Maximum wait for a stop request after an exit status that is typical of a stop.
const DOUBT: Time = Time::from_ticks(500_000_000);

impl Session<'_> {
    /// Records the end of a task after all its processes have ended.
    pub(super) fn exited(&mut self, task: TaskId) -> Result<(), ExecuteError> {
        let Some(active) = self.machine.active.remove(&task) else { return Ok(()) };
        let left = self.machine.engine.reap(task);
        self.retry_refused();
        let told = self.status_of(task, active.attempt);
        self.ended(task, &active, told, left)
    }

    /// Records the end of a task, based on the status that its shim wrote, or else on the exit status of the shim
    /// itself.
    fn ended(
        &mut self,
        task: TaskId,
        active: &Active,
        told: Option<AttemptStatus>,
        left: i32,
    ) -> Result<(), ExecuteError> {
        let status = told.as_ref().map_or(left, |status| status.exit);
        if told.as_ref().is_some_and(|status| status.left_background) {
            self.observer.left_background(task);
        }
        let (running, attempt) = (active.running(task), active.attempt);
        let at = self.end_of(active, told.as_ref());
        let known = told.as_ref().and_then(|status| status.reason.clone());
        let accounting = self.accounting(told.as_ref(), status);
        // If a task ended by itself, this end is recorded, even if this session was about to end the task.
        let asked = told.as_ref().is_none_or(|status| status.asked);
        let mut cause = active.ending.map(|(cause, _)| cause).filter(|_| asked);
        if cause.is_none() && self.options.stop.is_requested() {
            // The program that asked this session to stop may also have stopped the task.
            cause = Some(Cause::Stop);
        }
        let doubtful = is_of_a_stop(status) || (status != 0 && told.is_some_and(|status| status.stopped));
        if cause.is_none() && doubtful {
            self.machine.doubtful.push(DoubtfulEnd { running, attempt, at, status, accounting, due: at + DOUBT });
            return Ok(());
        }
        match outcome(status, cause) {
            Some(outcome) if known.is_some() => {
                self.record_end(TaskEnd { running, attempt, at, outcome, accounting, reason: known })
            }
            Some(outcome) => self.conclude(running, attempt, at, outcome, accounting),
            None => {
                self.interrupted(running, attempt, at);
                Ok(())
            }
        }
    }

    /// Returns the instant at which an attempt ended: now, or earlier if the attempt ended while no session ran.
    fn end_of(&self, active: &Active, told: Option<&AttemptStatus>) -> Time {
        let now = self.now();
        let ended = told
            .filter(|_| self.machine.engine.outlives_us())
            .map(|status| since_origin(status.wall(), self.ledger.origin));
        // The end is clamped, because the clocks of several machines differ.
        ended.map_or(now, |ended| ended.clamp(active.start, now.max(active.start)))
    }

    /// Returns the measured resource use of an attempt. If another program killed the attempt, the result may state
    /// that the attempt lacked memory.
    fn accounting(&mut self, told: Option<&AttemptStatus>, status: i32) -> Option<Accounting> {
        let mut accounting = told?.accounting?;
        if status == KILLED && !told?.asked && accounting.memory_kill != Some(MemoryKill::Certain) {
            let kills = self.machine.engine.memory_kills().unwrap_or(0);
            self.machine.unexplained_kills += kills.saturating_sub(self.machine.memory_kills);
            self.machine.memory_kills = kills;
            if self.machine.unexplained_kills > 0 {
                self.machine.unexplained_kills -= 1;
                accounting.memory_kill = Some(MemoryKill::Likely);
            }
        }
        Some(accounting)
    }

    /// Returns the status that the shim of an attempt of this run has written.
    fn status_of(&self, task: TaskId, attempt: u32) -> Option<AttemptStatus> {
        let bytes = self.ledger.storage.read(&self.files.status(task, attempt)).ok()??;
        let claim = |status: &AttemptStatus| (status.claim.run, status.claim.task, status.claim.attempt);
        AttemptStatus::parse(&bytes).filter(|status| claim(status) == (self.ledger.origin, task, attempt))
    }

    /// Records a task that was let run but could not be started.
    pub(super) fn refused(&mut self, task: TaskId, reason: String) -> Result<(), ExecuteError> {
        let Some(active) = self.machine.active.remove(&task) else { return Ok(()) };
        self.machine.engine.reap(task);
        let (running, attempt, at) = (active.running(task), active.attempt, self.now());
        let (outcome, reason) = (Outcome::NotStarted, Some(reason));
        self.record_end(TaskEnd { running, attempt, at, outcome, accounting: None, reason })
    }

    /// Handles the loss of a task with its node. The task has failed only if it is lost repeatedly.
    pub(super) fn lost(&mut self, task: TaskId, reason: String) -> Result<(), ExecuteError> {
        let Some(active) = self.machine.active.remove(&task) else { return Ok(()) };
        // The task may have ended before its agent was lost, without a report from the agent.
        if let Some(told) = self.status_of(task, active.attempt).filter(|told| told.ended_by() == EndedBy::Itself) {
            let left = told.exit;
            return self.ended(task, &active, Some(told), left);
        }
        let (running, attempt, at) = (active.running(task), active.attempt, self.now());
        if self.options.stop.is_requested() || matches!(active.ending, Some((Cause::Stop, _))) {
            self.interrupted(running, attempt, at);
            return Ok(());
        }
        if let Some((Cause::Walltime, _)) = active.ending {
            return self.conclude(running, attempt, at, Outcome::TimedOut, None);
        }
        if self.retries.has_lost_too_often(task) {
            let (outcome, reason) = (Outcome::Failed { status: KILLED }, Some(format!("{reason}, several times")));
            return self.record_end(TaskEnd { running, attempt, at, outcome, accounting: None, reason });
        }
        self.ledger.journal.note(JournalRecord::Interrupted { task, at });
        self.policy.events.push(Event::Interrupted(task));
        let Running { start, processors, .. } = running;
        let (outcome, accounting) = (Outcome::Interrupted, None);
        let run = Run { task, start, end: at, processors, outcome, accounting };
        self.news.push(SessionNews::Lost { run, reason, attempt });
        Ok(())
    }

    /// Records that Makespan ended a task before the task finished. The task waits again, in this session or in the
    /// session that resumes the run.
    pub(super) fn interrupted(&mut self, running: Running, attempt: u32, at: Time) {
        let task = running.task;
        self.ledger.journal.note(JournalRecord::Interrupted { task, at });
        let Running { start, processors, .. } = running;
        let run = Run { task, start, end: at, processors, outcome: Outcome::Interrupted, accounting: None };
        if !self.halted && !self.options.stop.is_requested() {
            // The earlier session asked the task to end, but died before the task ended.
            self.policy.events.push(Event::Interrupted(task));
            self.news.push(SessionNews::Lost {
                run,
                reason: "it was ended together with the previous session".into(),
                attempt,
            });
            return;
        }
        self.state.end(task);
        self.news.push(SessionNews::Interrupted(run));
        let name = self.state.name(task);
        self.news.push(SessionNews::Message(format!("job `{name}` was interrupted; resuming the run starts it again")));
    }

    fn conclude(
        &mut self,
        running: Running,
        attempt: u32,
        at: Time,
        outcome: Outcome,
        accounting: Option<Accounting>,
    ) -> Result<(), ExecuteError> {
        let reason = self.reason(running.task, outcome, accounting.as_ref());
        self.record_end(TaskEnd { running, attempt, at, outcome, accounting, reason })
    }

    fn reason(&self, task: TaskId, outcome: Outcome, accounting: Option<&Accounting>) -> Option<String> {
        let killed = accounting.and_then(|accounting| accounting.memory_kill);
        match outcome {
            Outcome::Failed { .. } if self.cancelled.contains(&task) => Some("it was cancelled".into()),
            Outcome::Failed { .. } if killed.is_some() => killed.map(memory_reason),
            Outcome::TimedOut => {
                let walltime = self.state.instance().walltime(task);
                let granted = self
                    .policy
                    .granted
                    .get(&task)
                    .filter(|&&granted| walltime.is_none_or(|walltime| granted < walltime));
                if let Some(granted) = granted {
                    return Some(format!("it was ended after {granted} s, the time limit that the policy set"));
                }
                let stated = walltime.map(|walltime| format!("it was ended at its time limit of {walltime} s"));
                stated.or_else(|| {
                    Some(format!("it was ended after {} s, the time limit of the run", self.options.timeout?))
                })
            }
            Outcome::Failed { status } => Some(match outcome.signal() {
                Some(signal) => format!("it ended with status {status} (killed by signal {signal})"),
                None => format!("it returned exit status {status}{}", self.not_found(task, status).unwrap_or_default()),
            }),
            Outcome::Succeeded | Outcome::Interrupted | Outcome::NotStarted => None,
        }
    }

    /// Returns the reason for the end of a task in an earlier session, as far as the files of the run show the reason.
    /// `tasks` are the tasks at the end of that session.
    pub(super) fn earlier_reason(&self, run: &Run, tasks: &[Progression]) -> Option<String> {
        let Run { task, outcome, .. } = *run;
        if outcome == Outcome::NotStarted {
            let is_unsuccessful = |before: &TaskId| match tasks.get(before.index()) {
                Some(Progression::Ended(outcome)) => *outcome != Outcome::Succeeded,
                Some(Progression::Cancelled) => true,
                _ => false,
            };
            let instance = self.state.instance();
            let before = instance.incoming(task).map(|edge| edge.from).find(is_unsuccessful);
            let waits = before.map(|before| self.reason_to_abandon(before));
            return Some(waits.unwrap_or_else(|| "it could not be started".to_owned()));
        }
        let attempt = self.attempts.get(task.index()).copied().unwrap_or(0);
        let known = self.status_of(task, attempt).filter(|_| outcome != Outcome::Succeeded);
        let known = known.and_then(|status| status.reason);
        known.or_else(|| self.reason(task, outcome, run.accounting.as_ref()))
    }

    /// Returns the error text of a shell or of `env` that could not start a program.
    fn not_found(&self, task: TaskId, status: i32) -> Option<String> {
        NOT_STARTED.contains(&status).then_some(())?;
        let [_, errors] = self.files.of(task, 1).outputs;
        last_line(&self.files.folder().join(errors)).map(|line| format!(": {line}"))
    }

    /// Records an end. The policy receives the end later, and the observer receives it after the record is synced to
    /// disk.
    pub(super) fn record_end(&mut self, end: TaskEnd) -> Result<(), ExecuteError> {
        let TaskEnd { running: Running { task, start, processors }, attempt, at, outcome, accounting, reason } = end;
        let accounting = accounting.map(|used| self.with_reservation(task, &processors, used));
        self.ledger.journal.note(JournalRecord::Ended {
            task,
            start,
            at,
            processors: processors.clone(),
            outcome,
            accounting,
        });
        let run = Run { task, start, end: at, processors, outcome, accounting };
        self.state.runs.push(run.clone());
        if self.is_tried_again(&run) {
            self.policy.events.push(Event::Interrupted(task));
            self.news.push(SessionNews::Ended { run, attempt, reason, again: true });
            return Ok(());
        }
        self.state.ended += 1;
        let succeeded = outcome == Outcome::Succeeded;
        let tasks = self.state.instance().tasks();
        let halt = self.halting.count(&run, tasks);
        self.halted |= halt.is_some();
        self.policy.events.push(if succeeded { Event::Finished(task) } else { Event::Failed(task) });
        if succeeded {
            self.note_success(task);
            let ready = self.state.cluster.succeed(task, at, &run.processors);
            let ready = self.needed(ready, at);
            self.policy.events.extend(ready.into_iter().map(Event::Submitted));
            // If no further task starts, better estimates are useless.
            if !self.halted {
                self.learn(&run);
            }
        }
        self.news.push(SessionNews::Ended { run, attempt, reason, again: false });
        if let Some(cause) = halt {
            self.announce_halt(&cause);
            self.news.push(SessionNews::Halted(cause));
        }
        if succeeded { Ok(()) } else { self.abandon(task, at) }
    }

    /// Announces that no further task starts, if tasks are still running.
    fn announce_halt(&mut self, cause: &HaltCause) {
        let going = self.machine.active.values().filter(|active| active.going).count();
        if !cause.rule.ends_running && going > 0 {
            let jobs = if going == 1 { "1 running job".into() } else { format!("{going} running jobs") };
            self.news.push(SessionNews::Message(format!("starting no more jobs; waiting for {jobs}")));
        }
    }

    /// Records each end with an exit status that is typical of a stop as a failure, unless a stop request follows in
    /// time.
    pub(super) fn settle_doubts(&mut self) -> Result<(), ExecuteError> {
        let now = self.now();
        let (due, rest) =
            std::mem::take(&mut self.machine.doubtful).into_iter().partition(|doubtful| doubtful.due <= now);
        self.machine.doubtful = rest;
        Vec::into_iter(due).try_for_each(|DoubtfulEnd { running, attempt, at, status, accounting, .. }| {
            let outcome = outcome(status, None).unwrap_or(Outcome::Failed { status });
            self.conclude(running, attempt, at, outcome, accounting)
        })
    }

    /// Ends tasks at their time limit. Kills tasks that were asked to end and did not end in time.
    pub(super) fn enforce_limits(&mut self) {
        let now = self.now();
        let due = |limit: Option<Time>| limit.is_some_and(|limit| limit <= now);
        let late = |active: &super::active::Active| active.going && active.ending.is_none() && due(active.walltime);
        let late: Vec<TaskId> =
            self.machine.active.iter().filter(|(_, active)| late(active)).map(|(&task, _)| task).collect();
        self.terminate(&late, Cause::Walltime);
        self.kill_overdue(false);
    }

    /// Records that tasks are about to be ended, and asks them to end, even if the disk is full.
    pub(super) fn terminate(&mut self, tasks: &[TaskId], cause: Cause) {
        if tasks.is_empty() {
            return;
        }
        let kill = self.now() + self.grace();
        for &task in tasks {
            self.ledger.journal.note(JournalRecord::Ending { task, cause });
        }
        self.commit();
        for &task in tasks {
            if let Some(active) = self.machine.active.get_mut(&task) {
                active.ending = Some((cause, kill));
                self.machine.engine.end(task, false);
            }
        }
    }

    pub(super) fn kill_overdue(&mut self, all: bool) {
        let now = self.now();
        for (&task, active) in &mut self.machine.active {
            if let Some((_, kill)) = &mut active.ending
                && (all || *kill <= now)
            {
                // The request is repeated every second, in case it was lost.
                *kill = now + Time::from_seconds(1);
                self.machine.engine.end(task, true);
            }
        }
    }
}

/// Describes why a task was killed for memory.
fn memory_reason(kill: MemoryKill) -> String {
    match kill {
        MemoryKill::Certain => "it was killed because it used more memory than its limit".into(),
        MemoryKill::Likely => {
            "it was probably killed for lack of memory: SIGKILL ended it, and during its run, the system killed a process to free memory".into()
        }
    }
}
