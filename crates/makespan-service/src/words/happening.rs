//! What happens.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{JobNumber, State};

/// Something that happened to a job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Happening {
    /// Counted from 1, without gaps.
    pub sequence: u64,
    /// When.
    pub at: f64,
    /// To which job.
    pub job: JobNumber,
    /// Whose it is.
    pub user: String,
    /// To which of its tasks; all where none is named.
    pub task: Option<u64>,
    /// What.
    pub kind: HappeningKind,
    /// How the job stands then.
    pub state: State,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HappeningKind {
    /// It was submitted.
    Submitted,
    /// It started.
    Started,
    /// It ended.
    Ended,
    /// An attempt ended, and it waits again.
    Retried,
    /// Somebody took it back.
    Cancelled,
    /// Somebody holds it.
    Held,
    /// It is not held any more.
    Released,
}

impl HappeningKind {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Submitted, Self::Started, Self::Ended, Self::Retried, Self::Cancelled, Self::Held, Self::Released];

    /// As it is written.
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

    /// The one of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
