//! Options of the campaign about compound jobs.

use std::path::PathBuf;

use clap::Args;

/// The example and the campaigns of the critical jobs method.
#[derive(Args)]
pub struct CriticalJobsOptions {
    /// Folder for the results; a campaign that was interrupted goes on there
    #[arg(long, default_value = "reproduce-critical-jobs", value_name = "DIR")]
    pub output: PathBuf,
    /// Graphs of each of 3 shapes
    #[arg(long, default_value_t = 20, allow_negative_numbers = true)]
    pub graphs: u32,
    /// Flows of jobs at each of 4 mean times between two jobs
    #[arg(long, default_value_t = 3, allow_negative_numbers = true)]
    pub flows: u32,
    /// Jobs of a flow
    #[arg(long, default_value_t = 30, allow_negative_numbers = true)]
    pub jobs: usize,
    /// How many threads [default: all cores]
    #[arg(long, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
}
