//! The request of a job.

use makespan_core::Need;

use super::node_request::NodeRequest;

/// The memory that a job requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Memory {
    /// Bytes per processor.
    PerCpu(u64),
    /// Bytes per node.
    PerNode(u64),
    /// All memory of the nodes.
    Whole,
}

/// The request of a job in one partition. Equal requests share one index in [`super::ClusterModel::shapes`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PartitionRequest {
    /// The index in [`super::ClusterModel::sets`] of the nodes that the job may use.
    pub set: usize,
    /// The index in [`super::ClusterModel::sets`] of the nodes that Slurm tests when it plans the job. These nodes include
    /// the nodes of `set`, and more nodes if the job names the nodes on which it runs.
    pub tested: usize,
    /// The index in [`super::ClusterModel::counted`] of the conditions on some of the job's nodes.
    pub counted: Option<usize>,
    /// Minimum number of nodes.
    pub min_nodes: u32,
    /// Maximum number of nodes, if there is a limit.
    pub max_nodes: Option<u32>,
    /// True if the job accepts a range of nodes, and gets as many nodes as possible.
    pub takes_all: bool,
    /// Total number of processors.
    pub cpus: u64,
    /// Minimum number of processors on each node.
    pub per_node: u32,
    /// Maximum number of processors on each node.
    pub most_per_node: u32,
    /// The requested memory. `None` if the cluster does not allocate memory.
    pub memory: Option<Memory>,
    /// For each generic resource, the suitable kinds and the amount per node.
    pub gres: Vec<(Vec<usize>, u64)>,
    /// For each resource that nodes provide in proportion to the job's processors there, its kind and the need.
    pub shares: Vec<(usize, Need)>,
    /// True if the job shares its nodes with no other job.
    pub whole: bool,
    /// The index of the reservation in which the job must run.
    pub reservation: Option<usize>,
    /// Time for which the nodes must be free for the job.
    pub lasts: i64,
}

impl PartitionRequest {
    /// Returns the minimum number of processors per node.
    pub fn cpus_of_node(&self) -> u32 {
        self.per_node.max(1)
    }

    /// Returns the maximum number of nodes. If there is no limit, returns `usize::MAX`.
    pub fn most_nodes(&self) -> usize {
        self.max_nodes.map_or(usize::MAX, |most| most as usize)
    }

    /// Returns true if the job may need more processors in total than this product: its minimum number of nodes, times
    /// its minimum number of processors per node.
    pub fn needs_more_together(&self) -> bool {
        self.cpus > u64::from(self.cpus_of_node()) * u64::from(self.min_nodes.max(1))
    }

    /// Returns the minimum memory per node.
    fn memory_of_node(&self) -> u64 {
        match self.memory {
            Some(Memory::PerCpu(bytes)) => bytes.saturating_mul(self.cpus_of_node().into()),
            Some(Memory::PerNode(bytes)) => bytes,
            Some(Memory::Whole) | None => 0,
        }
    }

    /// Returns the number of processors that a node can provide if it has this number of free processors and, of each
    /// shared resource, the amount `free`.
    pub(super) fn with_shares(&self, cpus: u32, free: impl Fn(usize) -> u64) -> u32 {
        let all = u32::try_from(self.cpus).unwrap_or(u32::MAX).max(1);
        self.shares.iter().fold(cpus.min(self.most_per_node), |cpus, (kind, need)| match cpus {
            0 => 0,
            cpus => need.fitting(free(*kind), cpus, all),
        })
    }

    /// Returns the request for nodes and processors.
    pub(super) fn nodes(&self) -> NodeRequest {
        NodeRequest {
            nodes: (self.min_nodes as usize, self.most_nodes()),
            takes_all: self.takes_all,
            processors: self.cpus,
            per_node: self.cpus_of_node(),
        }
    }

    /// Returns the request for a single node.
    pub fn of_node(&self) -> Self {
        Self { counted: None, min_nodes: 0, max_nodes: None, takes_all: false, cpus: 0, lasts: 0, ..self.clone() }
    }
}

/// The amounts per node that jobs request, in ascending order, called levels. A site reaches a level if its free
/// amount is at least the level. Sites are grouped by the highest level that they reach.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// Processors. The first level is one.
    pub cpus: Vec<u32>,
    /// Bytes of memory. The first level is zero.
    pub memory: Vec<u64>,
}

/// Maximum number of levels. With more levels, updating the groups would take more time than the smaller groups save.
const MAX_LEVELS: usize = 16;

impl Levels {
    /// Returns the levels of some requests.
    pub(super) fn of(shapes: &[PartitionRequest]) -> Self {
        let cpus = shapes.iter().map(PartitionRequest::cpus_of_node).chain([1]).collect();
        let memory = shapes.iter().map(PartitionRequest::memory_of_node).chain([0]).collect();
        Self { cpus: thinned(cpus), memory: thinned(memory) }
    }

    /// Returns the highest level of processors, and the highest level of memory, that a site must reach to fit the
    /// shape.
    pub(super) fn reached_for(&self, shape: &PartitionRequest) -> (usize, usize) {
        let (cpus, memory) = (shape.cpus_of_node(), shape.memory_of_node());
        let below = |reached: usize| reached.saturating_sub(1);
        (
            below(self.cpus.partition_point(|&level| level <= cpus)),
            below(self.memory.partition_point(|&level| level <= memory)),
        )
    }
}

/// Returns the sorted values without duplicates. If there are more than `MAX_LEVELS`, keeps an even selection that
/// includes the smallest value.
fn thinned<T: Ord + Copy>(mut levels: Vec<T>) -> Vec<T> {
    levels.sort_unstable();
    levels.dedup();
    let step = levels.len().div_ceil(MAX_LEVELS).max(1);
    levels.into_iter().step_by(step).collect()
}
