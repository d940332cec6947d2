//! The words that pass between the service and whoever asks it: one set for the library, the HTTP interface and the page.
//!
//! Instants are seconds after 1970, durations are seconds, sizes are bytes.

mod happening;
mod job;
mod plan;
mod service;
mod submission;

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use happening::{Happening, HappeningKind};
pub use job::{Filter, JobDetail, JobSummary, LogPart, Page, State, Stream, TaskDetail};
pub use plan::{BoundPicture, BoxPicture, Delay, Explanation, NodePicture, Picture, Reason, WhatIf};
pub use service::{Health, Metric, Reservation, Span, UserSettings, UserSummary};
pub use submission::{Content, Needs, Receipt, Submission};

/// The number of a job. The service counts them from 1 and gives none again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct JobNumber(pub u64);

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What somebody may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees all and changes nothing.
    Reader,
    /// Submits jobs; sees and changes own ones only.
    Submitter,
    /// Sees and changes all.
    Admin,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Who {
    /// A name.
    pub user: String,
    /// What it may do.
    pub role: Role,
}

impl Who {
    /// Returns whether this client may see the jobs of `user`.
    pub fn may_see(&self, user: &str) -> bool {
        self.role != Role::Submitter || self.user == user
    }
}

/// Why something was not done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Refusal {
    /// What it is.
    pub kind: RefusalKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: a field such as `content.argv`, or a line of the file.
    pub place: Option<String>,
    /// What to do.
    pub remedy: Option<String>,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// What was sent is not right.
    BadInput,
    /// A job needs more than there is.
    FitsNowhere,
    /// Jobs wait for each other in a circle.
    Cycle,
    /// There is no such job, or it is not the asker's.
    Unknown,
    /// The asker may not do that.
    Forbidden,
    /// It contradicts what is: a key that was used for something else, a job that has ended.
    Conflict,
    /// The disk is full, or cannot be written.
    Full,
    /// The user has as much as is allowed.
    Quota,
    /// The service is about to end, or its engine is not there.
    Closing,
}
