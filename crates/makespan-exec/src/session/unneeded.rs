//! Tasks of a session that need not run, because of the results of other tasks.

use std::collections::BTreeSet;

use makespan_core::{Event, Outcome, ProcSet, Run, TaskId, Time};

use super::Session;
use super::active::SessionNews;
use crate::clock::ticks;
use crate::journal::JournalRecord;
use crate::pruning::{OtherWork, PruningAnswer};

/// The state of the rule [`crate::Pruning`] in a session.
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
