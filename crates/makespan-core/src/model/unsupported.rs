//! The reason why an algorithm cannot handle an instance.

use thiserror::Error;

/// A property of an instance that a scheduler or a bound cannot handle.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unsupported(pub String);
