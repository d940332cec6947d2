//! What to run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::LabError;
use crate::campaign::{Instances, Key};

/// The specs of the paper's algorithms.
pub mod algorithm {
    /// The paper's own.
    pub const DEMT: &str = "demt";
    /// One job after the other, each on all processors.
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
    /// The paper's own with the first schedule: all jobs of a batch start together.
    pub const RAW: &str = "demt[compaction=raw]";
    /// With the second: each job starts as soon as its processors are idle.
    pub const SHIFT: &str = "demt[compaction=shift]";
    /// With the third, a list in the order of the batches.
    pub const UNSHUFFLED: &str = "demt[shuffles=0]";
    /// With jobs shuffled within the batches, in place of the batches: not the paper's.
    pub const SHUFFLED_JOBS: &str = "demt[shuffle=jobs]";
    /// The stages of the paper's own, which its figures do not show.
    pub const STAGES: [&str; 4] = [RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
    /// All of them, in the order of reports.
    pub const ALL: [&str; 11] =
        [DEMT, GANG, SEQUENTIAL, SHELF, LPTF, SMITH, SAF, RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
}

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// Which instances.
    pub instances: Instances,
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
            instances: Instances::paper(40),
            algorithms: algorithm::ALL.map(String::from).to_vec(),
            threads: None,
        }
    }

    /// Every family and algorithm, but small: for a first look and for tests.
    pub fn quick(output: impl Into<PathBuf>) -> Self {
        Self { instances: Instances { sizes: vec![25, 50], ..Instances::paper(2) }, ..Self::paper(output) }
    }

    /// What a run depends on besides its key; a journal entry made under another version is not reused.
    pub(super) fn version(&self) -> String {
        format!(
            "makespan {}; journal 1; seed {}; {} processors; {}",
            env!("CARGO_PKG_VERSION"),
            self.instances.seed,
            self.instances.processors,
            self.algorithms.join(" ")
        )
    }

    /// The runs, large instances first: last they would leave cores idle at the end.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.instances.keys().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.jobs));
        keys
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: &str, expected| Err(LabError::Option { name, value: value.to_owned(), expected });
        self.instances.check()?;
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
