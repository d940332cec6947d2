//! Requests to stop a search or a run, made by other threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A request to stop. The requester (such as a signal handler) and the receiver (a run, or a scheduler that searches)
/// share the request. All clones are one request.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU32>);

impl Stop {
    /// Adds one request to stop. This function can be called in a thread that handles signals.
    pub fn request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of requests that were made.
    pub fn requests(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Returns true if a stop was requested.
    pub fn is_requested(&self) -> bool {
        self.requests() > 0
    }
}
