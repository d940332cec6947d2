//! Options of a simulation.

use makespan_core::{Estimation, Failure, ProcSet, Stop, TaskId};

use crate::FailureModel;

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// If true, a task that really takes longer than its walltime is ended at the walltime
    /// ([`Outcome::TimedOut`](makespan_core::Outcome::TimedOut)). Otherwise walltimes are not limits.
    pub kill_at_walltime: bool,
    /// Processors that go down and up, in any order. Failures may overlap.
    pub failures: Vec<Failure>,
    /// Failures that are drawn during the simulation, in addition to the list.
    pub failure_model: Option<FailureModel>,
    /// Maximum number of times that an interrupted task is queued again. If it is interrupted once more, it has failed
    /// with the status of a killed task, 137.
    pub requeues: u32,
    /// Replaces estimated times by times learned from ended tasks. If `None`, estimates do not change.
    pub estimation: Option<Estimation>,
    /// Tasks that already run when the simulation begins, with their processors. They must be released at the first
    /// instant, at which they start. The policy sees them as running and receives no event of their submission.
    pub running: Vec<(TaskId, ProcSet)>,
    /// Ends the simulation with an error when requested.
    pub stop: Stop,
}

impl Default for SimulationOptions {
    fn default() -> Self {
        Self {
            kill_at_walltime: false,
            failures: Vec::new(),
            failure_model: None,
            requeues: 1000,
            estimation: None,
            running: Vec::new(),
            stop: Stop::default(),
        }
    }
}
