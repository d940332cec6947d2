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

/// The campaign of the task-flow paper.
#[derive(Args)]
pub struct PtfsOptions {
    /// Folder for the results; a campaign that was interrupted goes on there
    #[arg(long, default_value = "reproduce-ptfs", value_name = "DIR")]
    pub output: PathBuf,
    /// Tasks of a flow; the paper has 4000
    #[arg(long, default_value_t = 4000, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Mean sizes of tasks
    #[arg(long, value_delimiter = ',', default_value = "50000,5000", value_name = "SIZE,..")]
    pub sizes: Vec<u32>,
    /// Mean rates of arrival, as multiples of the balance line
    #[arg(long, value_delimiter = ',', default_value = "0.125,0.25,0.5,1,2,4,8,16", value_name = "RATE,..")]
    pub rates: Vec<f64>,
    /// By which parts of their mean the rates swing to either side
    #[arg(long, value_delimiter = ',', default_value = "0,0.5", value_name = "SWING,..")]
    pub swings: Vec<f64>,
    /// Flows at each point
    #[arg(long, default_value_t = 5, allow_negative_numbers = true)]
    pub runs: u32,
    /// How many threads [default: all cores]
    #[arg(long, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
}
