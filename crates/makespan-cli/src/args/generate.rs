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
        /// weak, high, mixed or cirne
        #[arg(long)]
        family: Family,
        /// How many jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// How many processors
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// The same seed gives the same bytes
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        /// Jobs released a second, as a Poisson process; all at 0 when left out
        #[arg(long, value_name = "PER SECOND", allow_negative_numbers = true)]
        arrival_rate: Option<f64>,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Where to write; the ending .toml, .json, .swf or .etc chooses the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Moldable jobs that arrive as a Poisson process at a given load
    Poisson {
        /// weak, high, mixed or cirne
        #[arg(long)]
        family: Family,
        /// How many jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// How many processors
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// Work that arrives, at the times on one processor, over what the processors can do
        #[arg(long, allow_negative_numbers = true)]
        load: f64,
        /// The same seed gives the same bytes
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Where to write; the ending .toml, .json or .swf chooses the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// A log of rigid jobs: the model of Lublin and Feitelson (JPDC 2003)
    Lublin {
        /// How many jobs
        #[arg(long, allow_negative_numbers = true)]
        jobs: usize,
        /// How many processors, at least 8
        #[arg(long, allow_negative_numbers = true)]
        processors: u32,
        /// Move the arrivals so that the work is this part of what the processors can do until the last one
        #[arg(long, allow_negative_numbers = true)]
        load: Option<f64>,
        /// Users ask for up to this many times the run time, in steps of 5 minutes (SWF only) [default: the run time]
        #[arg(long, value_name = "FACTOR", allow_negative_numbers = true)]
        requests: Option<Requests>,
        /// The same seed gives the same bytes
        #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
        seed: u64,
        #[command(flatten)]
        needs: NeedsArguments,
        /// Where to write; the ending .toml, .json or .swf chooses the format [default: JSON on standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Times of tasks on machines that differ (ETC): the range-based method of Braun et al. (JPDC 2001)
    Etc(GenerateEtcOptions),
    /// A tree of machines with bags of tasks: Beaumont, Carter, Ferrante, Legrand, Marchal, Robert (IPDPS 2006)
    Tree(GenerateTreeOptions),
    /// Tasks that arrive at a swinging rate, for nodes of different speeds: Sun, Zhang, Wu and Inoguchi's task flow
    Flow(GenerateFlowOptions),
    /// Graphs of tasks, sequential or parallel: layers, or the shapes of workflows
    Graphs(GenerateGraphsOptions),
    /// A project whose activities share resources, as PSPLIB has them: Kolisch, Sprecher and Drexl (Management Science 1995)
    Project(GenerateProjectOptions),
}

/// A matrix of expected times to compute.
#[derive(Args)]
pub struct GenerateEtcOptions {
    /// How many tasks
    #[arg(long, default_value_t = 512, allow_negative_numbers = true)]
    pub tasks: usize,
    /// How many machines
    #[arg(long, default_value_t = 16, allow_negative_numbers = true)]
    pub machines: u32,
    /// c: a machine that is faster for one task is so for all; s: every second machine is like that; i: none
    #[arg(long, default_value = "c", value_name = "c|s|i")]
    pub consistency: Consistency,
    /// Tasks differ by a factor of up to 3000 or 100
    #[arg(long, value_enum, default_value = "hi")]
    pub task_range: Range,
    /// Machines differ by a factor of up to 1000 or 10
    #[arg(long, value_enum, default_value = "hi")]
    pub machine_range: Range,
    /// The same seed gives the same bytes
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Where to write; the ending .etc, .toml or .json chooses the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// How much something differs.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Range {
    Hi,
    Lo,
}
