//! Tasks that wait for what did not succeed.

use makespan_core::{Event, ProcSet, TaskId, Time};

use super::Session;
use super::active::End;
use crate::ExecuteError;

impl Session<'_> {
    /// These tasks ended in earlier sessions without success. What waits for them and was not written down as not started,
    /// because the session died before, is so now.
    pub(super) fn close(&mut self, closed: &[TaskId]) -> Result<(), ExecuteError> {
        if self.state.instance().edges().is_empty() {
            return Ok(());
        }
        self.policy.events.extend(closed.iter().copied().map(Event::Failed));
        let now = self.now();
        closed.iter().try_for_each(|&task| self.abandon_but(task, now, closed))
    }

    /// What waits for a task that did not succeed ends without a start.
    pub(super) fn abandon(&mut self, task: TaskId, at: Time) -> Result<(), ExecuteError> {
        self.abandon_but(task, at, &[])
    }

    /// The same, but for those that have their record; ascending.
    fn abandon_but(&mut self, task: TaskId, at: Time, recorded: &[TaskId]) -> Result<(), ExecuteError> {
        let lost = self.state.cluster.abandon(task);
        self.lose(task, lost, at, recorded)
    }

    /// These will never start, since they wait for a task.
    pub(super) fn lose(
        &mut self,
        task: TaskId,
        lost: Vec<TaskId>,
        at: Time,
        recorded: &[TaskId],
    ) -> Result<(), ExecuteError> {
        let reason = format!("`{}`, which it waits for, did not succeed", self.state.name(task));
        for lost in lost {
            self.withdraw(lost);
            if recorded.binary_search(&lost).is_err() {
                self.record_end(End::not_started(lost, at, ProcSet::new(), &reason))?;
            }
        }
        Ok(())
    }
}
