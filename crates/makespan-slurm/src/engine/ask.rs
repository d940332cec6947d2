//! Which pilots there are to be.

use std::path::PathBuf;
use std::time::Duration;

use crate::{Commands, Placed};

/// How many nodes a pilot has, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PilotSize {
    /// Nodes.
    pub nodes: usize,
    /// As `sbatch --time` takes it; without it the partition's default.
    pub time: Option<String>,
    /// What it asks for so that its nodes are those of the plan.
    pub placed: Placed,
}

impl PilotSize {
    fn hosts(&self) -> Vec<Option<String>> {
        let names = self.placed.names.iter().flatten().cloned().map(Some);
        names.chain(std::iter::repeat(None)).take(self.nodes).collect()
    }
}

/// Where pilots come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allocation {
    /// An allocation that is there already.
    Here {
        /// Its number.
        job: u64,
        /// The node that each node of the plan is.
        nodes: Vec<String>,
        /// Those of them that are up.
        up: Vec<String>,
    },
    /// Jobs that are asked for.
    Asked {
        /// One for each.
        pilots: Vec<PilotSize>,
        /// What else `sbatch` is told: account, partition ..
        options: Vec<String>,
        /// What they are called in the queue.
        name: String,
    },
}

impl Allocation {
    /// Nodes of each pilot.
    pub(super) fn sizes(&self) -> Vec<usize> {
        match self {
            Self::Here { nodes, .. } => vec![nodes.len()],
            Self::Asked { pilots, .. } => pilots.iter().map(|pilot| pilot.nodes).collect(),
        }
    }

    /// For each node of the plan the node of the cluster that it is to be, and no other; `None` where any of its pilot will do.
    pub(super) fn hosts(&self) -> Vec<Option<String>> {
        match self {
            Self::Here { nodes, .. } => nodes.iter().cloned().map(Some).collect(),
            Self::Asked { pilots, .. } => pilots.iter().flat_map(PilotSize::hosts).collect(),
        }
    }
}

/// How pilots are run.
#[derive(Clone, Debug)]
pub struct PilotOptions {
    /// The folder of the run, on a file system that all nodes share; the path is absolute.
    pub folder: PathBuf,
    /// Where they come from.
    pub allocation: Allocation,
    /// How Slurm's programs are run.
    pub commands: Commands,
    /// This program, as the nodes find it.
    pub program: PathBuf,
    /// How long a task that is ended may take to react.
    pub grace: Duration,
}
