//! The options of `makespan where`.

use std::path::PathBuf;

use clap::Args;
use makespan_formats::SpeedupSpec;

use super::{Format, KnownTimes};

#[derive(Args)]
pub struct WhereOptions {
    /// The job script; its lines #SBATCH describe the job
    pub script: PathBuf,
    /// Clusters to compare, separated by commas, such as slurm:a,slurm:b
    ///
    /// A cluster is slurm (the usual one), slurm:NAME (as of `sbatch -M NAME`), `slurm:/PATH/slurm.conf`, or a folder with
    /// saved output of Slurm's commands
    #[arg(long, value_name = "CLUSTERS", value_delimiter = ',', default_value = "slurm")]
    pub from: Vec<String>,
    /// Numbers of nodes to compare, such as 1,2,4 [default: those in the script and in the history of similar jobs]
    ///
    /// Without --speedup, the run times are learned from similar jobs. The history must contain successful jobs with at
    /// least two different numbers of nodes
    #[arg(long, value_name = "N,N..", value_delimiter = ',', value_parser = super::machines::positive)]
    #[arg(allow_hyphen_values = true)]
    pub nodes: Vec<u32>,
    /// Speed-up law of the job, such as amdahl:0.05, which gives its run times on other numbers of nodes
    ///
    /// The available laws are linear, amdahl:SERIAL, power:EXPONENT and downey:A,SIGMA
    #[arg(long, value_name = "LAW", requires = "nodes")]
    pub speedup: Option<SpeedupSpec>,
    /// Days of accounting history to learn run times from, for running clusters [default: 7]
    #[arg(long, value_name = "DAYS")]
    pub past: Option<u32>,
    /// Source of the run times of jobs [default: learned]
    #[arg(long, value_enum)]
    pub times: Option<KnownTimes>,
    /// Number of simulations of each cluster with random run times [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub draws: Option<u32>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
