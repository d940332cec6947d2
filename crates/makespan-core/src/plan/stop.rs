//! Requests to stop from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A request to stop, shared between the requester, such as a signal handler, and the receiver: a scheduler that
/// searches, or a run. Clones share one request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU32>);

impl Stop {
    /// Requests a stop once more. Can be called in a signal-handling thread.
    pub fn request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of requests.
    pub fn requests(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns true if a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.requests() > 0
    }
}
