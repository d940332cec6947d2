//! Schema of a native file.

use makespan_core::{ProcSet, Time};
use serde::Deserialize;

use super::job::JobEntry;
use super::platform::PlatformEntry;
use crate::native::document::Unique;
use crate::native::scalar::{Count, Scalar};

/// Content of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub version: Scalar<Count>,
    /// The platform. `None` if the instance is for the machine on which the program runs.
    pub platform: Option<PlatformEntry>,
    /// The jobs. May be `None` if only the platform of the file is needed.
    pub jobs: Option<Unique<JobEntry>>,
    #[serde(default)]
    pub unavailable: Vec<ClosedPeriod>,
}

/// A reservation or an outage.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClosedPeriod {
    pub processors: Scalar<ProcSet>,
    pub start: Scalar<Time>,
    pub end: Scalar<Time>,
}
