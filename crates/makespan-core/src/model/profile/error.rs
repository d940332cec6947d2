//! The reasons why times and parameters do not form a profile.

use thiserror::Error;

use crate::model::Time;
use crate::text::counted;

/// The reason why times and parameters do not form a profile.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProfileError {
    /// The profile has no allotment.
    #[error("there is no allotment; give the run time on at least one number of processors")]
    Empty,
    /// A time is zero or negative.
    #[error("the time on {} is {time}; it must be positive", counted(.processors, "processor"))]
    NotPositive {
        /// Number of processors of the allotment.
        processors: u32,
        /// The stated time on this allotment.
        time: Time,
    },
    /// The range of the allotment is empty.
    #[error("invalid range of processors, {min} to {max}: min must be at least 1 and at most max")]
    Range {
        /// Minimum allotment.
        min: u32,
        /// Maximum allotment.
        max: u32,
    },
    /// A time on a machine is out of range.
    #[error("the time on machine number {machine} is {time} s; it must be positive and below 146 years")]
    OnMachine {
        /// Position of the node, from 0.
        machine: usize,
        /// The stated time on this machine.
        time: Time,
    },
    /// No machine can run the task.
    #[error("no machine can run the task; give the run time on at least one machine")]
    NoMachine,
    /// A parameter of a law is outside its range.
    #[error("{name} is {value}; it must be {range}")]
    Law {
        /// Name of the parameter.
        name: &'static str,
        /// The stated value.
        value: f64,
        /// The accepted range.
        range: &'static str,
    },
}
