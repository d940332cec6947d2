//! The nodes of a platform. A list of equal nodes stores one node and a count.

use std::sync::{Arc, OnceLock};

use super::Node;
use crate::model::Resources;

/// The nodes of a platform in order, and the ids of their processors.
#[derive(Clone, Debug)]
pub(super) enum NodeList {
    /// Nodes `n0`, `n1` ... that differ only in their names. The full list is built when it is first needed.
    Equal {
        /// The first node.
        sample: Arc<Node>,
        count: u32,
        list: OnceLock<Arc<[Node]>>,
    },
    /// Nodes that may differ, and for each node the id of its first processor.
    Each { nodes: Arc<[Node]>, first: Arc<[u32]> },
}

impl NodeList {
    /// Creates `count` fully connected nodes of `processors` processors of speed 1.
    pub fn equal(count: u32, processors: u32) -> Self {
        Self::Equal { sample: Arc::new(Node::new(name(0), processors)), count, list: OnceLock::new() }
    }

    /// Creates a list of nodes that may differ.
    pub fn each(nodes: Vec<Node>) -> Self {
        let mut next = 0;
        let first = nodes.iter().map(|node| {
            let first = next;
            next += node.processors;
            first
        });
        Self::Each { first: first.collect(), nodes: nodes.into() }
    }

    /// Sets the resources of each node.
    pub fn with_resources(self, resources: &Resources) -> Self {
        let equipped = |node: &Node| Node { resources: resources.clone(), ..node.clone() };
        match self {
            Self::Equal { sample, count, .. } => {
                Self::Equal { sample: Arc::new(equipped(&sample)), count, list: OnceLock::new() }
            }
            Self::Each { nodes, first } => Self::Each { nodes: nodes.iter().map(equipped).collect(), first },
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Equal { count, .. } => *count as usize,
            Self::Each { nodes, .. } => nodes.len(),
        }
    }

    /// Returns all nodes.
    pub fn all(&self) -> &[Node] {
        match self {
            Self::Equal { sample, count, list } => {
                let named = |index| Node { name: name(index), ..sample.as_ref().clone() };
                list.get_or_init(|| (0..*count).map(named).collect())
            }
            Self::Each { nodes, .. } => nodes,
        }
    }

    /// Returns the position of the node with this name. If all nodes are equal, the position is read from the name,
    /// such as 7 from `n7`.
    pub fn position(&self, wanted: &str) -> Option<usize> {
        match self {
            Self::Equal { count, .. } => {
                let index: u32 = wanted.strip_prefix('n')?.parse().ok()?;
                (index < *count && name(index) == wanted).then_some(index as usize)
            }
            Self::Each { nodes, .. } => nodes.iter().position(|node| node.name == wanted),
        }
    }

    /// Returns true if the list stores a single node and a count, because all nodes are equal.
    pub fn is_stored_once(&self) -> bool {
        matches!(self, Self::Equal { .. })
    }

    /// Returns the stored nodes and the number of nodes that each of them represents.
    pub fn kinds(&self) -> (&[Node], usize) {
        match self {
            Self::Equal { sample, count, .. } => (std::slice::from_ref(sample.as_ref()), *count as usize),
            Self::Each { nodes, .. } => (&nodes[..], 1),
        }
    }

    /// Returns the number of processors of a node.
    pub fn processors(&self, node: usize) -> u32 {
        match self {
            Self::Equal { sample, count, .. } => {
                assert!(node < *count as usize, "node {node} does not exist; there are only {count} nodes");
                sample.processors
            }
            Self::Each { nodes, .. } => nodes[node].processors,
        }
    }

    /// Returns the id of a node's first processor.
    pub fn first(&self, node: usize) -> u32 {
        match self {
            Self::Equal { sample, .. } => node as u32 * sample.processors,
            Self::Each { first, .. } => first[node],
        }
    }

    /// Returns the position of the node that has this processor.
    pub fn node_of(&self, id: u32) -> usize {
        match self {
            Self::Equal { sample, count, .. } => (id / sample.processors).min(count - 1) as usize,
            // A switch has no processors, so its first id equals the first id of the next node. Therefore, the last
            // node with a first id of at most `id` has the processor.
            Self::Each { first, .. } => first.partition_point(|&first| first <= id) - 1,
        }
    }
}

impl PartialEq for NodeList {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Equal { sample, count, .. }, Self::Equal { sample: same, count: as_many, .. }) => {
                (count, sample) == (as_many, same)
            }
            _ => self.len() == other.len() && self.all() == other.all(),
        }
    }
}

fn name(index: u32) -> String {
    format!("n{index}")
}
