//! The key of a graph.

use std::fmt;

use makespan_generate::Law;
use serde::{Deserialize, Serialize};

use super::Family;

/// Which graph, on how many processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// How many processors.
    pub processors: u32,
    /// Of which kind.
    pub family: Family,
    /// Of its tasks.
    pub law: Law,
    /// About how many tasks were asked for.
    pub tasks: usize,
    /// Which repetition, from 0.
    pub run: u32,
}

/// `layers, amdahl, 60 tasks, 16 processors, run 0`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processors, family, law, tasks, run } = self;
        f.pad(&format!("{family}, {law}, {tasks} tasks, {processors} processors, run {run}"))
    }
}
