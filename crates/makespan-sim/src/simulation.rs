//! Result of a simulation.

use makespan_core::{TaskId, Trace, Unavailable};

/// What happened in virtual time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The executions, by their end. Each task that was not given up ends once; before that it may have been
    /// interrupted. A task that waits for one that did not succeed, or was given up, is
    /// [not started](makespan_core::Outcome::NotStarted) on no processors at that instant.
    pub trace: Trace,
    /// Tasks that the policy gave up, in this order.
    pub cancelled: Vec<TaskId>,
    /// When which processors were down, in the order in which they went down; what was not repaired is down for ever.
    pub down: Vec<Unavailable>,
    /// How many events the policy was told.
    pub events: u64,
    /// At how many instants.
    pub instants: u64,
    /// How often the estimated time of a task of which the policy had heard was replaced
    /// ([`SimulationOptions::estimation`](crate::SimulationOptions::estimation)).
    pub restated: u64,
}
