//! How a simulation is carried out.

use makespan_core::{Estimation, Failure, ProcSet, Stop, TaskId};

use crate::FailureModel;

/// What happens besides tasks and a policy.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// A task that really takes longer than its walltime is ended there
    /// ([`Outcome::TimedOut`](makespan_core::Outcome::TimedOut)). Otherwise walltimes are no limits.
    pub kill_at_walltime: bool,
    /// Processors that go down and up, in any order. They may overlap.
    pub failures: Vec<Failure>,
    /// Failures that are drawn while the simulation goes on, besides those of the list.
    pub failure_model: Option<FailureModel>,
    /// How often a task that was interrupted is queued again. Interrupted once more it has failed, with the status of
    /// a task that was killed: 137.
    pub requeues: u32,
    /// Replaces estimated times by what the tasks that have ended teach; without it they stay what they are.
    pub estimation: Option<Estimation>,
    /// Tasks that run already when the simulation begins, and where: they start at its first instant, at which they have to be
    /// released, and the policy sees them as running and hears of no submission.
    pub running: Vec<(TaskId, ProcSet)>,
    /// Ends the simulation with an error.
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
