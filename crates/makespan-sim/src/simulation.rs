//! Result of a simulation.

use makespan_core::{TaskId, Trace, Unavailable};

/// The result of a simulation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Simulation {
    /// The executions, in the order of their ends. Each task that was not cancelled ends exactly once, possibly after
    /// several interruptions. If a predecessor of a task failed or was cancelled at an instant, the trace contains an
    /// entry for the task with the outcome [`NotStarted`](makespan_core::Outcome::NotStarted). This entry has no
    /// processors, and begins and ends at that instant.
    pub trace: Trace,
    /// Tasks that the policy cancelled, in the order of cancellation.
    pub cancelled: Vec<TaskId>,
    /// The periods in which processors were down, in the order of their beginnings. A failure that was not repaired
    /// lasts forever.
    pub down: Vec<Unavailable>,
    /// Number of events that the policy received.
    pub events: u64,
    /// Number of instants at which the policy was called.
    pub instants: u64,
    /// Number of times that the estimated time of a submitted task was replaced
    /// ([`SimulationOptions::estimation`](crate::SimulationOptions::estimation)).
    pub restated: u64,
}
