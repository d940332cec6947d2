//! Failures of processors.

use crate::model::{ProcSet, Time};

/// An unexpected failure of processors, until they are repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The processors.
    pub processors: ProcSet,
    /// Start of the failure.
    pub down: Time,
    /// End of the failure, which no policy sees.
    pub up: Time,
    /// Expected repair, which policies see; `None` if unknown.
    pub expected_up: Option<Time>,
}
