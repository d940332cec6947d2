//! Ends a session before all its tasks have ended.

use makespan_core::{TaskId, Time};

use super::Session;
use super::active::{DoubtfulEnd, SessionNews};
use crate::ExecuteError;
use crate::journal::{Cause, JournalRecord};

/// Maximum time that a stopping session waits for the ends of killed tasks, if tasks can outlive the session. An agent
/// that should report an end may itself be lost.
const PATIENCE: Time = Time::from_seconds(10);

impl Session<'_> {
    /// Ends every running task with SIGTERM, and with SIGKILL after the grace period or after a second request.
    /// Continues after an error and returns the first error.
    pub(super) fn end_all(&mut self) -> Result<(), ExecuteError> {
        self.halted = true;
        self.recall_all();
        self.call_off();
        self.machine.starting.clear();
        self.forget_crowded();
        // Pending wake-ups and releases are ignored.
        self.policy.wake = None;
        self.state.unreleased.clear();
        let running: Vec<TaskId> =
            self.machine.active.iter().filter(|(_, active)| active.ending.is_none()).map(|(&task, _)| task).collect();
        let is_asked = self.options.stop.requests() == 1;
        if !running.is_empty() && (is_asked || self.halting.ends_running()) {
            let (count, grace) = (running.len(), self.grace());
            let jobs = if count == 1 { "the running job is".into() } else { format!("the {count} running jobs are") };
            let text = format!("stopping: {jobs} asked to end (SIGTERM), and killed after {grace} s");
            if is_asked {
                self.observer.message(&format!("{text}; a second Ctrl-C kills at once"));
            } else {
                // The observer receives this message after the end that halted the run.
                self.news.push(SessionNews::Message(text));
            }
        }
        self.terminate(&running, Cause::Stop);
        let mut result = Ok(());
        self.interrupt_doubtful();
        let mut last = self.now() + self.grace() + PATIENCE;
        let mut hurried = None;
        while !self.machine.active.is_empty() {
            let at_once = self.options.stop.requests() > 1;
            self.kill_overdue(at_once);
            if at_once {
                last = last.min(*hurried.get_or_insert(self.now() + PATIENCE));
            }
            if self.machine.engine.outlives_us() && last <= self.now() {
                self.leave();
                break;
            }
            // The policy receives no further events.
            self.policy.events.clear();
            result = result.and(self.wait());
            self.commit();
        }
        self.interrupt_doubtful();
        self.ledger.journal.note(JournalRecord::Stopped { at: self.now() });
        self.ledger.stalled = None;
        let written = self.ledger.journal.commit().map_err(ExecuteError::from);
        if written.is_ok() {
            self.tell_news();
        }
        result.and(written)
    }

    /// Records tasks as interrupted that seem to have been stopped together with the run.
    fn interrupt_doubtful(&mut self) {
        for DoubtfulEnd { running, attempt, at, .. } in std::mem::take(&mut self.machine.doubtful) {
            self.interrupted(running, attempt, at);
        }
    }

    /// Stops waiting for these tasks. In the journal, these tasks remain running, as if this session had been killed.
    fn leave(&mut self) {
        let count = self.machine.active.len();
        let Some(&first) = self.machine.active.keys().next() else { return };
        let name = self.state.name(first);
        let text = if count == 1 {
            format!("job `{name}` may still be running; resume the run to find out how the job ended")
        } else {
            format!(
                "{count} jobs may still be running, such as `{name}`; resume the run to find out how the jobs ended"
            )
        };
        self.observer.message(&text);
        self.machine.active.clear();
    }
}
