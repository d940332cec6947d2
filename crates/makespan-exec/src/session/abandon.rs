//! Handles tasks with predecessors that did not succeed.

use makespan_core::{Event, ProcSet, TaskId, Time};

use super::Session;
use super::active::TaskEnd;
use crate::ExecuteError;

impl Session<'_> {
    /// Reports to the policy the tasks that ended without success in earlier sessions. Records the successors of these
    /// tasks as not started, unless an earlier session has already recorded them.
    pub(super) fn close(&mut self, closed: &[TaskId]) -> Result<(), ExecuteError> {
        if self.state.instance().edges().is_empty() {
            return Ok(());
        }
        self.policy.events.extend(closed.iter().copied().map(Event::Failed));
        let now = self.now();
        closed.iter().try_for_each(|&task| self.abandon_but(task, now, closed))
    }

    /// Ends the successors of a task that did not succeed, without starting them.
    pub(super) fn abandon(&mut self, task: TaskId, at: Time) -> Result<(), ExecuteError> {
        self.abandon_but(task, at, &[])
    }

    /// Ends the successors of a task without starting them. Writes no record for the tasks in `recorded`, because the
    /// journal already has their records. `recorded` is ascending.
    fn abandon_but(&mut self, task: TaskId, at: Time, recorded: &[TaskId]) -> Result<(), ExecuteError> {
        let lost = self.state.cluster.abandon(task);
        self.lose(task, lost, at, recorded)
    }

    /// Records that the tasks in `lost` will never start, because they wait for `task`.
    pub(super) fn lose(
        &mut self,
        task: TaskId,
        lost: Vec<TaskId>,
        at: Time,
        recorded: &[TaskId],
    ) -> Result<(), ExecuteError> {
        let reason = self.reason_to_abandon(task);
        for lost in lost {
            self.withdraw(lost);
            if recorded.binary_search(&lost).is_err() {
                self.record_end(TaskEnd::not_started(lost, at, ProcSet::new(), &reason))?;
            }
        }
        Ok(())
    }

    /// Returns the reason why the successors of `task` never start.
    pub(super) fn reason_to_abandon(&self, task: TaskId) -> String {
        format!("`{}`, which it waits for, did not succeed", self.state.name(task))
    }
}
