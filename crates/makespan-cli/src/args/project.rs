//! The options of `makespan generate project`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct GenerateProjectOptions {
    /// How many activities, without a begin and an end
    #[arg(long, default_value_t = 30, allow_negative_numbers = true)]
    pub activities: usize,
    /// Ways to do each activity, from 1 to 10: the faster, the more it needs
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub modes: usize,
    /// Resources that come back (licences R1, R2 ..)
    #[arg(long, default_value_t = 4, allow_negative_numbers = true)]
    pub renewable: usize,
    /// Resources that are used up (consumables N1, N2 ..)
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    pub nonrenewable: usize,
    /// Network complexity: average number of non-redundant edges per activity
    ///
    /// PSPLIB uses 1.5, 1.8 and 2.1
    #[arg(long, default_value_t = 1.5, value_name = "EDGES", allow_negative_numbers = true)]
    pub complexity: f64,
    /// Resource factor: the share of all resources that an activity needs
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", allow_negative_numbers = true)]
    pub factor: f64,
    /// Resource strength: how much there is of each resource, from 0 (no less would do) to 1 (nobody waits for it, if each activity starts
    /// as early as it can)
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", allow_negative_numbers = true)]
    pub strength: f64,
    /// The same seed gives the same bytes
    #[arg(long, default_value_t = 1, allow_negative_numbers = true)]
    pub seed: u64,
    /// Where to write; the ending .toml or .json chooses the format [default: JSON on standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
