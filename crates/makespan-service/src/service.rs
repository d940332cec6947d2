//! The operations that a service offers to its clients.

use std::sync::Arc;
use std::time::Duration;

use crate::words::{
    Explanation, Filter, Happening, Health, JobDetail, JobNumber, JobSummary, LogPart, Metric, Page, Picture, Receipt,
    Refusal, Reservation, Span, State, Stream, Submission, UserChange, UserSettings, UserSummary, WhatIf, Who,
};

/// The operations that a service offers to its clients. The HTTP interface calls these operations.
///
/// Every operation may block for milliseconds. Operations that change the service block until the change is on disk.
/// [`Service::explain`] and [`Service::what_if`] take longer, because they simulate and plan. The check of a submitted
/// list or file may take seconds.
///
/// A submitter sees only its own jobs. Operations treat the jobs of other users as unknown. In a picture, the boxes of
/// these jobs have no names and no users.
pub trait Service: Send + Sync {
    /// Accepts a submission. When this function returns, the submission is on disk. A repeated call with the same key
    /// and the same content returns the first receipt.
    ///
    /// # Errors
    /// [`Refusal`]. After a refusal of the kind `Closing`, the service may still accept the submission.
    fn submit(&self, who: &Who, submission: Submission, key: Option<&str>) -> Result<Receipt, Refusal>;

    /// Accepts either all of several submissions or none.
    ///
    /// # Errors
    /// [`Refusal`]. If there are several submissions, the `place` of the refusal begins with the position of the
    /// refused submission.
    fn submit_many(&self, who: &Who, submissions: Vec<Submission>, key: Option<&str>) -> Result<Vec<Receipt>, Refusal>;

    /// Cancels a job: a waiting job does not start, and a running job is ended. Returns the present state, which may
    /// still be waiting or running.
    ///
    /// # Errors
    /// [`Refusal`], for example if the job has ended.
    fn cancel(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Holds a waiting job until it is released.
    ///
    /// # Errors
    /// [`Refusal`], for example if the job runs or has ended.
    fn hold(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Releases a held job.
    ///
    /// # Errors
    /// [`Refusal`], for example if the job is not held.
    fn release(&self, who: &Who, job: JobNumber) -> Result<State, Refusal>;

    /// Returns up to `limit` jobs with numbers above `after`, in ascending order. With `filter.newest`, returns jobs
    /// with numbers below `after`, in descending order.
    ///
    /// # Errors
    /// [`Refusal`].
    fn jobs(&self, who: &Who, filter: &Filter, after: Option<u64>, limit: usize) -> Result<Page<JobSummary>, Refusal>;

    /// Returns the details of one job.
    ///
    /// # Errors
    /// [`Refusal`].
    fn job(&self, who: &Who, job: JobNumber) -> Result<JobDetail, Refusal>;

    /// Returns up to `most` bytes of the output of a task, starting at byte `from`.
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

    /// Returns the past, present and planned tasks.
    fn picture(&self, who: &Who) -> Arc<Picture>;

    /// Explains why a job does not run now, and predicts its start.
    ///
    /// # Errors
    /// [`Refusal`].
    fn explain(&self, who: &Who, job: JobNumber) -> Result<Explanation, Refusal>;

    /// Predicts the effect of a submission without accepting it.
    ///
    /// # Errors
    /// [`Refusal`], for the reasons of [`Service::submit`], or if there is no plan yet.
    fn what_if(&self, who: &Who, submission: Submission) -> Result<WhatIf, Refusal>;

    /// Returns up to `limit` events with numbers above `after`, in order. A submitter receives only events of its own
    /// jobs.
    ///
    /// # Errors
    /// [`Refusal`].
    fn happenings(&self, who: &Who, after: u64, limit: usize) -> Result<Vec<Happening>, Refusal>;

    /// Returns the number of the latest event.
    fn latest(&self) -> u64;

    /// Blocks until an event newer than `after` exists, `timeout` expires or the service ends. Returns the number of
    /// the newest event.
    fn wait(&self, after: u64, timeout: Duration) -> u64;

    /// Divides the time from `start` to `end` into `spans` equal spans and summarises each span. For a submitter, the
    /// counts include only its own jobs, but the processor use includes all jobs.
    ///
    /// # Errors
    /// [`Refusal`].
    fn history(&self, who: &Who, start: f64, end: f64, spans: usize) -> Result<Vec<Span>, Refusal>;

    /// Returns the users. A submitter receives only its own entry.
    ///
    /// # Errors
    /// [`Refusal`].
    fn users(&self, who: &Who) -> Result<Vec<UserSummary>, Refusal>;

    /// Replaces the settings of a user. Only an admin may do this.
    ///
    /// # Errors
    /// [`Refusal`].
    fn set_user(&self, who: &Who, user: &str, settings: &UserSettings) -> Result<UserSummary, Refusal> {
        self.change_user(who, user, &settings.into())
    }

    /// Changes some settings of a user, and keeps the other settings. Only an admin may do this.
    ///
    /// # Errors
    /// [`Refusal`].
    fn change_user(&self, who: &Who, user: &str, change: &UserChange) -> Result<UserSummary, Refusal>;

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
