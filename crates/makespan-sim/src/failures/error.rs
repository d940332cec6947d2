//! Errors in models of failures.

use makespan_core::{Time, TimeError};
use thiserror::Error;

/// Reason why a failure model is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FailureModelError {
    /// A mean that is not positive.
    #[error("the mean is {0} s; it must be positive")]
    Mean(Time),
    /// A shape out of range.
    #[error(
        "the shape is {0}; it must be from 0.1 to 100, where 1 is exponential and failures of real clusters have 0.7"
    )]
    Shape(f64),
    /// A unit without processors.
    #[error("a unit of 0 processors cannot fail; give it at least 1")]
    EmptyUnit,
    /// A key that is missing, unknown or given twice.
    #[error("{0}; write mtbf=30d,mttr=4h and if wanted shape=0.7, repair_shape=1, processors=16")]
    Key(String),
    /// A duration that is none.
    #[error("{key}: {error}")]
    Time {
        /// Of which key.
        key: String,
        /// What is wrong.
        error: TimeError,
    },
    /// A number that is none.
    #[error("{key}: `{text}` is not a number")]
    Number {
        /// Of which key.
        key: String,
        /// What is written.
        text: String,
    },
}
