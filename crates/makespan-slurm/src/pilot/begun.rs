//! A running attempt of this agent.

use std::time::Instant;

use super::order::Order;

/// A running attempt that an agent has started.
#[derive(Debug)]
pub(super) struct Begun {
    pub id: String,
    pub order: Order,
    pub since: Instant,
    /// Instant of the request to end the attempt.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}
