//! Asking for an end from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// A request to come to an end, shared by whoever may ask, such as a signal handler, and whoever should listen: a
/// scheduler that searches, or a run. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU32>);

impl Stop {
    /// Asks once more. Safe in a signal-handling thread.
    pub fn request(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// How often somebody has asked.
    pub fn requests(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// Whether somebody has asked.
    pub fn is_requested(&self) -> bool {
        self.requests() > 0
    }
}
