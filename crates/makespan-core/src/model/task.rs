//! The identifier of work.

use std::fmt;

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
