//! What to run.

use clap::Args;

use super::Reading;

/// The largest ratios of communication to computation, in millionths: from nearly the least to the paper's largest.
pub(super) const RATIOS: [u32; 6] = [2_000, 10_000, 50_000, 250_000, 1_000_000, 4_600_000];
/// Trees of so many nodes.
pub(super) const NODES: [usize; 5] = [5, 10, 20, 50, 100];
/// Most children of a node.
pub(super) const DEGREES: [usize; 3] = [2, 5, 15];

/// A campaign: 150 trees, six ranges of ratios, and all readings.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Trees of each of 15 shapes; the paper has 10
    #[arg(long, default_value_t = 10)]
    pub trees: u32,
    /// Tasks of each application; ten times as many in the long runs
    #[arg(long, default_value_t = 200)]
    pub tasks: u64,
    /// How what the paper leaves open is read.
    #[command(flatten)]
    pub reading: Reading,
    /// Play this reading alone, without short runs and the table of all readings
    #[arg(long)]
    pub alone: bool,
    /// How many threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// The readings that are played, the chosen one first.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let others = Reading::grid().into_iter().filter(|&reading| !self.alone && reading != self.reading);
        std::iter::once(self.reading).chain(others).collect()
    }
}
