//! What to run.

use clap::Args;

use super::Population;
use crate::campaign::Search;

/// The paper's algorithm.
pub(super) const SHELVES: &str = "shelves";

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Instances at each point
    #[arg(long, default_value_t = 1)]
    pub runs: u32,
    /// Families, and adversarial jobs: linear, flat, steps, caps
    #[arg(
        long = "families",
        value_delimiter = ',',
        default_value = "weak,high,mixed,cirne,linear,flat,steps,caps",
        value_name = "FAMILY,.."
    )]
    pub populations: Vec<Population>,
    /// Processors of an SMP, powers of two
    #[arg(long = "processors-per-node", value_delimiter = ',', default_value = "2,4,8,16", value_name = "K,..")]
    pub each: Vec<u32>,
    /// Numbers of SMPs
    #[arg(long, value_delimiter = ',', default_value = "4,16,64", value_name = "M,..")]
    pub nodes: Vec<u32>,
    /// Jobs for each SMP; at least one job is drawn
    #[arg(long, value_delimiter = ',', default_value = "0.5,2,12.5", value_name = "N,..")]
    pub jobs_per_node: Vec<f64>,
    /// How long the optimiser searches.
    #[command(flatten)]
    pub search: Search,
    /// The same seed gives the same instances
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// Specs of the algorithms, in the order of the results: the paper's, the general ones, the optimiser.
    pub fn algorithms(&self) -> Vec<String> {
        let plain = [SHELVES, "list[order=shelf]", "sweep[steps=0]", "sweep"].map(String::from);
        plain.into_iter().chain(self.search.specs()).collect()
    }
}
