//! Options of `makespan reproduce demt`.

use std::path::PathBuf;

use clap::Args;
use makespan_lab::generate::Family;

/// The campaign of the bi-criteria algorithm.
#[derive(Args)]
pub struct DemtOptions {
    /// Folder for the results; a campaign that was interrupted goes on there
    #[arg(long, default_value = "reproduce-demt", value_name = "DIR")]
    pub output: PathBuf,
    /// Runs at each point; the paper has 40
    #[arg(long, default_value_t = 40, allow_negative_numbers = true)]
    pub runs: u32,
    /// Families of jobs
    #[arg(long, value_delimiter = ',', default_value = "weak,high,mixed,cirne", value_name = "FAMILY,..")]
    pub families: Vec<Family>,
    /// Numbers of jobs
    #[arg(long, value_delimiter = ',', default_value = "25,50,100,200,400", value_name = "N,..")]
    pub jobs: Vec<usize>,
    /// Processors of the platform
    #[arg(long, default_value_t = 200, allow_negative_numbers = true)]
    pub processors: u32,
    /// Algorithms, separated by commas [default: the paper's, and the stages of its own]
    #[arg(long, short, value_name = "SPEC,..")]
    pub algorithms: Option<String>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// How many threads [default: all cores]
    #[arg(long, allow_negative_numbers = true)]
    pub threads: Option<usize>,
}
