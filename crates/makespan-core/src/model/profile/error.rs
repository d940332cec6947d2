//! Why figures make no profile.

use thiserror::Error;

use crate::model::Time;
use crate::text::counted;

/// Why figures do not make a profile.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// No allotment at all.
    #[error("there is no allotment; give the time on at least one number of processors")]
    Empty,
    /// A time that is zero or negative.
    #[error("the time on {} is {time}; it must be positive", counted(.processors, "processor"))]
    NotPositive {
        /// The allotment.
        processors: u32,
        /// Its time.
        time: Time,
    },
    /// Bounds on the allotment that hold for no number.
    #[error("processors from {min} to {max} is an empty range; min must be at least 1 and at most max")]
    Range {
        /// Fewest.
        min: u32,
        /// Most.
        max: u32,
    },
    /// A time on a machine that is no time.
    #[error("the time on machine number {machine} is {time} s; it must be positive and below 146 years")]
    OnMachine {
        /// Position of the node, from 0.
        machine: usize,
        /// The time.
        time: Time,
    },
    /// A task that no machine can run.
    #[error("no machine can run it; give the time on at least one")]
    NoMachine,
    /// A law's parameter outside its range.
    #[error("{name} is {value}; it must be {range}")]
    Law {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What is accepted.
        range: &'static str,
    },
}
