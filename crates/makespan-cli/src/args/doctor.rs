//! The options of `makespan slurm`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Args)]
pub struct SlurmCommands {
    #[command(subcommand)]
    pub action: SlurmAction,
}

#[derive(Subcommand)]
pub enum SlurmAction {
    /// Say what this cluster allows, and what is to be done about it: commands, limits, clocks, the shared folder
    Doctor(DoctorOptions),
}

#[derive(Args)]
pub struct DoctorOptions {
    /// Where the folders of runs will be; all nodes must see it
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// The partition of the pilots [default: that of the cluster]
    #[arg(long, value_name = "PARTITION")]
    pub partition: Option<String>,
    /// On how many nodes a short job looks at clocks and at the folder; 0 for no job
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=512))]
    pub nodes: u32,
    /// For how long this job may wait for its nodes
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    pub wait: String,
    /// What is printed
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
