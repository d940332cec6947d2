//! The nodes on which a job may run. A constraint may demand that a stated number of these nodes have some feature.

use makespan_core::{FeatureChoice, put_counted_first};
use rustc_hash::FxHashMap;

/// Nodes on which a job may run.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobNodes<'a> {
    /// The indices of the nodes on the board.
    pub numbers: &'a [u32],
    /// The features that only a stated number of the nodes must have.
    pub counted: Option<&'a CountedFeatures>,
    /// The maximum number of nodes of a job in the partition.
    pub most: u32,
}

/// Features that only a stated number of the nodes of a job must have, such as `[intel*1&amd*1]`.
#[derive(Debug)]
pub(super) struct CountedFeatures {
    /// For each node, a bit for each feature in `counts`. The bit is set if the node has the feature.
    parts: FxHashMap<u32, u64>,
    /// The number of nodes that must have each counted feature.
    counts: Vec<u32>,
}

impl CountedFeatures {
    /// Returns the counted features for these nodes.
    pub fn new<'a>(choice: &FeatureChoice, nodes: impl Iterator<Item = (u32, &'a [Box<str>])>) -> Self {
        let parts = nodes.map(|(number, features)| (number, choice.parts_of(features))).collect();
        Self { parts, counts: choice.counted.iter().map(|part| part.1).collect() }
    }

    /// Moves nodes to the front that together satisfy all counted features. The other nodes keep their order. Returns
    /// the number of moved nodes, or `None` if no nodes satisfy all features.
    pub fn put_first(&self, rooms: &mut [(u32, u32)]) -> Option<usize> {
        put_counted_first(rooms, &self.counts, |one| self.parts.get(&one.0).copied().unwrap_or(0))
    }
}
