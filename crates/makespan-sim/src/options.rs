//! Options of a simulation.

use makespan_core::{Estimation, Failure, ProcSet, Stop, TaskId};

use crate::FailureModel;

/// The options of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationOptions {
    /// True if a task with a real time above its walltime is terminated at the walltime
    /// ([`Outcome::TimedOut`](makespan_core::Outcome::TimedOut)). If false, walltimes do not limit real times.
    pub kill_at_walltime: bool,
    /// A list of failures in any order. Failures may overlap.
    pub failures: Vec<Failure>,
    /// Failures that are drawn during the simulation, in addition to `failures`.
    pub failure_model: Option<FailureModel>,
    /// Maximum number of times that an interrupted task is queued again. If it is interrupted once more, it fails with
    /// 137, the exit status of a killed task.
    pub requeues: u32,
    /// The method that replaces estimated times by times learned from ended tasks. If `None`, estimates do not change.
    pub estimation: Option<Estimation>,
    /// Tasks that already run when the simulation begins, each with its processors. These tasks must be released at
    /// the first instant of the simulation, and start at this instant. The policy sees them as running and receives no
    /// event of their submission.
    pub running: Vec<(TaskId, ProcSet)>,
    /// A request to stop. When the request is set, the simulation ends with an error.
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
