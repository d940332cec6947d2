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
    /// An option of `sbatch` that cannot be understood.
    #[error("{option}: {problem}")]
    Option {
        /// As it was given.
        option: String,
        /// What is wrong.
        problem: String,
    },
    /// An option of `sbatch` that runs give themselves.
    #[error("{option} is given to sbatch by the run itself; write {instead}")]
    OwnOption {
        /// Which.
        option: String,
        /// What helps.
        instead: String,
    },
    /// More nodes than there are.
    #[error("{asked} nodes are asked for at once, and {place} has {there} that take jobs with these options; ask for fewer nodes{}", because(.why))]
    TooFew {
        /// Which partition.
        place: String,
        /// Of all pilots together.
        asked: usize,
        /// That may be given.
        there: usize,
        /// Why there are so few, if anything is known.
        why: String,
    },
    /// More nodes than a job may have.
    #[error(
        "a pilot is to have {asked} nodes, and a job in the partition `{partition}` may have at most {most}; ask for fewer nodes, or \
         for several pilots, such as --pilots 2x{most}nodes"
    )]
    MaxNodes {
        /// Which.
        partition: String,
        /// Of one pilot.
        asked: usize,
        /// The limit.
        most: u64,
    },
    /// A plan for another number of nodes.
    #[error(
        "the plan is for {planned} nodes, and the pilots have {there} together: a run keeps the nodes that it began with; ask for as many, or, \
         where not all can be had at once, for single ones that come as they can: --pilots {planned}x1nodes"
    )]
    Sizes {
        /// Of the plan.
        planned: usize,
        /// Of the pilots.
        there: usize,
    },
    /// A plan for nodes that are not to be had.
    #[error(
        "the run is planned for {asked} {} {node}, and {place} has {there}; go on where there are such nodes, or begin a new run in \
         another folder", if *.asked == 1 { "node" } else { "nodes" }
    )]
    NoSuchNodes {
        /// Which partition or job.
        place: String,
        /// How many are needed.
        asked: usize,
        /// How many there are.
        there: usize,
        /// What is needed.
        node: String,
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

/// What is known of a reason.
fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(" ({why})") }
}
