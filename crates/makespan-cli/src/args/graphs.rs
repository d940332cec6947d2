//! The options of `makespan generate graphs`.

use std::path::PathBuf;

use clap::Args;
use makespan_generate::{Law, Shape};

use super::NeedsArguments;

#[derive(Args)]
pub struct GenerateGraphsOptions {
    /// layers, chain, fork-join, stages, series-parallel, cholesky, lu, montage, epigenomics, cybershake, 1000genome, blast, bwa,
    /// seismology, soykb or srasearch
    #[arg(long, default_value = "layers")]
    pub shape: Shape,
    /// Tasks of each job, about
    #[arg(long, default_value_t = 50, allow_negative_numbers = true)]
    pub tasks: usize,
    /// How many jobs
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub jobs: usize,
    /// Most tasks of a layer
    #[arg(long, default_value_t = 8, allow_negative_numbers = true)]
    pub width: usize,
    /// How probable each edge between neighbouring layers is, beside the one that every task has
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub density: f64,
    /// Least and most seconds of a task on a processor of speed 1
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10,100",
        value_name = "FROM,TO",
        allow_negative_numbers = true
    )]
    pub volume: Vec<f64>,
    /// Least and most bytes of an edge
    #[arg(long, value_delimiter = ',', default_value = "1000000,20000000", value_name = "FROM,TO")]
    pub data: Vec<u64>,
    /// Maximum number of processors of a task; with 1, all tasks are sequential
    #[arg(long, default_value_t = 1, value_name = "PROCESSORS", allow_negative_numbers = true)]
    pub parallel: u32,
    /// Speed-ups of parallel tasks: downey (average parallelism log-uniform from 1 to --parallel, sigma uniform on [0, 2]) or amdahl (serial
    /// share uniform on [0, 0.25])
    #[arg(long, default_value = "downey")]
    pub law: Law,
    /// How many processors, each a node (or nodes of several, with --cores)
    #[arg(long, default_value_t = 8, allow_negative_numbers = true)]
    pub processors: usize,
    /// Processors of each node
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub cores: u32,
    /// Speeds of the nodes are drawn from 1 to this
    #[arg(long, default_value_t = 3.0, allow_negative_numbers = true)]
    pub fastest: f64,
    /// Between any two processors, such as 1MB/s
    #[arg(long, default_value = "1MB/s", allow_hyphen_values = true)]
    pub bandwidth: String,
    /// Seconds between the releases of two jobs on average; all at 0 when left out
    #[arg(long, allow_negative_numbers = true)]
    pub gap: Option<f64>,
    /// Time from the release to the deadline of each job, as a multiple of HEFT's makespan for the job alone
    ///
    /// Without this option, there are no deadlines
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub deadline: Option<f64>,
    #[command(flatten)]
    pub needs: NeedsArguments,
    /// The same seed gives the same bytes
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Where to write; the ending .toml, .json or .xml chooses the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
