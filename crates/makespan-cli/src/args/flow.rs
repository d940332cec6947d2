//! The options of `makespan generate flow`.

use std::path::PathBuf;

use clap::Args;

/// Options of `generate flow`: a flow of tasks, and the nodes that serve it.
#[derive(Args)]
pub struct GenerateFlowOptions {
    /// Number of tasks
    #[arg(long, default_value_t = 4000, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Mean size of a task; sizes are uniform integers from 1 to twice the mean minus 1
    #[arg(long, default_value_t = 5000, allow_negative_numbers = true)]
    pub mean_size: u32,
    /// Capacity of each node: the size that the node computes per second
    #[arg(
        long,
        value_delimiter = ',',
        value_name = "SPEED,..",
        default_value = "1000,2000,3000,4000,5000,6000,7000,8000,9000,10000"
    )]
    pub capacities: Vec<u32>,
    /// Mean arrival rate, as a multiple of the balance line (the sum of the capacities, divided by the mean size)
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    pub rate: f64,
    /// Amplitude of the arrival rate, as a share of the mean rate
    #[arg(long, default_value_t = 0.5, allow_negative_numbers = true)]
    pub swing: f64,
    /// Number of oscillations of the rate while the tasks arrive
    #[arg(long, default_value_t = 4.0, allow_negative_numbers = true)]
    pub swings: f64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output file; the ending .toml or .json selects the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
