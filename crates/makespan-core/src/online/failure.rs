//! Processors that break and are repaired.

use crate::model::{ProcSet, Time};

/// Some processors do not work for a while, which nobody knew before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Which.
    pub processors: ProcSet,
    /// From this instant.
    pub down: Time,
    /// Until this instant, which no policy sees.
    pub up: Time,
    /// When the repair is expected, which policies see; `None` when nobody knows.
    pub expected_up: Option<Time>,
}
