//! A running attempt that an agent has started.

use std::time::Instant;

use super::order::Order;

/// A running attempt that an agent has started.
#[derive(Debug)]
pub(super) struct Begun {
    pub id: String,
    pub order: Order,
    pub since: Instant,
    /// Time at which the attempt was asked to end.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}
