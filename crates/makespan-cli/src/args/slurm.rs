//! The options for runs on Slurm.

use clap::{Args, ValueEnum};

/// The way in which a run uses a Slurm cluster.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SlurmMode {
    /// Pilots: allocations of Slurm in which an agent on each node starts the jobs
    Slurm,
    /// One Slurm job for each job, all submitted at once; the cluster decides when they start, even after this program
    /// has ended
    #[value(name = "slurm:jobs")]
    SlurmJobs,
}

#[derive(Args, Clone)]
pub struct SlurmOptions {
    /// Run on a cluster instead of this machine; the folder of the run must be visible on all nodes
    ///
    /// If the command is started within an allocation of Slurm, the run uses the nodes of this allocation
    #[arg(help_heading = "Slurm", long, value_name = "ENGINE", value_enum)]
    pub on: Option<SlurmMode>,
    /// With --on slurm, nodes of a pilot [default: 1]
    #[arg(help_heading = "Slurm", long, value_name = "N", requires = "on", value_parser = super::machines::positive)]
    pub nodes: Option<u32>,
    /// With --on slurm, time limit of a pilot, such as 90m, 2h or 1-12:00:00 [default: the limit of the partition]
    ///
    /// With --on slurm:jobs, time limit of each job that states no walltime
    #[arg(help_heading = "Slurm", long, value_name = "TIME", requires = "on")]
    pub time: Option<String>,
    /// With --on slurm, account to charge
    #[arg(help_heading = "Slurm", long, value_name = "ACCOUNT", requires = "on")]
    pub account: Option<String>,
    /// With --on slurm, the partition
    #[arg(help_heading = "Slurm", long, value_name = "PARTITION", requires = "on")]
    pub partition: Option<String>,
    /// With --on slurm, an extra option for sbatch, such as --slurm='--qos=long'
    ///
    /// May be given several times
    #[arg(help_heading = "Slurm", long, value_name = "OPTION", requires = "on", allow_hyphen_values = true)]
    pub slurm: Vec<String>,
    /// With --on slurm, pilots such as 2x4nodes,1h, or auto:8nodes,2h
    ///
    /// Each entry states a number of pilots, the number of nodes of each pilot, and their time limit; + separates
    /// entries. auto chooses pilots that fit the plan: in the example, all pilots together have at most 8 nodes, and
    /// each pilot has a time limit of at most 2 h
    #[arg(help_heading = "Slurm", long, value_name = "KxNnodes[,TIME]", requires = "on", conflicts_with_all = ["nodes", "time"])]
    pub pilots: Option<String>,
}
