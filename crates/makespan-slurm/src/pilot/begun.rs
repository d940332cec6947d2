//! A running attempt of this agent.

use std::time::Instant;

use makespan_exec::order::AttemptOrder;

/// A running attempt that an agent has started.
#[derive(Debug)]
pub(super) struct BegunAttempt {
    pub id: String,
    pub order: AttemptOrder,
    pub since: Instant,
    /// Instant of the request to end the attempt.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}
