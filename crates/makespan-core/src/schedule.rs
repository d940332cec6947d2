//! Placements of jobs on processors in time.

use crate::{JobId, ProcSet, Time};

/// One task of a job on its processors from start to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Which job.
    pub job: JobId,
    /// Which task of a bag, from 0; 0 for a job that is no bag.
    pub task: u32,
    /// First instant.
    pub start: Time,
    /// First instant at which the processors are free again.
    pub end: Time,
    /// Where.
    pub processors: ProcSet,
}

/// What runs where and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    placements: Vec<Placement>,
}

impl Schedule {
    /// From placements in any order; they are kept by start, then job, then task.
    pub fn new(mut placements: Vec<Placement>) -> Self {
        placements.sort_unstable_by_key(|placement| (placement.start, placement.job, placement.task));
        Self { placements }
    }

    /// The placements by start, then job, then task.
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// When the last job ends; zero without jobs.
    pub fn makespan(&self) -> Time {
        self.placements.iter().map(|placement| placement.end).max().unwrap_or(Time::ZERO)
    }
}
