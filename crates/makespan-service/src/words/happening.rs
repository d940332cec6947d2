//! Events of jobs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobNumber, State};

/// An event of a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Happening {
    /// The number of the event. Events are numbered from 1 without gaps.
    pub sequence: u64,
    /// The instant of the event.
    pub at: f64,
    /// The job of the event.
    pub job: JobNumber,
    /// The user of the job.
    pub user: String,
    /// The task of the event, or `None` if the event is about the whole job.
    pub task: Option<u64>,
    /// The kind of the event.
    pub kind: HappeningKind,
    /// The state of the job after the event.
    pub state: State,
}

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HappeningKind {
    /// The job was submitted.
    Submitted,
    /// A task started.
    Started,
    /// The job or one of its tasks ended.
    Ended,
    /// An attempt of a task ended, and the task waits again.
    Retried,
    /// The job or one of its tasks was cancelled.
    Cancelled,
    /// The job was held.
    Held,
    /// The job was released.
    Released,
}

impl HappeningKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Submitted, Self::Started, Self::Ended, Self::Retried, Self::Cancelled, Self::Held, Self::Released];

    /// Returns the name of the kind, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::Started => "started",
            Self::Ended => "ended",
            Self::Retried => "retried",
            Self::Cancelled => "cancelled",
            Self::Held => "held",
            Self::Released => "released",
        }
    }

    /// Returns the kind with the given name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
