//! Errors of generators.

use makespan_core::{InstanceError, ProfileError};
use thiserror::Error;

/// The reason why no instance can be drawn.
#[derive(Debug, Error)]
pub enum GenerateError {
    /// An option is out of range.
    #[error("{name} is {value}; {expected}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// The value that was given.
        value: String,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A word names no family.
    #[error("`{0}` is no family of moldable jobs; write weak, high, mixed or cirne")]
    UnknownFamily(String),
    /// The scheduler that states deadlines failed.
    #[error("{0}")]
    Algorithm(String),
    /// The drawn jobs do not make an instance.
    #[error("the drawn jobs make no instance: {0}")]
    Instance(#[from] InstanceError),
    /// A drawn profile was refused.
    #[error("job `{job}` cannot be drawn: {source}")]
    Profile {
        /// Name of the job.
        job: String,
        /// The rule that the profile breaks.
        source: ProfileError,
    },
}
