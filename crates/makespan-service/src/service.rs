//! What a service does for those who ask it.

use std::sync::Arc;
use std::time::Duration;

use crate::words::{
    Explanation, Filter, Happening, Health, JobDetail, JobNumber, JobSummary, LogPart, Metric, Page, Picture, Receipt,
    Refusal, Reservation, Span, State, Stream, Submission, UserSettings, UserSummary, WhatIf, Who,
};

/// What a service does for those who ask it; the HTTP interface is one way to ask.
///
/// All of it may block for milliseconds, [`Service::what_if`] and [`Service::explain`] for longer; none of it waits for the planner but
/// these two. Who is a submitter sees own jobs only: of others it is told that they are unknown, and pictures have their boxes without
/// names and users.
pub trait Service: Send + Sync {
    /// Takes what is submitted. When this returns it is on disk. The same key with the same content gives the same receipt again.
    ///
    /// # Errors
    /// [`Refusal`]; then nothing was taken.
    fn submit(&self, who: &Who, submission: Submission, key: Option<&str>) -> Result<Receipt, Refusal>;

    /// Takes several at once, all or none.
    ///
    /// # Errors
    /// [`Refusal`], whose place begins with the position of the one that is wrong.
    fn submit_many(&self, who: &Who, submissions: Vec<Submission>, key: Option<&str>) -> Result<Vec<Receipt>, Refusal>;

    /// Takes a job back: it does not start, or is ended.
    ///
    /// # Errors
    /// [`Refusal`], for one that has ended.
    fn cancel(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Lets a job that waits wait until it is released.
    ///
    /// # Errors
    /// [`Refusal`], for one that runs or has ended.
    fn hold(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Ends a hold.
    ///
    /// # Errors
    /// [`Refusal`], for one that is not held.
    fn release(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// The jobs behind `after`, at most so many.
    ///
    /// # Errors
    /// [`Refusal`].
    fn jobs(&self, who: &Who, filter: &Filter, after: Option<u64>, limit: usize) -> Result<Page<JobSummary>, Refusal>;

    /// One job.
    ///
    /// # Errors
    /// [`Refusal`].
    fn job(&self, who: &Who, job: JobNumber) -> Result<JobDetail, Refusal>;

    /// A part of what a task printed, from a byte on.
    ///
    /// # Errors
    /// [`Refusal`].
    fn log(
        &self,
        who: &Who,
        job: JobNumber,
        task: u64,
        stream: Stream,
        from: u64,
        most: usize,
    ) -> Result<LogPart, Refusal>;

    /// What was, is and is planned.
    fn picture(&self, who: &Who) -> Arc<Picture>;

    /// Why a job does not run now, and when it is expected to.
    ///
    /// # Errors
    /// [`Refusal`].
    fn explain(&self, who: &Who, job: JobNumber) -> Result<Explanation, Refusal>;

    /// What would become of a submission; nothing is kept.
    ///
    /// # Errors
    /// [`Refusal`], as [`Service::submit`].
    fn what_if(&self, who: &Who, submission: Submission) -> Result<WhatIf, Refusal>;

    /// What happened after this number, in order, at most so many. A submitter is told of own jobs only.
    ///
    /// # Errors
    /// [`Refusal`].
    fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Refusal>;

    /// The number of what happened last.
    fn latest(&self) -> u64;

    /// Waits until something has happened after this number, at most so long. The number of what happened last.
    fn wait(&self, after: u64, timeout: Duration) -> u64;

    /// What happened from `start` to `end`, in so many equal spans.
    ///
    /// # Errors
    /// [`Refusal`].
    fn history(&self, who: &Who, start: f64, end: f64, spans: usize) -> Result<Vec<Span>, Refusal>;

    /// The users; a submitter is told of itself only.
    ///
    /// # Errors
    /// [`Refusal`].
    fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Refusal>;

    /// Says what a user may do; only an admin can.
    ///
    /// # Errors
    /// [`Refusal`].
    fn set_user(&self, who: &Who, user: &str, settings: &UserSettings) -> Result<UserSummary, Refusal>;

    /// The reservations that are not over.
    ///
    /// # Errors
    /// [`Refusal`].
    fn reservations(&self, who: &Who) -> Result<Vec<Reservation>, Refusal>;

    /// Makes one; only an admin can.
    ///
    /// # Errors
    /// [`Refusal`].
    fn reserve(&self, who: &Who, reservation: Reservation) -> Result<Reservation, Refusal>;

    /// Takes one back; only an admin can.
    ///
    /// # Errors
    /// [`Refusal`].
    fn unreserve(&self, who: &Who, number: u64) -> Result<(), Refusal>;

    /// Numbers for a monitor.
    fn metrics(&self) -> Vec<Metric>;

    /// How the service itself is.
    fn health(&self) -> Health;
}
