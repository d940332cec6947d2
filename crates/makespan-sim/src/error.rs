//! Errors of simulations.

use makespan_core::{Defect, InstanceError, Time};
use thiserror::Error;

/// The reason why a simulation did not begin or ended early. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// The instance has too many tasks, or two tasks have equal names.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The number of real profiles differs from the number of tasks.
    #[error("there are {tasks} tasks, but real times for {profiles}; give real times for each task")]
    Profiles {
        /// Number of tasks of the instance.
        tasks: u64,
        /// Number of real profiles.
        profiles: usize,
    },
    /// The real times of a task are missing for some allotments that the task accepts.
    #[error("job `{job}` accepts {min} to {max} processors, but has real times only on {from} to {to}")]
    RealTimes {
        /// The name of the task.
        job: String,
        /// Minimum accepted number of processors.
        min: u32,
        /// Maximum accepted number of processors.
        max: u32,
        /// Minimum number of processors with a real time.
        from: u32,
        /// Maximum number of processors with a real time.
        to: u32,
    },
    /// A task can run on a machine for which it has no real time.
    #[error("job `{job}` can run on node `{node}`, but its real time there is unknown")]
    RealMachine {
        /// The name of the task.
        job: String,
        /// The name of the node.
        node: String,
    },
    /// A failure has no processors, has processors that the platform does not have, or ends before it begins.
    #[error("failure {index}: its processors must be from 0 to {last}, and its end must be after its start")]
    Failure {
        /// Position of the failure in the list, counted from 0.
        index: usize,
        /// The largest processor id of the platform.
        last: u32,
    },
    /// The real time of a task is too long: the end of the task would not be a valid time.
    #[error("job `{0}` would end after more than 292 years; check the unit of the real times")]
    TooLong(String),
    /// The policy violated its contract.
    #[error("defect of the policy at {at} s: {defect}")]
    Policy {
        /// The instant at which the policy violated its contract.
        at: Time,
        /// The rule that the policy violated.
        #[source]
        defect: Defect,
    },
    /// The simulation was stopped on request.
    #[error("the simulation was stopped at {at} s, when {ended} of {tasks} jobs had ended")]
    Stopped {
        /// The instant in virtual time at which the simulation was stopped.
        at: Time,
        /// Number of tasks that had ended.
        ended: usize,
        /// Number of all tasks of the instance.
        tasks: usize,
    },
}
