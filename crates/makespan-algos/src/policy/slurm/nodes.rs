//! The nodes on which a job may run, and the features that a certain number of these nodes must have.

use makespan_core::{FeatureChoice, put_counted_first};
use rustc_hash::FxHashMap;

/// Nodes on which a job may run.
#[derive(Clone, Copy, Debug)]
pub(super) struct JobNodes<'a> {
    /// The numbers of the nodes on the board.
    pub numbers: &'a [u32],
    /// The features that a certain number of the nodes must have.
    pub counted: Option<&'a CountedFeatures>,
}

/// Features that a certain number of nodes of a job must have, such as `[intel*1&amd*1]`.
#[derive(Debug)]
pub(super) struct CountedFeatures {
    /// For each node, a bit for each counted feature that the node has. The bits are in the order of `counts`.
    parts: FxHashMap<u32, u64>,
    /// For each counted feature, the number of nodes that must have it.
    counts: Vec<u32>,
}

impl CountedFeatures {
    /// Returns the counted features for these nodes.
    pub fn new<'a>(choice: &FeatureChoice, nodes: impl Iterator<Item = (u32, &'a [Box<str>])>) -> Self {
        let parts = nodes.map(|(number, features)| (number, choice.parts_of(features))).collect();
        Self { parts, counts: choice.counted.iter().map(|part| part.1).collect() }
    }

    /// Moves nodes that together satisfy all counted features to the front. The order of all other nodes does not
    /// change. Returns the number of nodes at the front, or `None` if there are no such nodes.
    pub fn put_first(&self, rooms: &mut [(u32, u32)]) -> Option<usize> {
        put_counted_first(rooms, &self.counts, |one| self.parts.get(&one.0).copied().unwrap_or(0))
    }
}
