//! Errors of generators.

use makespan_core::{InstanceError, ProfileError};
use thiserror::Error;

/// Reason why no instance can be generated.
#[derive(Debug, Error)]
pub enum GenerateError {
    /// An option is out of range.
    #[error("{name} is {value}; {expected}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// Value of the option.
        value: String,
        /// Values that are accepted.
        expected: &'static str,
    },
    /// The text is not the name of a family of moldable jobs.
    #[error("`{0}` is not a family of moldable jobs; write weak, high, mixed or cirne")]
    UnknownFamily(String),
    /// The scheduler that computes deadlines failed.
    #[error("{0}")]
    Algorithm(String),
    /// The generated jobs do not form a valid instance.
    #[error("the drawn jobs do not form a valid instance: {0}")]
    Instance(#[from] InstanceError),
    /// A generated profile is invalid.
    #[error("job `{job}` cannot be drawn: {source}")]
    Profile {
        /// Name of the job.
        job: String,
        /// The violated rule for profiles.
        source: ProfileError,
    },
}
