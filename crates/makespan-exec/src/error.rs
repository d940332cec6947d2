//! Why a run could not be carried through.

use std::io;
use std::path::PathBuf;

use makespan_core::{ProcSet, Time};
use thiserror::Error;

use crate::journal::JournalError;

/// Why a run did not begin, or ended early.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// A job that cannot be executed.
    #[error("job `{0}` has no command; add one, such as command = [\"./solve\", \"--threads\", \"{{processors}}\"]")]
    NoCommand(String),
    /// A bag of several tasks, of which only jobs know when they end.
    #[error("job `{0}` is a bag of tasks; each task is executed as a job, which `Expansion::of` makes of it")]
    Bag(String),
    /// A graph of tasks, which this machine does not take apart.
    #[error("job `{0}` is a graph of tasks; only jobs of one task and bags are executed")]
    Compound(String),
    /// More processors than this process may use.
    #[error(
        "the platform has {processors} processors and this process may use {cores} cores; plan for {cores} processors, \
         or allow several processors a core (oversubscribe)"
    )]
    TooFewCores {
        /// Of the platform.
        processors: u32,
        /// Of this machine.
        cores: usize,
    },
    /// The machine does not say which cores there are.
    #[error("cannot find out which cores this process may use: {0}")]
    Cores(#[source] io::Error),
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
    /// The policy broke its contract; the jobs that ran were ended.
    #[error("defect of the policy: {0}; running jobs were ended, and the run can be resumed")]
    Policy(#[from] Defect),
}

/// What a policy decided against its contract.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Defect {
    /// A job that the instance does not have.
    #[error("it names job {0}, which the instance does not have")]
    UnknownJob(u32),
    /// A job that is not released yet, runs, has ended or was cancelled.
    #[error("it starts or cancels job `{0}`, which is not waiting")]
    NotWaiting(String),
    /// Processors beyond the platform.
    #[error("it starts job `{job}` on {processors}; processors run from 0 to {last}")]
    UnknownProcessors {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// The largest id.
        last: u32,
    },
    /// Processors that other jobs hold.
    #[error("it starts job `{job}` on {processors}, of which {busy} are busy")]
    Busy {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Those that are not free.
        busy: ProcSet,
    },
    /// Processors that are reserved or down.
    #[error("it starts job `{job}` on {processors}, of which {closed} are unavailable until {until} s")]
    Unavailable {
        /// The job.
        job: String,
        /// Where.
        processors: ProcSet,
        /// Those that are closed.
        closed: ProcSet,
        /// The end of the period.
        until: Time,
    },
    /// An allotment that the job does not accept.
    #[error("it starts job `{job}` on {allotment} processors; the job accepts {min} to {max}")]
    Allotment {
        /// The job.
        job: String,
        /// How many.
        allotment: u32,
        /// Fewest.
        min: u32,
        /// Most.
        max: u32,
    },
    /// Nothing runs, nothing will be released, and it asks for no wake-up.
    #[error("it leaves {waiting} jobs waiting for ever, `{example}` among them")]
    Stalled {
        /// How many.
        waiting: usize,
        /// One of them.
        example: String,
    },
}
