//! Why there is no trace.

use makespan_core::{Defect, InstanceError, Time};
use thiserror::Error;

/// Why a simulation did not begin, or ended early. Times are in seconds.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SimulationError {
    /// Too many tasks, or two of one name.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// Not one real profile for each task.
    #[error("there are {tasks} tasks and the real times of {profiles}; there must be as many")]
    Profiles {
        /// Of the instance.
        tasks: u64,
        /// Of the real times.
        profiles: usize,
    },
    /// A task whose real times lack allotments.
    #[error("job `{job}` accepts {min} to {max} processors; its real times are known on {from} to {to}")]
    RealTimes {
        /// The task.
        job: String,
        /// Fewest accepted.
        min: u32,
        /// Most accepted.
        max: u32,
        /// Fewest known.
        from: u32,
        /// Most known.
        to: u32,
    },
    /// A machine on which a task can run, and nobody knows how long.
    #[error("job `{job}` can run on node `{node}`; its real time there is not known")]
    RealMachine {
        /// The task.
        job: String,
        /// The node.
        node: String,
    },
    /// A failure that names no processors of the platform, or ends before it begins.
    #[error("failure {index}: it must name processors from 0 to {last}, and go up after it went down")]
    Failure {
        /// Position in the list.
        index: usize,
        /// The largest id.
        last: u32,
    },
    /// Real times whose sum does not fit.
    #[error("job `{0}` would end after more than 292 years; check the unit of the real times")]
    TooLong(String),
    /// The policy broke its contract.
    #[error("defect of the policy at {at} s: {defect}")]
    Policy {
        /// When.
        at: Time,
        /// What it did.
        #[source]
        defect: Defect,
    },
    /// Somebody asked for an end.
    #[error("the simulation was stopped at {at} s, when {ended} of {tasks} jobs had ended")]
    Stopped {
        /// When in virtual time.
        at: Time,
        /// How many tasks had ended.
        ended: usize,
        /// How many there are.
        tasks: usize,
    },
}
