//! The tasks of the relaxed problem.

/// A task of the relaxed problem.
#[derive(Clone, Debug)]
pub(super) struct RelaxedTask {
    pub(super) release: i64,
    /// The earliest start that follows from releases and the tasks for which this task waits.
    pub(super) head: i64,
    /// The latest end that follows from the claim for this task alone.
    pub(super) due: i64,
    /// Weight of the end, in the unit of the claim. The weight is 0 unless the objective is a sum over jobs.
    pub(super) weight: i64,
    /// The instant from which the end costs its weight for each unit of time: the deadline for the weighted tardiness,
    /// and 0 for other objectives.
    pub(super) free_until: i64,
    /// The modes. Times never increase from one mode to the next.
    pub(super) modes: Vec<Mode>,
}

/// An allotment of a task, or a class of machines on which the task can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mode {
    pub(super) time: i64,
    /// The latest start in this mode.
    pub(super) latest: i64,
    /// The amount of each supply that the task holds while it runs.
    pub(super) amounts: Vec<i128>,
    /// The amount of each consumable that the task uses up.
    pub(super) used_up: Vec<i128>,
    /// True if the task runs on a single processor in this mode, so that it holds all amounts on the same node.
    pub(super) is_on_one_node: bool,
    /// The class of machines, or 0 if all processors are equal.
    pub(super) class: usize,
}

impl RelaxedTask {
    pub(super) fn shortest(&self) -> i64 {
        self.modes[self.modes.len() - 1].time
    }

    /// Returns the cost of an end in the unit of the claim.
    pub(super) fn cost(&self, end: i64) -> i128 {
        i128::from(self.weight) * i128::from(end.saturating_sub(self.free_until).max(0))
    }
}
