//! Options about flows of tasks.

use std::path::PathBuf;

use clap::Args;

/// A flow of tasks and the nodes that serve it.
#[derive(Args)]
pub struct GenerateFlowOptions {
    /// How many tasks
    #[arg(long, default_value_t = 4000, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Mean size of a task; sizes are integers, uniform from 1 to twice as much less 1
    #[arg(long, default_value_t = 5000, allow_negative_numbers = true)]
    pub mean_size: u32,
    /// What each node computes in a second
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SPEED,..",
        default_value = "1000,2000,3000,4000,5000,6000,7000,8000,9000,10000"
    )]
    pub capacities: Vec<u32>,
    /// Mean rate of arrival as a multiple of the balance line, the sum of the capacities over the mean size
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub rate: f64,
    /// The rate swings by this part of its mean to either side
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub swing: f64,
    /// How many swings there are while the tasks arrive
    #[arg(long, default_value_t = 4.0, allow_negative_numbers = true)]
    pub swings: f64,
    /// The same seed gives the same bytes
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Where to write; the ending .toml or .json chooses the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
