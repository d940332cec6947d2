//! What to run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::Key;
use crate::LabError;
use crate::generate::Family;

/// The specs of the paper's algorithms.
pub mod algorithm {
    /// The paper's own.
    pub const DEMT: &str = "demt";
    /// Each job on all processors.
    pub const GANG: &str = "gang";
    /// Each job on one processor, the longest first.
    pub const SEQUENTIAL: &str = "sequential";
    /// Graham's list in the order of the dual approximation's shelves.
    pub const SHELF: &str = "list[order=shelf]";
    /// Graham's list by increasing weight over time: the reading of "weighted LPTF" that gives the paper's curves.
    pub const LPTF: &str = "list[order=weighted-lptf]";
    /// Graham's list by decreasing weight over time: the other reading, Smith's rule.
    pub const SMITH: &str = "list[order=smith]";
    /// Graham's list by increasing area.
    pub const SAF: &str = "list[order=saf]";
    /// All of them, in the order of reports.
    pub const ALL: [&str; 7] = [DEMT, GANG, SEQUENTIAL, SHELF, LPTF, SMITH, SAF];
}

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// The same seed gives the same results.
    pub seed: u64,
    /// Which families.
    pub families: Vec<Family>,
    /// How many jobs.
    pub sizes: Vec<usize>,
    /// How many processors.
    pub processors: u32,
    /// Runs at each point.
    pub runs: u32,
    /// Specs of the algorithms.
    pub algorithms: Vec<String>,
    /// How many threads; all cores without it.
    pub threads: Option<usize>,
}

impl Options {
    /// The paper's experiments: 800 instances of up to 400 jobs.
    pub fn paper(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            seed: 1,
            families: Family::ALL.to_vec(),
            sizes: vec![25, 50, 100, 200, 400],
            processors: 200,
            runs: 40,
            algorithms: algorithm::ALL.map(String::from).to_vec(),
            threads: None,
        }
    }

    /// Every family and algorithm, but small: for a first look and for tests.
    pub fn quick(output: impl Into<PathBuf>) -> Self {
        Self { sizes: vec![25, 50], runs: 2, ..Self::paper(output) }
    }

    /// What a run depends on besides its key; a journal entry made under another version is not reused.
    pub(super) fn version(&self) -> String {
        format!(
            "makespan {}; journal 1; seed {}; {} processors; {}",
            env!("CARGO_PKG_VERSION"),
            self.seed,
            self.processors,
            self.algorithms.join(" ")
        )
    }

    /// The runs, in the order of the results.
    pub(super) fn keys(&self) -> BTreeSet<Key> {
        let sizes = |family| self.sizes.iter().map(move |&jobs| (family, jobs));
        let points = self.families.iter().flat_map(|&family| sizes(family));
        points.flat_map(|(family, jobs)| (0..self.runs).map(move |run| Key { family, jobs, run })).collect()
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: &str, expected| Err(LabError::Option { name, value: value.to_owned(), expected });
        if self.families.is_empty() {
            return refuse("families", "empty", "name at least one of weak, high, mixed, cirne");
        }
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            return refuse("sizes", &format!("{:?}", self.sizes), "give at least one number of jobs, each positive");
        }
        if self.runs == 0 {
            return refuse("runs", "0", "it must be at least 1");
        }
        if self.threads == Some(0) {
            return refuse("threads", "0", "it must be at least 1");
        }
        let distinct: BTreeSet<&String> = self.algorithms.iter().collect();
        if self.algorithms.is_empty() || distinct.len() < self.algorithms.len() {
            return refuse("algorithms", &self.algorithms.join(" "), "name at least one, and each only once");
        }
        Ok(())
    }
}
