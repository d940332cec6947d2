//! The options of `makespan slurm`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Format, WaitTime};

#[derive(Args)]
pub struct SlurmCommands {
    #[command(subcommand)]
    pub action: SlurmAction,
}

#[derive(Subcommand)]
pub enum SlurmAction {
    /// Check the cluster (commands, limits, clocks, shared folder) and print a remedy for each problem
    Doctor(DoctorOptions),
}

#[derive(Args)]
pub struct DoctorOptions {
    /// Folder in which runs will create their folders; all nodes must see it
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Partition of the pilots [default: the default partition of the cluster]
    #[arg(long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// Number of nodes on which a short job checks the clocks and the folder; 0 submits no job
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=512))]
    pub nodes: u32,
    /// Maximum time that the short job waits for its nodes
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub wait: WaitTime,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
