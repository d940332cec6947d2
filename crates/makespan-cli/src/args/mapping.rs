//! The options of `makespan reproduce mapping`.

use std::path::PathBuf;

use clap::Args;
use makespan_lab::mapping::Class;

use super::LimitOrNone;

/// The campaign of the mapping heuristics.
#[derive(Args)]
pub struct MappingOptions {
    /// Folder for the results; a campaign that was interrupted goes on there
    #[arg(long, default_value = "reproduce-mapping", value_name = "DIR")]
    pub output: PathBuf,
    /// Folder of the benchmark's files, such as `u_c_hihi.0.gz` [default: ../shared/data/etc where it exists]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Time limits of `optimise`, such as 500ms, or steps=500; `none` leaves it out
    #[arg(long, value_delimiter = ',', default_value = "1s,10s", value_name = "LIMIT,..")]
    pub time: Vec<LimitOrNone>,
    /// Classes to draw [default: all twelve]
    #[arg(long, value_delimiter = ',', value_name = "CLASS,..")]
    pub classes: Vec<Class>,
    /// Matrices drawn of each class
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub seeds: u32,
    /// Tasks of a drawn matrix
    #[arg(long, default_value_t = 512, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Machines of a drawn matrix
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    pub machines: u32,
    /// Independent searches of `optimise`, a thread each
    #[arg(long, default_value_t = 2, allow_negative_numbers = true)]
    pub searches: usize,
    /// Matrices planned at the same time; more than the cores can carry distorts the times
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_name = "N")]
    pub at_once: usize,
    /// The same seed gives the same matrices
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
}
