//! The options of `makespan generate`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use makespan_generate::{Consistency, Family, Requests};

use super::{GenerateFlowOptions, GenerateGraphsOptions, GenerateProjectOptions, GenerateTreeOptions, NeedsArguments};

#[derive(Args)]
pub struct GenerateOptions {
    #[command(subcommand)]
    pub kind: Generator,
}

#[derive(Subcommand)]
pub enum Generator {
    /// Moldable jobs on a cluster: the four families of Dutot, Eyraud, Mounié and Trystram (SPAA 2004)
    Moldable {
        /// Family of the jobs: weak, high, mixed or cirne
        #[arg(long)]
        family: Family,
        /// Number of jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// Number of processors
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// Seed of every random choice
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        /// Jobs released per second, as a Poisson process [default: all jobs are released at 0]
        #[arg(long, value_name = "PER SECOND", allow_negative_numbers = true)]
        arrival_rate: Option<f64>,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Output file; the ending .toml, .json, .swf or .etc selects the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Moldable jobs that arrive as a Poisson process with a given load
    Poisson {
        /// Family of the jobs: weak, high, mixed or cirne
        #[arg(long)]
        family: Family,
        /// Number of jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// Number of processors
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// Offered load: the work that arrives (by run times on one processor), as a share of the capacity of the
        /// processors
        #[arg(long, allow_negative_numbers = true)]
        load: f64,
        /// Seed of every random choice
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Output file; the ending .toml, .json or .swf selects the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// A log of rigid jobs, by the model of Lublin and Feitelson (JPDC 2003)
    Lublin {
        /// Number of jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// Number of processors, at least 8
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// Offered load: the arrival times are scaled so that the work is this share of the processors' capacity until
        /// the last arrival
        #[arg(long, allow_negative_numbers = true)]
        load: Option<f64>,
        /// Maximum requested time, as a multiple of the run time, rounded up to a multiple of 5 minutes (SWF only)
        /// [default: the run time]
        #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
        requests: Option<Requests>,
        /// Seed of every random choice
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Output file; the ending .toml, .json or .swf selects the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Run times of tasks on unrelated machines (ETC): the range-based method of Braun et al. (JPDC 2001)
    Etc(GenerateEtcOptions),
    /// A tree of machines with bags of tasks: Beaumont, Carter, Ferrante, Legrand, Marchal, Robert (IPDPS 2006)
    Tree(GenerateTreeOptions),
    /// Tasks that arrive at an oscillating rate, for nodes of different speeds: the task flow of Sun, Zhang, Wu and
    /// Inoguchi
    Flow(GenerateFlowOptions),
    /// Graphs of tasks, sequential or parallel: layers, or the shapes of workflows
    Graphs(GenerateGraphsOptions),
    /// A project of activities that share resources, as in PSPLIB: Kolisch, Sprecher and Drexl (Management Science
    /// 1995)
    Project(GenerateProjectOptions),
}

/// Options of `generate etc`: a matrix of expected times to compute.
#[derive(Args)]
pub struct GenerateEtcOptions {
    /// Number of tasks
    #[arg(long, default_value_t = 512, allow_negative_numbers = true)]
    pub tasks: usize,
    /// Number of machines
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    pub machines: u32,
    /// c (consistent): a machine that is faster for one task is faster for all tasks; s (semi-consistent): this is true
    /// only among every second machine; i (inconsistent): this is not true
    #[arg(long, default_value = "c", value_name = "c|s|i")]
    pub consistency: Consistency,
    /// Range of the factors by which tasks differ: up to 3000 (hi) or 100 (lo)
    #[arg(long, value_enum, default_value = "hi")]
    pub task_range: Range,
    /// Range of the factors by which machines differ: up to 1000 (hi) or 10 (lo)
    #[arg(long, value_enum, default_value = "hi")]
    pub machine_range: Range,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output file; the ending .etc, .toml or .json selects the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// The range of a random factor.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Range {
    Hi,
    Lo,
}
