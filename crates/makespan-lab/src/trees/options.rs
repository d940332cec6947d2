//! What to run.

use std::path::PathBuf;

use super::{Key, Reading};
use crate::LabError;
use crate::campaign::build;

/// The largest ratios of communication to computation, in millionths: from nearly the least to the paper's largest.
pub(super) const RATIOS: [u32; 6] = [2_000, 10_000, 50_000, 250_000, 1_000_000, 4_600_000];
/// Trees of so many nodes.
const NODES: [usize; 5] = [5, 10, 20, 50, 100];
/// Most children of a node.
const DEGREES: [usize; 3] = [2, 5, 15];

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// The same seed gives the same instances.
    pub seed: u64,
    /// Trees of each number of nodes and degree.
    pub trees: u32,
    /// Tasks of each application; ten times as many in the long runs.
    pub tasks: u64,
    /// How what the paper leaves open is read.
    pub reading: Reading,
    /// Whether this reading is played alone, without short runs of all others.
    pub alone: bool,
    /// How many instances are played at the same time; one a core without it.
    pub threads: Option<usize>,
}

impl Options {
    /// The paper's campaign: 150 trees, six ranges of ratios, 200 tasks; and all readings.
    pub fn paper(output: impl Into<PathBuf>) -> Self {
        let output = output.into();
        Self { output, seed: 1, trees: 10, tasks: 200, reading: Reading::DEFAULT, alone: false, threads: None }
    }

    /// The readings that are played, the chosen one first.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let others = Reading::grid().into_iter().filter(|&reading| !self.alone && reading != self.reading);
        std::iter::once(self.reading).chain(others).collect()
    }

    /// The instances, in the order in which they are played.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for reading in self.readings() {
            for nodes in NODES.into_iter().rev() {
                for degree in DEGREES {
                    let trees = (0..self.trees).flat_map(|tree| RATIOS.map(|ratio| (tree, ratio)));
                    keys.extend(trees.map(|(tree, ratio)| Key { reading, nodes, degree, tree, ratio }));
                }
            }
        }
        keys
    }

    /// What a run depends on besides its key. The program is part of it: the figures of another build are not taken for
    /// those of this one.
    pub(super) fn version(&self) -> Result<String, LabError> {
        Ok(format!(
            "build {:016x}; journal 2; seed {}; {} tasks; in full: {}",
            build()?,
            self.seed,
            self.tasks,
            self.reading
        ))
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: &str, expected| Err(LabError::Option { name, value: value.to_owned(), expected });
        if self.reading.applications == 0 {
            return refuse("applications", "0", "it must be at least 1");
        }
        if self.reading.data == 0 {
            return refuse("data", "0", "it must be at least 1 byte");
        }
        if self.trees == 0 {
            return refuse("trees", "0", "it must be at least 1");
        }
        if !(10..=1_000_000).contains(&self.tasks) {
            return refuse("tasks", &self.tasks.to_string(), "give a number from 10 to 1000000");
        }
        if self.threads == Some(0) {
            return refuse("threads", "0", "it must be at least 1");
        }
        Ok(())
    }
}
