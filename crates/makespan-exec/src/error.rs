//! Why a run could not be carried through.

use std::io;
use std::path::PathBuf;

use makespan_core::{Defect, InstanceError, counted};
use thiserror::Error;

use crate::journal::JournalError;

/// Why a run did not begin, or ended early.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// A task that cannot be executed.
    #[error("job `{0}` has no command; add one, such as command = [\"./solve\", \"--threads\", \"{{processors}}\"]")]
    NoCommand(String),
    /// Too many tasks, or two of one name.
    #[error(transparent)]
    Instance(#[from] InstanceError),
    /// More processors than this process may use.
    #[error(
        "the platform has {}, but this process may use only {}; plan for {cores}, or allow several processors a core (oversubscribe)",
        counted(.processors, "processor"),
        counted(.cores, "core")
    )]
    TooFewCores {
        /// Of the platform.
        processors: u32,
        /// Of this machine.
        cores: usize,
    },
    /// More memory than this process may use.
    #[error(
        "the platform states {stated} of memory and this process may use {there}; state at most that, or allow more than there \
         is (oversubscribe)"
    )]
    TooLittleMemory {
        /// Of the platform.
        stated: String,
        /// Of this machine.
        there: String,
    },
    /// More GPUs than this process may use.
    #[error(
        "the platform states {gpus} GPUs and this process may use {there}, as {source_of} tells; state at most as many, or allow \
         several jobs a GPU (oversubscribe)"
    )]
    TooFewGpus {
        /// Of the platform.
        gpus: u128,
        /// Of this machine.
        there: usize,
        /// Who says so.
        source_of: &'static str,
    },
    /// More GPUs than are given out.
    #[error("the platform states {gpus} GPUs; at most {most} are given out")]
    TooManyGpus {
        /// Of the platform.
        gpus: u128,
        /// How many there may be.
        most: u128,
    },
    /// The memory of jobs cannot be limited.
    #[error(
        "the memory of jobs cannot be limited: {0}; leave --limit-memory out, or make the memory controller available"
    )]
    NoMemoryLimit(String),
    /// The machine does not say which cores there are.
    #[error("cannot find out which cores this process may use: {0}")]
    Cores(#[source] io::Error),
    /// Tasks of an earlier session may still run where this one cannot see to them.
    #[error("{0}")]
    Elsewhere(String),
    /// The folder of the run.
    #[error("{path}: {source}; the folder of a run must be writable")]
    Folder {
        /// Which file or folder.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The policy broke its contract; the tasks that ran were ended.
    #[error("defect of the policy: {0}; running jobs were ended, and the run can be resumed")]
    Policy(#[from] Defect),
}
