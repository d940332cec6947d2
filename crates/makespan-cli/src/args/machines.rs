//! The options for the machines of an instance. All commands that read an instance share these options.

use std::path::PathBuf;

use clap::Args;

/// Path that stands for the queue of a cluster, if `--from` is given without a file.
pub const QUEUE: &str = "queue:";

/// Options for machines that replace or complete the machines in the instance file.
#[derive(Args, Clone)]
pub struct MachineOptions {
    /// Number of processors, instead of the number in the file or the number of processors of this machine
    ///
    /// For a log or a list of commands, the machine has N processors. For an ETC matrix that is written in one column,
    /// N is the number of machines. For a workflow, N is the number of nodes, each of which has one processor
    #[arg(help_heading = "Machines", long, value_name = "N", value_parser = count, allow_hyphen_values = true)]
    pub processors: Option<u32>,
    /// Machines to use instead of the machines in the instance file: a size such as 16x8 (nodes by processors), or a
    /// file
    ///
    /// The file is a native file or a `SimGrid` platform. Files of workflows contain no machines
    #[arg(
        help_heading = "Machines",
        long,
        value_name = "NxP|FILE",
        conflicts_with = "processors",
        allow_hyphen_values = true
    )]
    pub platform: Option<PathBuf>,
    /// Machines of a Slurm cluster: slurm, slurm:PARTITION, or a folder with saved output of Slurm
    ///
    /// Within a Slurm job (`SLURM_JOB_ID`), these are the nodes of the job. Otherwise, the machines are the nodes of
    /// the partition that accept jobs, and plans assume that these nodes are empty. If no file is given, `simulate`
    /// reads the pending and running jobs of the cluster
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
    /// Node on which the input files of a workflow are stored
    ///
    /// Without this option, all nodes have these files from the beginning
    #[arg(help_heading = "Machines", hide_short_help = true, long, value_name = "NODE")]
    pub stage_in: Option<String>,
}

/// Parses a whole number that is at least 1.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    count(text).ok().filter(|&count| count > 0).ok_or_else(|| "write a whole number from 1, such as 8".into())
}

/// Parses a whole number that consists of digits. A sign is an error, because it is probably a typing mistake.
fn count(text: &str) -> Result<u32, String> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten().ok_or_else(|| "write a whole number such as 128".into())
}
