//! The instants at which planned jobs take and release nodes.

use std::collections::{BTreeMap, BTreeSet};

/// For each instant, a list of nodes.
type NodesAt = BTreeMap<i64, Vec<u32>>;

/// The starts and ends of the planned jobs of a cycle.
#[derive(Clone, Debug, Default)]
pub(super) struct PlanEvents {
    /// The boundaries of the time slots in which a backfill cycle of Slurm counts free nodes (`node_space`).
    pub instants: BTreeSet<i64>,
    /// For each start of a planned job, its nodes.
    starts: NodesAt,
    /// For each end of a planned job, its nodes.
    pub ends: NodesAt,
}

impl PlanEvents {
    pub fn clear(&mut self) {
        self.instants.clear();
        self.starts.clear();
        self.ends.clear();
    }

    /// Adds a planned job on one node.
    pub fn add(&mut self, site: usize, from: i64, until: i64) {
        self.starts.entry(from).or_default().push(site as u32);
        self.ends.entry(until).or_default().push(site as u32);
    }

    /// Adds the start and the end of a planned job to the instants. Then searches from the instant before `from` up to
    /// `until`, and removes the first instant at which the planned nodes do not change. Like Slurm, removes at most one
    /// instant.
    pub fn divide(&mut self, from: i64, until: i64) {
        self.instants.extend([from, until]);
        let first = self.instants.range(..from).next_back().copied().unwrap_or(from);
        let needless = self.instants.range(first..=until).copied().find(|&at| self.is_unchanged(at));
        if let Some(at) = needless {
            self.instants.remove(&at);
        }
    }

    /// Returns true if planned jobs take exactly the nodes that other planned jobs release at an instant.
    fn is_unchanged(&self, at: i64) -> bool {
        let nodes = |of: &NodesAt| of.get(&at).map_or(0, Vec::len);
        let sorted = |of: &NodesAt| {
            let mut nodes = of.get(&at).cloned().unwrap_or_default();
            nodes.sort_unstable();
            nodes
        };
        nodes(&self.starts) == nodes(&self.ends) && sorted(&self.starts) == sorted(&self.ends)
    }
}
