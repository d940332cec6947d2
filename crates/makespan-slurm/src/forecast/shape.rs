//! What a job asks for.

use crate::queue::Memory;

/// What a job asks for in one partition, the same for all jobs that ask for the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Which set of nodes.
    pub set: usize,
    /// Which way to satisfy features of which so many nodes have to have some.
    pub counted: Option<usize>,
    pub min_nodes: u32,
    /// Nodes at most, if there is a limit.
    pub max_nodes: Option<u32>,
    pub cpus: u64,
    pub per_node: u32,
    pub memory: Option<Memory>,
    /// Kinds of a generic resource any of which will do, and how many on each node.
    pub gres: Vec<(Vec<usize>, u32)>,
    pub whole: bool,
    pub reservation: Option<usize>,
    /// Seconds for which its nodes have to be free.
    pub lasts: i64,
}

impl Shape {
    /// Processors that it needs at least of each node.
    pub(super) fn cpus_of_node(&self) -> u32 {
        self.per_node.max(1)
    }

    /// Nodes at most; all there can be where there is no limit.
    pub(super) fn most_nodes(&self) -> usize {
        self.max_nodes.map_or(usize::MAX, |most| most as usize)
    }

    /// Whether it asks for more processors together than the least of each of its nodes, so that these alone may be too few.
    pub(super) fn needs_more_together(&self) -> bool {
        self.cpus > u64::from(self.cpus_of_node()) * u64::from(self.min_nodes.max(1))
    }

    /// Memory that it needs at least of each node.
    fn memory_of_node(&self) -> u64 {
        match self.memory {
            Some(Memory::PerCpu(bytes)) => bytes.saturating_mul(self.cpus_of_node().into()),
            Some(Memory::PerNode(bytes)) => bytes,
            Some(Memory::Whole) | None => 0,
        }
    }

    /// What it asks for on each node alone.
    pub(super) fn of_node(&self) -> Self {
        Self { counted: None, min_nodes: 0, max_nodes: None, cpus: 0, lasts: 0, ..self.clone() }
    }
}

/// What jobs ask for on each node, ascending: sites are sorted by how much of it they have free.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    /// Processors: the first level is one.
    pub cpus: Vec<u32>,
    /// Bytes: the first level is none.
    pub memory: Vec<u64>,
}

/// Levels at most: more make a job that starts or ends cost more than is won.
const MAX_LEVELS: usize = 16;

impl Levels {
    pub(super) fn of(shapes: &[Shape]) -> Self {
        let cpus = shapes.iter().map(Shape::cpus_of_node).chain([1]).collect();
        let memory = shapes.iter().map(Shape::memory_of_node).chain([0]).collect();
        Self { cpus: thinned(cpus), memory: thinned(memory) }
    }

    /// The highest levels that whatever has room for the shape reaches: of processors and of memory.
    pub(super) fn reached_for(&self, shape: &Shape) -> (usize, usize) {
        let (cpus, memory) = (shape.cpus_of_node(), shape.memory_of_node());
        let below = |reached: usize| reached.saturating_sub(1);
        (
            below(self.cpus.partition_point(|&level| level <= cpus)),
            below(self.memory.partition_point(|&level| level <= memory)),
        )
    }
}

/// In order, each once, and where there are too many as many as may be: always the first.
fn thinned<T: Ord + Copy>(mut levels: Vec<T>) -> Vec<T> {
    levels.sort_unstable();
    levels.dedup();
    let step = levels.len().div_ceil(MAX_LEVELS).max(1);
    levels.into_iter().step_by(step).collect()
}
