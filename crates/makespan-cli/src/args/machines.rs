//! The machines of an instance: the same options in every command that reads one.

use std::path::PathBuf;

use clap::Args;

/// Stands for a file where the queue of a cluster is meant: `--from` without one.
pub const QUEUE: &str = "queue:";

/// On which machines an instance is planned or played, where the file is not to say.
#[derive(Args)]
pub struct MachineOptions {
    /// Number of processors, instead of those of the file or of this machine
    ///
    /// Processors of a log's platform, of the machine for a list of commands, machines of an ETC matrix that is one column, or nodes of one processor
    /// for a workflow
    #[arg(help_heading = "Machines", long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub processors: Option<u32>,
    /// Machines instead of those of the file, such as 16x8 (nodes by processors) or a file
    ///
    /// A native file, or a `SimGrid` platform. A workflow has no machines of its own
    #[arg(
        help_heading = "Machines",
        long,
        value_name = "NxP|FILE",
        conflicts_with = "processors",
        allow_hyphen_values = true
    )]
    pub platform: Option<PathBuf>,
    /// Machines of a cluster: slurm, a partition of it, or a folder with saved output of Slurm
    ///
    /// The nodes of this job inside one (`SLURM_JOB_ID`), else those of a partition that take jobs, as if they were empty. To simulate,
    /// without a file: the queue of the cluster with what runs
    #[arg(help_heading = "Machines", long, value_name = "slurm[:PARTITION]|FOLDER", conflicts_with_all = ["processors", "platform"])]
    pub from: Option<String>,
    /// Join the processors of a workflow by links of this bandwidth, such as 1Gbit/s
    #[arg(
        help_heading = "Machines",
        hide_short_help = true,
        long,
        value_name = "BANDWIDTH",
        requires = "processors",
        allow_hyphen_values = true
    )]
    pub bandwidth: Option<String>,
    /// Node that holds the files that come from outside a workflow
    ///
    /// Without it these files are everywhere at once
    #[arg(help_heading = "Machines", hide_short_help = true, long, value_name = "NODE")]
    pub stage_in: Option<String>,
}

/// A whole number from 1.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|&count| count > 0).ok_or_else(|| "write a whole number from 1, such as 8".into())
}

/// A whole number of digits alone: a sign before it is more likely a slip than meant.
fn count(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or_else(|| "write a whole number such as 128".into())
}
