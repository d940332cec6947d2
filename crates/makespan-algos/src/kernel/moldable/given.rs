//! The input of an evaluation of a list of moldable tasks, and the resulting starts and ends.

use super::measure::Measure;
use super::tails::Tails;
use super::{List, MoldableProblem};

/// The input of an evaluation.
#[derive(Clone, Copy)]
pub(super) struct EvaluationInput<'g> {
    pub problem: &'g MoldableProblem<'g>,
    pub measure: &'g Measure,
    pub list: &'g List,
    pub tails: &'g Tails,
    /// Area of all tasks: processors times ticks.
    pub work: i128,
}

/// The start and the end of each task.
#[derive(Clone, Debug)]
pub(super) struct StartsAndEnds {
    pub starts: Vec<i64>,
    pub ends: Vec<i64>,
}

impl StartsAndEnds {
    #[inline]
    pub fn set(&mut self, task: u32, start: i64, end: i64) {
        (self.starts[task as usize], self.ends[task as usize]) = (start, end);
    }
}
