//! The key of an instance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Population;

/// Which instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Which jobs.
    pub population: Population,
    /// Processors of an SMP: k.
    pub each: u32,
    /// How many SMPs: m.
    pub nodes: u32,
    /// How many jobs.
    pub jobs: usize,
    /// Which repetition, from 0.
    pub run: u32,
}

/// `family weak, 16 SMPs of 4, 32 jobs, run 0`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { population, each, nodes, jobs, run } = self;
        write!(f, "family {population}, {nodes} SMPs of {each}, {jobs} jobs, run {run}")
    }
}
