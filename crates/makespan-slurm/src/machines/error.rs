//! Errors of the description of a cluster as a platform.

use makespan_core::{PlatformError, ResourceError};
use thiserror::Error;

use crate::command::CommandError;

/// The reason why a cluster cannot become a platform, with a remedy.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MachinesError {
    /// Slurm gave no answer.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The partition does not exist, or this user cannot see it.
    #[error("there is no partition `{name}`; the cluster has {known}")]
    NoPartition {
        /// The requested partition.
        name: String,
        /// The existing partitions.
        known: String,
    },
    /// There are several partitions, and no default.
    #[error("the cluster has no default partition; choose one of {known}, for example with --from slurm:NAME")]
    NoDefault {
        /// The existing partitions.
        known: String,
    },
    /// No node accepts jobs.
    #[error(
        "{place} has no node that accepts jobs: {why}; `sinfo -R` shows why nodes are unavailable; choose another \
         partition, or wait"
    )]
    NoNodes {
        /// The partition or the job.
        place: String,
        /// The reason.
        why: String,
    },
    /// The job does not exist.
    #[error(
        "there is no job {0}: it has ended, or it belongs to another cluster; unset SLURM_JOB_ID to use the whole cluster"
    )]
    NoJob(u64),
    /// The job has no nodes.
    #[error(
        "job {id} holds no nodes: it is {state}{reason}; wait until the job runs, or unset SLURM_JOB_ID to use the \
         whole cluster"
    )]
    HoldsNothing {
        /// The id of the job.
        id: u64,
        /// The state of the job.
        state: String,
        /// The reason for the state, in parentheses. Empty if there is none.
        reason: String,
    },
    /// The text is not a job id.
    #[error("SLURM_JOB_ID is `{0}`, which is not a job number; unset this variable to use the whole cluster")]
    JobNumber(String),
    /// The resources of a node are invalid.
    #[error("node `{node}`: {error}")]
    Resources {
        /// The name of the node.
        node: String,
        /// The problem.
        error: ResourceError,
    },
    /// An option of `sbatch` cannot be parsed.
    #[error("{option}: {problem}")]
    Option {
        /// The option as given.
        option: String,
        /// The problem.
        problem: String,
    },
    /// The run sets this option of `sbatch` itself.
    #[error("the run itself sets the sbatch option {option}; {instead}")]
    OwnOption {
        /// The option.
        option: String,
        /// The alternative.
        instead: String,
    },
    /// The pilots together request more nodes than are available.
    #[error(
        "{asked} nodes are requested at the same time, but {place} has only {there} nodes that accept jobs with these \
         options; request fewer nodes{}", because(.why)
    )]
    TooFew {
        /// The partition.
        place: String,
        /// The number of nodes of all pilots together.
        asked: usize,
        /// The number of nodes that are available.
        there: usize,
        /// The reason why there are so few nodes, if known.
        why: String,
    },
    /// A pilot requests more nodes than a job may have.
    #[error(
        "a pilot of {asked} nodes is requested, but a job in the partition `{partition}` may have at most {most}; \
         request fewer nodes, or several pilots, such as --pilots 2x{most}nodes"
    )]
    MaxNodes {
        /// The partition.
        partition: String,
        /// The number of nodes of one pilot.
        asked: usize,
        /// The maximum number of nodes of a job.
        most: u64,
    },
    /// The plan is for another number of nodes.
    #[error(
        "the run began with {planned} nodes, but the pilots have {there} nodes in total, and the number of nodes of a \
         run cannot change; request {planned} nodes, or pilots of one node that start independently: --pilots \
         {planned}x1nodes"
    )]
    Sizes {
        /// The number of nodes in the plan.
        planned: usize,
        /// The number of nodes of the pilots.
        there: usize,
    },
    /// The plan needs nodes that are not available.
    #[error(
        "the run is planned for {asked} {} {node}, but {place} has only {there}; continue on a cluster with such \
         nodes, or begin a new run in another folder", if *.asked == 1 { "node" } else { "nodes" }
    )]
    NoSuchNodes {
        /// The partition or the job.
        place: String,
        /// The number of nodes that are needed.
        asked: usize,
        /// The number of nodes that are available.
        there: usize,
        /// The kind of node that is needed.
        node: String,
    },
    /// The nodes cannot form a platform.
    #[error("{place} cannot be used as a platform: {error}")]
    Platform {
        /// The partition or the job.
        place: String,
        /// The problem.
        error: PlatformError,
    },
}

/// Formats a reason in parentheses.
fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}
