//! The options of `makespan generate project`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct GenerateProjectOptions {
    /// Number of activities, not counting the start and the end of the project
    #[arg(long, default_value_t = 30, allow_negative_numbers = true)]
    pub activities: usize,
    /// Number of modes of each activity, from 1 to 10; a faster mode needs more resources
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub modes: usize,
    /// Number of renewable resources (licences R1, R2 ..)
    #[arg(long, default_value_t = 4, allow_negative_numbers = true)]
    pub renewable: usize,
    /// Number of nonrenewable resources (consumables N1, N2 ..)
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub nonrenewable: usize,
    /// Network complexity: average number of non-redundant edges per activity
    ///
    /// PSPLIB uses 1.5, 1.8 and 2.1
    #[arg(long, default_value_t = 1.5, value_name = "EDGES", allow_negative_numbers = true)]
    pub complexity: f64,
    /// Resource factor: the share of the kinds of resources that an activity needs
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", allow_negative_numbers = true)]
    pub factor: f64,
    /// Resource strength, from 0 to 1: with 0, the amount of each resource is the least feasible amount; with 1, no
    /// activity ever waits for a resource
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", allow_negative_numbers = true)]
    pub strength: f64,
    /// Seed of every random choice
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Output file; the ending .toml or .json selects the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
