//! Errors in failure models.

use makespan_core::{Time, TimeError};
use thiserror::Error;

/// The reason why a failure model is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FailureModelError {
    /// A mean is not positive.
    #[error("the mean is {0} s; it must be positive")]
    Mean(Time),
    /// A shape is out of range.
    #[error(
        "the shape is {0}; it must be from 0.1 to 100; 1 gives exponential times, and real clusters have about 0.7"
    )]
    Shape(f64),
    /// A unit has no processors.
    #[error("a unit of 0 processors cannot fail; give it at least 1")]
    EmptyUnit,
    /// A key of the model is missing, unknown or given twice.
    #[error("{0}; write mtbf=30d,mttr=4h and, if needed, also shape=0.7, repair_shape=1 or processors=16")]
    Key(String),
    /// A duration is invalid.
    #[error("{key}: {error}")]
    Time {
        /// The key of the duration.
        key: String,
        /// The reason why the duration is invalid.
        error: TimeError,
    },
    /// A number is invalid.
    #[error("{key}: `{text}` is not a number")]
    Number {
        /// The key of the number.
        key: String,
        /// The invalid text.
        text: String,
    },
}
