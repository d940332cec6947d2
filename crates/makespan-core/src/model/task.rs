//! A task and its identifier.

use std::fmt;

use crate::model::{Estimate, Needs, Profile};

/// One task of an instance: all tasks of all jobs in the order of the file, the copies of a bag one by one.
///
/// What is placed, started, finished and recorded is a task, and this is its only name in the library. Identifiers stay as
/// they are when an instance grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u64);

impl TaskId {
    /// As an index into an array with an element for each task.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The task at this position of such an array.
    pub const fn at(index: usize) -> Self {
        Self(index as u64)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What is placed on processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Time as a function of the allotment.
    pub profile: Profile,
    /// How these times are known.
    pub estimate: Estimate,
    /// The program and its arguments, for `run`; `{processors}` stands for the allotment, `{gpus}` for the number of GPUs where the
    /// platform states any, and `{task}` in a bag for the number of the task. Empty when there is none.
    pub command: Vec<String>,
    /// Bytes that the task needs before it runs, which all begin at the root of a tree network; `None` where none are
    /// stated.
    pub data: Option<u64>,
    /// What it needs besides processors while it runs.
    pub needs: Needs,
    /// True if nothing states the number of processors, so that one is assumed. A run may leave such a task unpinned.
    pub assumes_one_core: bool,
}

impl Task {
    /// A task without command, whose times are stated.
    pub const fn new(profile: Profile) -> Self {
        Self {
            profile,
            estimate: Estimate::Stated,
            command: Vec::new(),
            data: None,
            needs: Needs::NONE,
            assumes_one_core: false,
        }
    }
}
