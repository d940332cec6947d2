//! Why a cluster makes no platform.

use makespan_core::{PlatformError, ResourceError};
use thiserror::Error;

use crate::command::CommandError;

/// Why there is no platform, and what helps.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MachinesError {
    /// Slurm gave no answer.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// A partition that does not exist, or that this user may not see.
    #[error("there is no partition `{name}`; the cluster has {known}")]
    NoPartition {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// Several partitions, and nobody says which.
    #[error("the cluster has no default partition; name one of {known}, such as --from slurm:NAME")]
    NoDefault {
        /// What there is.
        known: String,
    },
    /// No node takes jobs.
    #[error(
        "{place} has no node that takes jobs: {why}; `sinfo -R` says why nodes are away; choose another partition or wait"
    )]
    NoNodes {
        /// Which partition or job.
        place: String,
        /// Why.
        why: String,
    },
    /// A job that is not there.
    #[error(
        "there is no job {0}; it has ended, or it belongs to another cluster; unset SLURM_JOB_ID to look at the whole cluster"
    )]
    NoJob(u64),
    /// A job that has no nodes.
    #[error(
        "job {id} holds no nodes: it is {state}{reason}; wait until it runs, or unset SLURM_JOB_ID to look at the whole cluster"
    )]
    HoldsNothing {
        /// Which.
        id: u64,
        /// Its state.
        state: String,
        /// Its reason in parentheses.
        reason: String,
    },
    /// The number of a job that is none.
    #[error("SLURM_JOB_ID is `{0}`, which is no number of a job; unset it to look at the whole cluster")]
    JobNumber(String),
    /// Amounts that cannot be counted.
    #[error("node `{node}`: {error}")]
    Resources {
        /// Which.
        node: String,
        /// What is wrong.
        error: ResourceError,
    },
    /// Nodes that make no platform.
    #[error("{place} as a platform: {error}")]
    Platform {
        /// Which partition or job.
        place: String,
        /// What is wrong.
        error: PlatformError,
    },
}
