//! The nodes on which a job may run, and the features that a certain number of these nodes must have.

use makespan_core::{FeatureChoice, put_counted_first};
use rustc_hash::FxHashMap;

/// Nodes on which a job may run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes<'a> {
    /// By their numbers on the board.
    pub numbers: &'a [u32],
    /// What so many of them have to have.
    pub counted: Option<&'a Counted>,
}

/// Features that so many nodes of a job have to have: `[intel*1&amd*1]`.
#[derive(Debug)]
pub(super) struct Counted {
    /// Of each node which of the parts it has, as bits.
    parts: FxHashMap<u32, u64>,
    /// How many nodes each part needs.
    counts: Vec<u32>,
}

impl Counted {
    /// Of nodes with their features.
    pub fn new<'a>(choice: &FeatureChoice, nodes: impl Iterator<Item = (u32, &'a [Box<str>])>) -> Self {
        let parts = nodes.map(|(number, features)| (number, choice.parts_of(features))).collect();
        Self { parts, counts: choice.counted.iter().map(|part| part.1).collect() }
    }

    /// Puts nodes in front that are enough for all parts; how many. The order is otherwise kept.
    pub fn put_first(&self, rooms: &mut [(u32, u32)]) -> Option<usize> {
        put_counted_first(rooms, &self.counts, |one| self.parts.get(&one.0).copied().unwrap_or(0))
    }
}
