//! Requests to a run that is in progress.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Job, TaskId, Unavailable};

/// Channel through which jobs are added to a run in progress ([`crate::ExecuteOptions::intake`]). Such a run ends only on request.
///
/// The initial instance of such a run may have no jobs. To resume the run, submit all its earlier jobs in their order, and
/// optionally more. The journal records which of them had been added.
#[derive(Clone, Default)]
pub struct Intake(Arc<Shared>);

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// A request to a run.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Append(Vec<Job>),
    Cancel(Vec<TaskId>),
    Withdraw(Vec<TaskId>),
    Announce(Vec<Unavailable>),
    Leave,
}

impl Intake {
    /// Creates a channel without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Registers a function that is called after each request, such as one that ends the wait of an engine ([`crate::Waker`]).
    pub fn on_request(&self, wake: impl Fn() + Send + 'static) {
        *self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
    }

    /// Appends jobs, all or none. The observer receives the range of the new tasks or the reason for the rejection
    /// ([`crate::Observer::grown`], [`crate::Observer::not_grown`]), in the order of the calls.
    pub fn append(&self, jobs: Vec<Job>) {
        self.ask(Request::Append(jobs));
    }

    /// Cancels tasks: running tasks are ended and fail, and waiting tasks do not start. Finished tasks are not affected.
    pub fn cancel(&self, tasks: Vec<TaskId>) {
        self.ask(Request::Cancel(tasks));
    }

    /// Withdraws tasks if none of them has started. Otherwise all of them remain. The observer receives the result
    /// ([`crate::Observer::withdrawn`]).
    pub fn withdraw(&self, tasks: Vec<TaskId>) {
        self.ask(Request::Withdraw(tasks));
    }

    /// Announces the periods in which processors will be unavailable. They replace all periods announced before
    /// ([`makespan_core::Cluster::announce`]).
    pub fn announce(&self, periods: Vec<Unavailable>) {
        self.ask(Request::Announce(periods));
    }

    /// Ends the session. Running tasks continue, and the session that resumes the run takes them over.
    pub fn leave(&self) {
        self.ask(Request::Leave);
    }

    fn ask(&self, request: Request) {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if let Some(wake) = &*self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.0.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Intake")
    }
}
