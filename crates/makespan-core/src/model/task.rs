//! A task and its identifier.

use std::fmt;
use std::sync::Arc;

use crate::model::{Estimate, Lag, Needs, Profile};

/// The identifier of a task. Tasks are numbered from 0 through all jobs, in file order, and each task of a bag has a
/// number of its own.
///
/// Plans, policies and traces refer to tasks only by this identifier. Identifiers remain valid when an instance grows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub u64);

impl TaskId {
    /// Returns the position in an array with one element per task.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the task with this position in an array with one element per task.
    pub const fn at(index: usize) -> Self {
        Self(index as u64)
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The unit of work that is placed on processors.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// The time of the task as a function of its allotment.
    pub profile: Profile,
    /// The source of the times in `profile`.
    pub estimate: Estimate,
    /// The program and its arguments, for `run`. `{processors}` is replaced by the allotment, `{gpus}` by the number
    /// of GPUs (if the platform states any), and, in a bag, `{task}` by the position of the task, counted from 0.
    /// `{literal:` stands for `{`. Empty if there is no command.
    pub command: Vec<String>,
    /// Number of bytes that the task needs before it runs. At time 0, these data are at the root of a tree network.
    /// `None` if the file states no data.
    pub data: Option<u64>,
    /// Resources that the task needs besides processors while it runs.
    pub needs: Needs,
    /// The source of the amount of memory in `needs`.
    pub memory_estimate: Estimate,
    /// Name of the gang of the task, if it has one. All tasks of a compound job with the same gang communicate while they
    /// run, so they start together.
    pub gang: Option<Arc<str>>,
    /// Name of the family of the task, if it has one. Setup times depend on the families of consecutive tasks
    /// ([`crate::Setup`]).
    pub family: Option<Arc<str>>,
    /// Time lags from the starts of other tasks of the compound job to the start of this task.
    pub lags: Vec<Lag>,
    /// True if the input states no number of processors for the task, so that one processor is assumed. In this case,
    /// a run need not pin the task to one core.
    pub assumes_one_core: bool,
}

impl Task {
    /// Creates a task with stated times and without a command.
    pub const fn new(profile: Profile) -> Self {
        Self {
            profile,
            estimate: Estimate::Stated,
            command: Vec::new(),
            data: None,
            needs: Needs::NONE,
            memory_estimate: Estimate::Stated,
            gang: None,
            family: None,
            lags: Vec::new(),
            assumes_one_core: false,
        }
    }
}
