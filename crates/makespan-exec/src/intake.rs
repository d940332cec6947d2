//! Requests to a run while it is executed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Job, TaskId, Unavailable};

/// Adds jobs to a running run and cancels its tasks ([`crate::ExecuteOptions::intake`]). A run with an intake ends on request,
/// or when all its jobs have ended and the intake is closed.
///
/// Such a run begins with an instance that may have no jobs. To resume the run, the caller must pass all jobs ever
/// submitted, in the order of their submission, and possibly more. The journal lists the jobs that were accepted.
#[derive(Clone, Default)]
pub struct Intake(Arc<IntakeState>);

#[derive(Default)]
struct IntakeState {
    requests: Mutex<Vec<IntakeRequest>>,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// A request to a run.
#[derive(Clone, Debug)]
pub(crate) enum IntakeRequest {
    Append(Vec<Job>),
    Cancel(Vec<TaskId>),
    Withdraw(Vec<TaskId>),
    Announce(Vec<Unavailable>),
    Decide,
    Close,
    Leave,
}

impl Intake {
    /// Creates an intake without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function after each request. The function may, for example, end the wait of an engine ([`crate::Waker`]).
    pub fn on_request(&self, wake: impl Fn() + Send + 'static) {
        *self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
    }

    /// Adds these jobs after all earlier jobs. If one of these jobs is invalid, adds none of these jobs. The observer
    /// receives the new tasks or the reason for the rejection, in the order of submission ([`crate::Observer::grown`],
    /// [`crate::Observer::not_grown`]).
    pub fn append(&self, jobs: Vec<Job>) {
        self.ask(IntakeRequest::Append(jobs));
    }

    /// Cancels tasks. Running tasks are ended and count as failed. Waiting tasks do not start. Tasks that have ended do not
    /// change.
    pub fn cancel(&self, tasks: Vec<TaskId>) {
        self.ask(IntakeRequest::Cancel(tasks));
    }

    /// Withdraws these tasks if none of them has begun. If one has begun, withdraws none. The observer receives the
    /// result ([`crate::Observer::withdrawn`]).
    pub fn withdraw(&self, tasks: Vec<TaskId>) {
        self.ask(IntakeRequest::Withdraw(tasks));
    }

    /// Announces periods in which processors must not be used. The periods replace all earlier announcements
    /// ([`makespan_core::Cluster::announce`]).
    pub fn announce(&self, periods: Vec<Unavailable>) {
        self.ask(IntakeRequest::Announce(periods));
    }

    /// Calls the policy soon, for example because its rules have changed.
    pub fn decide(&self) {
        self.ask(IntakeRequest::Decide);
    }

    /// States that no more jobs will arrive. The run ends when all its jobs have ended.
    pub fn close(&self) {
        self.ask(IntakeRequest::Close);
    }

    /// Ends the session. Running tasks continue, and the session that resumes the run takes them over.
    pub fn leave(&self) {
        self.ask(IntakeRequest::Leave);
    }

    fn ask(&self, request: IntakeRequest) {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if let Some(wake) = &*self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<IntakeRequest> {
        std::mem::take(&mut *self.0.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Intake")
    }
}
