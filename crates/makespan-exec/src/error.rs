//! Errors of a run.

use std::io;
use std::path::PathBuf;

use makespan_core::{Defect, InstanceError, counted};
use thiserror::Error;

use crate::journal::JournalError;

/// The reason why a run did not begin, or ended early.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// The task with this name has no command.
    #[error(
        "job `{0}` has no command; add a command, such as command = [\"./solve\", \"--threads\", \"{{processors}}\"]"
    )]
    NoCommand(String),
    /// The task with this name must start together with the other tasks of its gang.
    #[error(
        "job `{0}` belongs to a gang, but only `plan` and `simulate` support gangs; remove the key `gang`, or make one \
         job of the tasks of the gang"
    )]
    Gang(String),
    /// The job with this name has a hard deadline, which a run cannot guarantee.
    #[error(
        "job `{0}` states `must_end_by`, but only `plan` keeps such deadlines, because jobs may take longer than \
         planned; write `deadline` (a due date) instead"
    )]
    HardDeadline(String),
    /// The platform has setup times.
    #[error("the platform states `setups`, but only `plan` supports setup times; remove `setups`")]
    Setups,
    /// The start of the task with this name depends on the start of another task.
    #[error(
        "job `{0}` has a time lag to the start of another job, but only `plan` keeps time lags; remove the key `lags`, or let \
         the command of the job wait"
    )]
    Lag(String),
    /// There are too many tasks, or two tasks have the same name.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// The platform has more processors than there are cores that this process may use.
    #[error(
        "the platform has {}, but this process may use only {}; plan for {cores} processors, or allow several \
         processors per core (oversubscribe)",
        counted(.processors, "processor"),
        counted(.cores, "core")
    )]
    TooFewCores {
        /// Number of processors of the platform.
        processors: u32,
        /// Number of cores that this process may use.
        cores: usize,
    },
    /// The platform states more memory than this process may use.
    #[error(
        "the platform states {stated} of memory, but this process may use only {there}; state at most {there}, or \
         allow more memory than there is (oversubscribe)"
    )]
    TooLittleMemory {
        /// Memory of the platform.
        stated: String,
        /// Memory that this process may use.
        there: String,
    },
    /// The platform states more GPUs than this process may use.
    #[error(
        "the platform states {gpus} GPUs, but this process may use only {there} (source: {source_of}); state at most \
         {there}, or allow several jobs per GPU (oversubscribe)"
    )]
    TooFewGpus {
        /// Number of GPUs of the platform.
        gpus: u128,
        /// Number of GPUs that this process may use.
        there: usize,
        /// The source of the number of GPUs.
        source_of: &'static str,
    },
    /// The platform states more GPUs than a run supports.
    #[error("the platform states {gpus} GPUs; at most {most} are supported")]
    TooManyGpus {
        /// Number of GPUs of the platform.
        gpus: u128,
        /// Maximum number of GPUs.
        most: u128,
    },
    /// The memory of jobs cannot be limited.
    #[error(
        "the memory of jobs cannot be limited: {0}; remove --limit-memory, or make the cgroup memory controller \
         available"
    )]
    NoMemoryLimit(String),
    /// Jobs cannot use a jobserver.
    #[error("the jobserver cannot be used: {0}")]
    NoJobserver(String),
    /// The cores of this machine cannot be determined.
    #[error("cannot find out which cores this process may use: {0}")]
    Cores(#[source] io::Error),
    /// Tasks of an earlier session may still run on a machine that this session cannot control.
    #[error("{0}")]
    Elsewhere(String),
    /// The machines of the run cannot be requested.
    #[error("{0}")]
    NoMachines(String),
    /// A file or folder of the run cannot be used.
    #[error("{path}: {source}; the folder of a run must be writable")]
    Folder {
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The policy violated its contract, so the running tasks were ended.
    #[error("defect of the policy: {0}; running jobs were ended, and the run can be resumed")]
    Policy(#[from] Defect),
}
