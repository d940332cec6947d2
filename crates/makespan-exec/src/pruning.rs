//! The rule that finds tasks that need not run, because of the results of other tasks.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use makespan_core::TaskId;

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

    pub(crate) fn find(&self, ready: &[TaskId], other: OtherWork) -> PruningAnswer {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)(ready, other)
    }
}

impl fmt::Debug for Pruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pruning")
    }
}
