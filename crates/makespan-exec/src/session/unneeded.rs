//! Tasks that need not run, because of the results of other tasks.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use makespan_core::{Event, Outcome, ProcSet, Run, TaskId, Time};

use super::Session;
use super::active::SessionNews;
use crate::clock::ticks;
use crate::journal::JournalRecord;

/// Finds tasks that need not run, because of the results of other tasks ([`crate::ExecuteOptions::pruning`]). These tasks
/// succeed without a start as soon as all their predecessors have succeeded. Their runs have no processors and take no time.
#[derive(Clone)]
pub struct Pruning(Arc<Mutex<PruningFunction>>);

/// Receives tasks that could start now, and the work of the machine without these tasks.
type PruningFunction = dyn FnMut(&[TaskId], OtherWork) -> PruningAnswer + Send;

/// Tasks other than the tasks that could start now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherWork {
    /// No other task runs or waits.
    None,
    /// Other tasks run, and no other task waits.
    Running,
    /// Other tasks wait for processors.
    Waiting,
}

/// The answer of the function of a [`Pruning`].
#[derive(Clone, Debug, Default)]
pub struct PruningAnswer {
    /// Tasks that need not run, with or without the received tasks.
    pub unneeded: Vec<TaskId>,
    /// Received tasks that do not start yet, because the function will decide later. Empty if there is no other work.
    pub undecided: Vec<TaskId>,
    /// Time until the next question about the undecided tasks, unless tasks start or end before.
    pub pause: Duration,
}

impl Pruning {
    /// Creates the rule from a function. The function receives the tasks that could start now, because a task has succeeded
    /// that was their last predecessor, and the tasks that it has not decided before.
    pub fn new(find: impl FnMut(&[TaskId], OtherWork) -> PruningAnswer + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(find)))
    }

    fn find(&self, ready: &[TaskId], other: OtherWork) -> PruningAnswer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(ready, other)
    }
}

impl fmt::Debug for Pruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pruning")
    }
}

/// The state of [`Pruning`] in a session.
#[derive(Debug, Default)]
pub(crate) struct PruningState {
    /// Tasks that need not run and wait for predecessors.
    unneeded: BTreeSet<TaskId>,
    /// Tasks that could start, but may turn out not to be needed. The cluster does not list them.
    undecided: BTreeSet<TaskId>,
    /// The instant of the next question, if tasks are undecided.
    pub next: Option<Time>,
}

impl Session<'_> {
    /// Returns the tasks in `ready` that must run, and further tasks that become ready because the others need not run.
    /// Records the success of tasks that need not run, at the instant `at`. Withdraws undecided tasks until
    /// [`Session::decide_pruning`] submits them.
    pub(super) fn needed(&mut self, ready: Vec<TaskId>, at: Time) -> Vec<TaskId> {
        let Some(pruning) = &self.options.pruning else { return ready };
        let other = if self.state.cluster.waiting().len() > ready.len() {
            OtherWork::Waiting
        } else if self.machine.active.is_empty() && self.machine.starting.is_empty() {
            OtherWork::None
        } else {
            OtherWork::Running
        };
        let PruningAnswer { unneeded, undecided, pause } = pruning.find(&ready, other);
        self.pruning.unneeded.extend(unneeded);
        if !undecided.is_empty() {
            self.pruning.next = Some(at + ticks(pause));
        }
        for &task in &undecided {
            if self.state.cluster.withdraw(task).is_ok() {
                self.pruning.undecided.insert(task);
            }
        }
        let (mut open, mut needed) = (ready, Vec::new());
        open.retain(|task| !self.pruning.undecided.contains(task));
        while let Some(task) = open.pop() {
            if self.pruning.unneeded.remove(&task) && self.state.cluster.withdraw(task).is_ok() {
                open.extend(self.succeed_without_start(task, at));
            } else {
                needed.push(task);
            }
        }
        needed.sort_unstable();
        needed
    }

    /// Asks again about the undecided tasks. Submits the tasks that must run.
    pub(super) fn decide_pruning(&mut self) {
        if self.pruning.undecided.is_empty() {
            return;
        }
        self.pruning.next = None;
        let mut ready: Vec<TaskId> = std::mem::take(&mut self.pruning.undecided).into_iter().collect();
        ready.retain(|&task| self.state.cluster.submit(task));
        let needed = self.needed(ready, self.now());
        self.policy.events.extend(needed.into_iter().map(Event::Submitted));
    }

    /// Returns true if tasks are undecided.
    pub(super) fn is_undecided(&self) -> bool {
        !self.pruning.undecided.is_empty()
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
