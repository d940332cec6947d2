//! Handles jobs that arrive during a run, and tasks that are cancelled or withdrawn.

use std::time::Duration;

use makespan_core::{Event, Job, ProcSet, TaskId, Time};

use super::Session;
use super::active::{SessionNews, TaskEnd};
use crate::ExecuteError;
use crate::intake::IntakeRequest;
use crate::journal::{Cause, JournalRecord, Progression};

/// Maximum time for which an ending session tries to write its journal.
const PATIENCE: Time = Time::from_seconds(10);

impl Session<'_> {
    /// Handles the requests since the last call.
    pub(super) fn heed_requests(&mut self) -> Result<(), ExecuteError> {
        let Some(intake) = &self.options.intake else { return Ok(()) };
        for request in intake.take() {
            match request {
                IntakeRequest::Append(jobs) => self.append(jobs)?,
                IntakeRequest::Cancel(tasks) => self.cancel(&tasks)?,
                IntakeRequest::Withdraw(tasks) => self.withdraw_all(&tasks)?,
                IntakeRequest::Announce(periods) => {
                    let _ = self.state.cluster.announce(periods);
                    // Tasks may be able to start now, for example because a reservation was removed.
                    self.policy.wake = Some(self.now());
                }
                IntakeRequest::Decide => self.policy.wake = Some(self.now()),
                IntakeRequest::Close => self.may_grow = false,
                IntakeRequest::Leave => {
                    self.leaves = true;
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Adds these jobs. If one of them is invalid, adds none.
    fn append(&mut self, jobs: Vec<Job>) -> Result<(), ExecuteError> {
        let first = TaskId(self.state.instance().tasks());
        let lost = match self.state.cluster.append(jobs) {
            Ok(lost) => lost,
            Err(error) => {
                self.observer.not_grown(&error.to_string());
                return Ok(());
            }
        };
        let instance = self.state.cluster.instance();
        let end = TaskId(instance.tasks());
        let list = self.ledger.known.more(instance);
        self.ledger.known.extend(list.clone());
        self.ledger.journal.note(JournalRecord::Grown { list });
        self.files.grow(instance);
        self.attempts.resize(end.index(), 0);
        self.count_failures_of(end.0);
        self.news.push(SessionNews::Grown(first..end));
        self.state.add((first.0..end.0).map(TaskId).filter(|task| lost.binary_search(task).is_err()));
        if let Some(estimator) = &mut self.policy.estimator {
            let restated = estimator.grown(self.state.cluster.instance());
            self.restate(restated, true);
        }
        let now = self.now();
        for task in lost {
            let reason = "a job that it waits for did not succeed";
            self.record_end(TaskEnd::not_started(task, now, ProcSet::new(), reason))?;
        }
        Ok(())
    }

    /// Cancels tasks: running tasks are ended, and waiting tasks do not start. Tasks that have ended do not change.
    fn cancel(&mut self, tasks: &[TaskId]) -> Result<(), ExecuteError> {
        let runs =
            |task: &TaskId| self.machine.active.get(task).is_some_and(|active| active.going && active.ending.is_none());
        let running: Vec<TaskId> = tasks.iter().copied().filter(runs).collect();
        let has_begun = |task: &TaskId| {
            self.machine.active.contains_key(task)
                || self.machine.doubtful.iter().any(|doubtful| doubtful.running.task == *task)
        };
        let begun: Vec<TaskId> = tasks.iter().copied().filter(has_begun).collect();
        self.cancelled.extend(&begun);
        self.terminate(&running, Cause::Cancel);
        for &task in tasks.iter().filter(|task| !begun.contains(task)) {
            self.take_back_waiting(task)?;
        }
        Ok(())
    }

    /// Reports again the tasks that ended or were cancelled in earlier sessions, because the program that submits the
    /// jobs may have missed the reports.
    pub fn tell_earlier(&mut self, tasks: &[Progression]) {
        let ended = self.state.runs.iter().cloned().map(|run| (self.earlier_reason(&run, tasks), run));
        let ended = ended.map(|(reason, run)| SessionNews::Ended { run, attempt: 0, reason, again: false });
        let ended: Vec<SessionNews> = ended.collect();
        self.news.extend(ended);
        let cancelled = (0..).map(TaskId).zip(tasks).filter(|(_, task)| **task == Progression::Cancelled);
        self.news.extend(cancelled.map(|(task, _)| SessionNews::Cancelled(task)));
    }

    /// Withdraws these tasks, if none of them has begun.
    fn withdraw_all(&mut self, tasks: &[TaskId]) -> Result<(), ExecuteError> {
        let done = tasks.iter().all(|&task| self.has_not_begun(task));
        self.news.push(SessionNews::Withdrawn(tasks.to_vec(), done));
        if done {
            // Successors are withdrawn before their predecessors.
            tasks.iter().rev().try_for_each(|&task| self.take_back_waiting(task))?;
        }
        Ok(())
    }

    /// Returns whether a task has not begun, because it waits for its first or its next attempt.
    fn has_not_begun(&self, task: TaskId) -> bool {
        !self.machine.active.contains_key(&task)
            && (self.machine.starting.contains(task)
                || self.is_in_crowd(task)
                || self.state.unreleased.contains(&task)
                || self.state.cluster.may_start(task))
    }

    fn take_back_waiting(&mut self, task: TaskId) -> Result<(), ExecuteError> {
        let was_started = self.machine.starting.remove(task) || self.leave_crowd(task);
        let unreleased = self.state.unreleased.len();
        self.state.unreleased.retain(|&other| other != task);
        let was_to_come = self.state.unreleased.len() < unreleased;
        if was_started {
            self.state.end(task);
        }
        if !(was_started || was_to_come || self.state.cluster.may_start(task)) {
            return Ok(());
        }
        let now = self.now();
        let lost = self.state.cluster.give_up(task);
        self.ledger.journal.note(JournalRecord::Cancelled { task, at: now });
        self.state.ended += 1;
        // A withdrawn task is not tried again.
        self.policy.events.retain(|event| *event != Event::Interrupted(task) && *event != Event::Submitted(task));
        self.policy.events.push(Event::Failed(task));
        self.news.push(SessionNews::Cancelled(task));
        self.lose(task, lost, now, &[])
    }

    /// Ends the session. The running tasks continue, and the next session takes them over.
    pub(super) fn leave_running(&mut self) -> Result<(), ExecuteError> {
        self.call_off();
        self.machine.starting.clear();
        self.commit();
        // If a record cannot be written in time, the next session reads the end from the status file.
        let last = self.now() + PATIENCE;
        while self.ledger.stalled.is_some() && self.now() < last {
            let _ = self.machine.engine.wait(Duration::from_millis(100));
            self.commit();
        }
        let written = self.ledger.journal.commit().map_err(ExecuteError::from);
        if written.is_ok() {
            self.tell_news();
        }
        self.machine.engine.leave();
        written
    }
}
