//! Options of the campaign about compound jobs.

use std::path::PathBuf;

use clap::Args;

use super::LimitOrNone;

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
    /// Graphs of each of 6 shapes whose makespans are compared
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    pub makespan_graphs: u32,
    /// Time limits of `optimise` on these, such as 500ms, or steps=500; `none` leaves it out
    #[arg(long, value_delimiter = ',', default_value = "300ms,1s", value_name = "LIMIT,..")]
    pub time: Vec<LimitOrNone>,
    /// Independent searches of `optimise`, a thread each
    #[arg(long, default_value_t = 2, allow_negative_numbers = true)]
    pub searches: usize,
    /// Graphs whose makespans are compared at the same time; more than the cores can carry distorts what is found
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub at_once: usize,
    /// Folder of standard task graphs, such as `rand0000.stg` [default: ../shared/data/stg where it exists]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// How many threads for the rest [default: all cores]
    #[arg(long, allow_negative_numbers = true)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
}
