//! An attempt that runs under an agent.

use std::time::Instant;

use super::order::Order;

/// An attempt that runs under an agent.
#[derive(Debug)]
pub(super) struct Begun {
    pub id: String,
    pub order: Order,
    pub since: Instant,
    /// When it was asked to end.
    pub asked: Option<Instant>,
    pub timed_out: bool,
}
