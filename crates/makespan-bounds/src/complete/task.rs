//! The tasks of the relaxed problem, and the waits between them.

/// A task with its modes. The time never increases from one mode to the next. The modes are allotments in ascending
/// order. If processors differ, the modes are the classes of nodes on which the task can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ModelTask {
    pub(super) release: i64,
    /// The earliest start that follows from the releases and the waits.
    pub(super) head: i64,
    pub(super) weight: i64,
    /// The deadline, if the task has one.
    pub(super) due: Option<i64>,
    /// The instant from which the end costs its weight for each unit of time: the deadline for the weighted tardiness,
    /// and 0 for other objectives.
    pub(super) free_until: i64,
    pub(super) allotments: Vec<u32>,
    /// For each mode, the smallest larger allotment that is faster. If no larger allotment is faster, the maximum number
    /// of processors plus one.
    pub(super) until: Vec<u32>,
    /// The index of the class of each mode in `Model::classes`. Empty if all processors are equal.
    pub(super) machines: Vec<usize>,
    /// The time in each mode.
    pub(super) times: Vec<i64>,
    /// The latest start in each mode.
    pub(super) latest: Vec<i64>,
    /// For each supply, the amount that the task holds in each mode.
    pub(super) amounts: Vec<Vec<i64>>,
    /// For each consumable, the amount that the task uses up in each mode.
    pub(super) used_up: Vec<Vec<i64>>,
}

/// A wait between two tasks. The task `to` starts at least `delay` units of time after the end of the task `from`, or
/// after its start (see `after_end`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) delay: i64,
    /// The index of the wait in `Model::gaps`, if its delay depends on the modes of both tasks. Then `delay` is the
    /// minimum.
    pub(super) gaps: Option<usize>,
    /// True if the delay begins at the end of `from`. If false, the delay begins at the start of `from`, and the wait
    /// orders equal tasks.
    pub(super) after_end: bool,
}

impl ModelTask {
    pub(super) fn modes(&self) -> usize {
        self.times.len()
    }

    pub(super) fn shortest(&self) -> i64 {
        self.times[self.times.len() - 1]
    }

    /// Returns the weight times the tardiness of an end.
    pub(super) fn cost(&self, end: i64) -> i64 {
        self.weight * (end - self.free_until).max(0)
    }
}
