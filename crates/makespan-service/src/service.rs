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
    /// [`Refusal`], if the job has ended.
    fn cancel(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Holds a waiting job until it is released.
    ///
    /// # Errors
    /// [`Refusal`], if the job runs or has ended.
    fn hold(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Ends a hold.
    ///
    /// # Errors
    /// [`Refusal`], if the job is not held.
    fn release(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Returns up to `limit` jobs that follow job number `after`; with `filter.newest`, jobs with smaller numbers, newest first.
    ///
    /// # Errors
    /// [`Refusal`].
    fn jobs(&self, who: &Who, filter: &Filter, after: Option<u64>, limit: usize) -> Result<Page<JobSummary>, Refusal>;

    /// Returns the details of one job.
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

    /// Returns up to `limit` events with numbers above `after`, in order. A submitter receives only events of its own jobs.
    ///
    /// # Errors
    /// [`Refusal`].
    fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Refusal>;

    /// Returns the number of the latest event.
    fn latest(&self) -> u64;

    /// Blocks until an event newer than `after` exists or `timeout` expires. Returns the number of the latest event.
    fn wait(&self, after: u64, timeout: Duration) -> u64;

    /// Summarises the time from `start` to `end` in `spans` equal spans.
    ///
    /// # Errors
    /// [`Refusal`].
    fn history(&self, who: &Who, start: f64, end: f64, spans: usize) -> Result<Vec<Span>, Refusal>;

    /// Returns the users. A submitter receives only its own entry.
    ///
    /// # Errors
    /// [`Refusal`].
    fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Refusal>;

    /// Changes the settings of a user. Only an admin may do this.
    ///
    /// # Errors
    /// [`Refusal`].
    fn set_user(&self, who: &Who, user: &str, settings: &UserSettings) -> Result<UserSummary, Refusal>;

    /// Returns the reservations that have not ended.
    ///
    /// # Errors
    /// [`Refusal`].
    fn reservations(&self, who: &Who) -> Result<Vec<Reservation>, Refusal>;

    /// Creates a reservation. Only an admin may do this.
    ///
    /// # Errors
    /// [`Refusal`].
    fn reserve(&self, who: &Who, reservation: Reservation) -> Result<Reservation, Refusal>;

    /// Cancels a reservation. Only an admin may do this.
    ///
    /// # Errors
    /// [`Refusal`].
    fn unreserve(&self, who: &Who, number: u64) -> Result<(), Refusal>;

    /// Returns the metrics for a monitoring system.
    fn metrics(&self) -> Vec<Metric>;

    /// Returns the health of the service itself.
    fn health(&self) -> Health;
}
