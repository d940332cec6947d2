//! Problems in a list of commands, and their places in the file.

use crate::error::FilePlace;

/// Problem, and its place.
#[derive(Debug)]
pub(super) struct ListProblem {
    pub place: FilePlace,
    pub problem: String,
}

impl ListProblem {
    pub(super) fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { place: FilePlace::line(line), problem: problem.into() }
    }
}
