//! Failures of processors.

use crate::model::{ProcSet, Time};

/// A failure of processors that is not known in advance, from its start to the repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The processors that fail.
    pub processors: ProcSet,
    /// Start of the failure.
    pub down: Time,
    /// End of the failure, when the processors are repaired. No policy sees this instant.
    pub up: Time,
    /// The instant at which policies expect the repair. `None` if no repair was announced.
    pub expected_up: Option<Time>,
}
