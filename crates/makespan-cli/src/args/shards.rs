//! Command-line options for work that is split into shards.

use clap::Args;

use super::SlurmOptions;

/// The number of shards, and the machines on which the shards run.
#[derive(Args)]
pub struct ShardOptions {
    #[command(flatten)]
    pub(crate) slurm: SlurmOptions,
    /// Split the work into N shards; each shard is a process of this program that writes its results into --folder
    ///
    /// Without --on, the shards run on this machine [default with --on: 4 for each processor]
    #[arg(long, value_name = "N", value_parser = super::machines::positive)]
    pub shards: Option<u32>,
}

impl ShardOptions {
    /// Returns true if an option requests shards.
    pub const fn are_asked(&self) -> bool {
        self.shards.is_some() || self.slurm.on.is_some()
    }
}

/// The arguments of `shard`.
#[derive(Args)]
pub struct ShardCommand {
    /// The folder of the work
    pub folder: std::path::PathBuf,
    /// Number of the shard, from 0
    pub index: usize,
}
