//! Work in shards.

use clap::Args;

use super::SlurmOptions;

/// Whether work is split into shards, and where these are computed.
#[derive(Args)]
pub struct ShardOptions {
    #[command(flatten)]
    pub(crate) slurm: SlurmOptions,
    /// Split the work into so many shards, processes of this program that leave their parts in the folder
    ///
    /// Without --on they run on this machine [default with --on: 4 for each processor]
    #[arg(long, value_name = "N", value_parser = super::machines::positive)]
    pub shards: Option<u32>,
}

impl ShardOptions {
    /// Returns whether the work is to be split.
    pub const fn are_asked(&self) -> bool {
        self.shards.is_some() || self.slurm.on.is_some()
    }
}

/// The arguments of `shard`.
#[derive(Args)]
pub struct ShardCommand {
    /// The folder of the work
    pub folder: std::path::PathBuf,
    /// Which shard, from 0
    pub index: usize,
}
