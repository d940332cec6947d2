//! Problems in a list of commands, and their places in the file.

use crate::error::Place;

/// Problem, and its place.
#[derive(Debug)]
pub(super) struct Wrong {
    pub place: Place,
    pub problem: String,
}

impl Wrong {
    pub(super) fn at(line: usize, problem: impl Into<String>) -> Self {
        Self { place: Place::line(line), problem: problem.into() }
    }
}
