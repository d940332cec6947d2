//! The random instances of a campaign.

use std::fmt;

use clap::Args;
use makespan_core::Instance;
use makespan_generate::{Family, MoldableOptions, generate};
use serde::{Deserialize, Serialize};

use super::{positive, refuse};
use crate::LabError;

/// One instance of a campaign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct InstanceKey {
    /// The family of the instance.
    pub family: Family,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of the repetition, from 0.
    pub run: u32,
}

/// The options that select the instances of a campaign: `runs` instances for each combination of family and number of
/// jobs.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[group(skip)]
pub struct Instances {
    /// Number of runs for each combination of family and number of jobs
    #[arg(long, default_value_t = 10)]
    pub runs: u32,
    /// Families of jobs
    #[arg(long, value_delimiter = ',', default_value = "weak,high,mixed,cirne", value_name = "FAMILY,..")]
    pub families: Vec<Family>,
    /// Numbers of jobs
    #[arg(long = "jobs", value_delimiter = ',', default_value = "25,50,100,200,400", value_name = "N,..")]
    pub sizes: Vec<usize>,
    /// Number of processors of the platform
    #[arg(long, default_value_t = 200)]
    pub processors: u32,
    /// The same seed gives the same instances
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Instances {
    /// Returns the keys of the instances.
    pub(crate) fn keys(&self) -> impl Iterator<Item = InstanceKey> + '_ {
        let points = self.families.iter().flat_map(|&family| self.sizes.iter().map(move |&jobs| (family, jobs)));
        points.flat_map(|(family, jobs)| (0..self.runs).map(move |run| InstanceKey { family, jobs, run }))
    }

    /// Returns the seed of an instance.
    pub(crate) fn seed_of(&self, key: InstanceKey) -> u64 {
        stirred(self.seed, [key.family as u64, key.jobs as u64, u64::from(key.run)])
    }

    /// Generates a random instance.
    pub(crate) fn draw(&self, key: InstanceKey) -> Result<Instance, LabError> {
        let (family, jobs, processors, seed) = (key.family, key.jobs, self.processors, self.seed_of(key));
        Ok(generate(&MoldableOptions { family, jobs, processors, seed, arrival_rate: None })?)
    }

    /// Returns an error if the options select no instance. Does not check the number of processors, because the
    /// generator checks this number.
    pub(crate) fn check(&self) -> Result<(), LabError> {
        if self.families.is_empty() {
            refuse("families", "empty", "name at least one of weak, high, mixed, cirne")?;
        }
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            refuse(
                "sizes",
                format!("{:?}", self.sizes),
                "give at least one number of jobs; each number must be positive",
            )?;
        }
        positive(&[("runs", self.runs as usize)])
    }
}

/// Formats a key, such as `family weak, 25 jobs, run 0`.
impl fmt::Display for InstanceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "family {}, {} jobs, run {}", self.family, self.jobs, self.run)
    }
}

/// Computes the seed of an instance from the seed of the campaign and all parts of the instance's key. Different keys
/// lead to unrelated seeds, even if some parts of the keys are equal.
pub(crate) fn stirred(seed: u64, parts: impl IntoIterator<Item = u64>) -> u64 {
    parts.into_iter().fold(seed, |state, part| {
        // Apply the last step of SplitMix64 (Steele, Lea and Flood 2014).
        let mut mixed = state.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(part).wrapping_add(1);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    })
}
