//! What comes to a run while it goes on.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use makespan_core::{Job, TaskId, Unavailable};

/// Where jobs come in while a run goes on ([`crate::ExecuteOptions::intake`]). Such a run ends when it is told to.
///
/// A run that grows begins with an instance that may have no jobs. One that is resumed is given all jobs that were ever handed in, in
/// this order, and perhaps more; its journal knows those that it had taken in.
#[derive(Clone, Default)]
pub struct Intake(Arc<Shared>);

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<Request>>,
    wake: Mutex<Option<Box<dyn Fn() + Send>>>,
}

/// What is asked of a run.
#[derive(Clone, Debug)]
pub(crate) enum Request {
    Append(Vec<Job>),
    Cancel(Vec<TaskId>),
    Withdraw(Vec<TaskId>),
    Announce(Vec<Unavailable>),
    Leave,
}

impl Intake {
    /// Nobody has asked for anything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a function whenever there is something to do, such as one that ends the wait of an engine ([`crate::Waker`]).
    pub fn on_request(&self, wake: impl Fn() + Send + 'static) {
        *self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(wake));
    }

    /// Adds jobs behind all that came before, all or none: the observer hears which tasks they are, or why they were not taken
    /// ([`crate::Observer::grown`], [`crate::Observer::not_grown`]), in the order in which they were handed in.
    pub fn append(&self, jobs: Vec<Job>) {
        self.ask(Request::Append(jobs));
    }

    /// Takes tasks back: those that run are ended and have failed, the others do not start. Those that have ended stay as they are.
    pub fn cancel(&self, tasks: Vec<TaskId>) {
        self.ask(Request::Cancel(tasks));
    }

    /// Takes tasks back if none of them has begun, all or none. The observer hears which it was ([`crate::Observer::withdrawn`]).
    pub fn withdraw(&self, tasks: Vec<TaskId>) {
        self.ask(Request::Withdraw(tasks));
    }

    /// Makes known when processors are to be left alone, in the place of what was said before ([`makespan_core::Cluster::announce`]).
    pub fn announce(&self, periods: Vec<Unavailable>) {
        self.ask(Request::Announce(periods));
    }

    /// Ends the session. What runs goes on, and the session that resumes the run takes it over.
    pub fn leave(&self) {
        self.ask(Request::Leave);
    }

    fn ask(&self, request: Request) {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        if let Some(wake) = &*self.0.wake.lock().unwrap_or_else(PoisonError::into_inner) {
            wake();
        }
    }

    /// What was asked for since the last time.
    pub(crate) fn take(&self) -> Vec<Request> {
        std::mem::take(&mut *self.0.requests.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Intake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Intake")
    }
}
