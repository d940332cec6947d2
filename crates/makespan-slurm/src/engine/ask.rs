//! Options of the engine: the allocations of the pilots, and the sizes of the pilots.

use std::path::PathBuf;
use std::time::Duration;

use crate::PlacedRequest;
use crate::batch::BatchSystem;

/// The number of nodes and the time limit of a pilot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PilotSize {
    /// Number of nodes.
    pub nodes: usize,
    /// Number of cores on each node. Pilots of Slurm have all cores of their nodes.
    pub cores: u32,
    /// Memory of each node in bytes, if stated. Pilots of Slurm have the memory of their nodes.
    pub memory: Option<u64>,
    /// Time limit in the format of `sbatch --time`. `None` means the default of the partition.
    pub time: Option<String>,
    /// Options of `sbatch` by which Slurm chooses nodes that fit the plan.
    pub placed: PlacedRequest,
}

impl PilotSize {
    fn hosts(&self) -> Vec<Option<String>> {
        let names = self.placed.names.iter().flatten().cloned().map(Some);
        names.chain(std::iter::repeat(None)).take(self.nodes).collect()
    }
}

/// The allocations in which pilots run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// An existing allocation.
    Here {
        /// The id of the job.
        job: u64,
        /// For each node of the plan, the name of the cluster node that serves it.
        nodes: Vec<String>,
        /// The names of the cluster nodes in `nodes` that are up.
        up: Vec<String>,
    },
    /// Jobs that the engine submits.
    Asked {
        /// One entry for each pilot.
        pilots: Vec<PilotSize>,
        /// Further options of `sbatch`, such as account and partition.
        options: Vec<String>,
        /// The name of the jobs in the queue.
        name: String,
    },
}

impl Allocation {
    /// Returns the number of nodes of each pilot.
    pub(super) fn sizes(&self) -> Vec<usize> {
        match self {
            Self::Here { nodes, .. } => vec![nodes.len()],
            Self::Asked { pilots, .. } => pilots.iter().map(|pilot| pilot.nodes).collect(),
        }
    }

    /// Returns, for each node of the plan, the name of the cluster node that must serve it. `None` means that any node
    /// of the pilot may serve it.
    pub(super) fn hosts(&self) -> Vec<Option<String>> {
        match self {
            Self::Here { nodes, .. } => nodes.iter().cloned().map(Some).collect(),
            Self::Asked { pilots, .. } => pilots.iter().flat_map(PilotSize::hosts).collect(),
        }
    }
}

/// The options of the engine.
#[derive(Clone, Debug)]
pub struct PilotOptions {
    /// The folder of the run, on a file system that all nodes share. The path is absolute.
    pub folder: PathBuf,
    /// The allocations in which the pilots run.
    pub allocation: Allocation,
    /// The batch system that runs the pilots.
    pub batch: BatchSystem,
    /// The path of this program on the nodes.
    pub program: PathBuf,
    /// Time between SIGTERM and SIGKILL for a task.
    pub grace: Duration,
}
