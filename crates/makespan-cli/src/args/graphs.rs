//! The options of `makespan generate graphs`.

use std::path::PathBuf;

use clap::Args;
use makespan_generate::{Law, Shape};

use super::NeedsArguments;

#[derive(Args)]
pub struct GenerateGraphsOptions {
    /// Shape of the graphs: layers, chain, fork-join, stages, series-parallel, cholesky, lu, montage, epigenomics,
    /// cybershake, 1000genome, blast, bwa, seismology, soykb or srasearch
    #[arg(long, default_value = "layers")]
    pub shape: Shape,
    /// Approximate number of tasks of each job
    #[arg(long, default_value_t = 50, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Number of jobs
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub jobs: usize,
    /// Maximum number of tasks in a layer
    #[arg(long, default_value_t = 8, allow_negative_numbers = true)]
    pub width: usize,
    /// Probability of each edge between neighbouring layers, in addition to the one edge that every task has
    #[arg(long, default_value_t = 0.3, allow_negative_numbers = true)]
    pub density: f64,
    /// Minimum and maximum run time of a task on a processor of speed 1, in seconds
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "10,100",
        value_name = "FROM,TO",
        allow_negative_numbers = true
    )]
    pub volume: Vec<f64>,
    /// Minimum and maximum data of an edge, in bytes
    #[arg(long, value_delimiter = ',', default_value = "1000000,20000000", value_name = "FROM,TO")]
    pub data: Vec<u64>,
    /// Maximum number of processors of a task; with 1, all tasks are sequential
    #[arg(long, default_value_t = 1, value_name = "PROCESSORS", allow_negative_numbers = true)]
    pub parallel: u32,
    /// Speed-up law of parallel tasks: downey (average parallelism log-uniform from 1 to --parallel, sigma uniform on
    /// [0, 2]) or amdahl (serial share uniform on [0, 0.25])
    #[arg(long, default_value = "downey")]
    pub law: Law,
    /// Number of nodes; each node has one processor, unless --cores states more
    #[arg(long, default_value_t = 8, allow_negative_numbers = true)]
    pub processors: usize,
    /// Number of processors of each node
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub cores: u32,
    /// Maximum speed of a node; the minimum is 1
    #[arg(long, default_value_t = 3.0, allow_negative_numbers = true)]
    pub fastest: f64,
    /// Bandwidth between any two processors, such as 1MB/s
    #[arg(long, default_value = "1MB/s", allow_hyphen_values = true)]
    pub bandwidth: String,
    /// Mean time between the releases of two jobs, in seconds [default: all jobs are released at 0]
    #[arg(long, allow_negative_numbers = true)]
    pub gap: Option<f64>,
    /// Time from the release to the deadline of each job, as a multiple of HEFT's makespan for the job alone
    ///
    /// Without this option, there are no deadlines
    #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
    pub deadline: Option<f64>,
    #[command(flatten)]
    pub needs: NeedsArguments,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output file; the ending .toml, .json or .xml selects the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
