//! Tasks that need not run, because of the results of other tasks.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Event, Outcome, ProcSet, Run, TaskId, Time};

use super::Session;
use super::active::SessionNews;
use crate::journal::JournalRecord;

/// Finds tasks that need not run, because of the results of other tasks ([`crate::ExecuteOptions::pruning`]). These tasks
/// succeed without a start as soon as all their predecessors have succeeded. Their runs have no processors and take no time.
#[derive(Clone)]
pub struct Pruning(Arc<Mutex<PruningFunction>>);

/// Receives tasks that could start now. Returns tasks that need not run.
type PruningFunction = dyn FnMut(&[TaskId]) -> Vec<TaskId> + Send;

impl Pruning {
    /// Creates the rule from a function. The function receives the tasks that could start now, because a task has succeeded
    /// that was their last predecessor. The function returns tasks that need not run, with or without the received tasks.
    pub fn new(find: impl FnMut(&[TaskId]) -> Vec<TaskId> + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(find)))
    }

    fn find(&self, ready: &[TaskId]) -> Vec<TaskId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(ready)
    }
}

impl fmt::Debug for Pruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pruning")
    }
}

impl Session<'_> {
    /// Returns the tasks in `ready` that must run, and further tasks that become ready because the others need not run.
    /// Records the success of tasks that need not run, at the instant `at`.
    pub(super) fn needed(&mut self, ready: Vec<TaskId>, at: Time) -> Vec<TaskId> {
        let Some(pruning) = &self.options.pruning else { return ready };
        self.unneeded.extend(pruning.find(&ready));
        let (mut open, mut needed) = (ready, Vec::new());
        while let Some(task) = open.pop() {
            if self.unneeded.remove(&task) && self.state.cluster.withdraw(task).is_ok() {
                open.extend(self.succeed_without_start(task, at));
            } else {
                needed.push(task);
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Records the success of a task that did not start. Returns the tasks that become ready.
    fn succeed_without_start(&mut self, task: TaskId, at: Time) -> Vec<TaskId> {
        let (processors, outcome) = (ProcSet::new(), Outcome::Succeeded);
        let run = Run { task, start: at, end: at, processors: processors.clone(), outcome, accounting: None };
        self.ledger.journal.note(JournalRecord::Ended {
            task,
            start: at,
            at,
            processors: processors.clone(),
            outcome,
            accounting: None,
        });
        self.state.runs.push(run.clone());
        self.state.ended += 1;
        self.policy.events.push(Event::Finished(task));
        self.news.push(SessionNews::Ended { run, attempt: 0, reason: None, again: false });
        self.state.cluster.succeed(task, at, &processors)
    }
}
