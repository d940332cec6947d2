//! The data types of requests and responses. The library, the HTTP interface and the web page use the same types.
//!
//! Instants are seconds since 1970, durations are seconds, and sizes are bytes.

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
pub use makespan_formats::prometheus::{Metric, MetricKind};
pub use makespan_history::RangeShare;
pub use plan::{
    BoundPicture, BoxPicture, ClosedPicture, Delay, Explanation, JobOutlook, NodePicture, OtherJobs, Picture, Reason,
    WaitDifference, WhatIf,
};
pub use service::{Health, Reservation, Span, UserChange, UserSettings, UserSummary};
pub use submission::{Content, Needs, Receipt, Submission};

/// The number of a job. Jobs are numbered from 1, and no number is used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct JobNumber(pub u64);

impl fmt::Display for JobNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The permissions of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees the jobs of all users and changes nothing.
    Reader,
    /// Submits jobs, and sees and changes only its own jobs.
    Submitter,
    /// Sees and changes the jobs of all users.
    Admin,
}

/// The user that a client of the service acts for, and the permissions of this client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Who {
    /// The name of the user.
    pub user: String,
    /// The permissions.
    pub role: Role,
}

impl Who {
    /// Returns true if this client may see the jobs of `user`.
    pub fn may_see(&self, user: &str) -> bool {
        self.role != Role::Submitter || self.user == user
    }
}

/// An error response of the service.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Refusal {
    /// The kind of the refusal.
    pub kind: RefusalKind,
    /// One sentence that states the problem.
    pub message: String,
    /// The place of the problem: a field such as `content.argv`, or a line of the file.
    pub place: Option<String>,
    /// A sentence that suggests a remedy.
    pub remedy: Option<String>,
}

/// The kind of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RefusalKind {
    /// The request is invalid.
    BadInput,
    /// A job needs more resources than the platform has.
    FitsNowhere,
    /// Jobs wait for each other in a cycle.
    Cycle,
    /// There is no such job, or the client may not see it.
    Unknown,
    /// The client lacks the permission.
    Forbidden,
    /// The request contradicts the present state: for example, the key was used for another submission, or the job has ended.
    Conflict,
    /// The store cannot be read or written, for example because the disk is full.
    Full,
    /// The request exceeds a limit, for example the limits of the user.
    Quota,
    /// The service cannot answer now, for example because it is about to end. A later attempt may succeed.
    Closing,
}
