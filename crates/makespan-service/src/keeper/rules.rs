//! The rules by which the engine starts tasks: the shown plan, and the limits of users.

use std::collections::BTreeSet;

use makespan_core::{ProcSet, Time};

use super::outlook::ExpectedTask;
use super::quota::ProcessorLimits;
use crate::words::JobNumber;

/// The rules by which the engine starts tasks.
#[derive(Debug, Default)]
pub(super) struct StartRules {
    /// The maximum number of processors that a user may use at once, for each user with a limit.
    pub processors: ProcessorLimits,
    /// The slots of the shown plan, by start.
    pub plan: Vec<PlannedSlot>,
    /// The number of plans so far.
    pub version: u64,
    /// The jobs that have started, if the round is being ended. Tasks of other jobs then do not start.
    pub begun: Option<BTreeSet<JobNumber>>,
}

impl StartRules {
    /// Takes over the slots of a new plan.
    pub fn renew(&mut self, plan: Vec<PlannedSlot>) {
        self.plan = plan;
        self.version += 1;
    }
}

/// A waiting task in the shown plan. Instants are counted from the beginning of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlannedSlot {
    pub job: JobNumber,
    /// The number of the task in its job.
    pub task: u64,
    pub user: String,
    pub start: Time,
    pub end: Time,
    pub processors: ProcSet,
}

impl From<&ExpectedTask> for PlannedSlot {
    fn from(expected: &ExpectedTask) -> Self {
        let ExpectedTask { job, task, ref user, slot: (start, end), ref processors, .. } = *expected;
        Self { job, task, user: user.clone(), start, end, processors: processors.clone() }
    }
}
