//! The kinds of random jobs in the campaign.

use std::fmt;
use std::str::FromStr;

use makespan_algos::kernel::hierarchical::Cluster;
use makespan_core::{Instance, Job, Platform, Profile, Time};
use makespan_generate::{Family, GenerateError, MoldableOptions, generate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::parsed;

/// The run time of an adversarial job as a function of its number of processors. For every shape, if the number of
/// processors grows, the time does not increase, and the work does not decrease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// The time is inversely proportional to the number of processors, so the work is constant.
    Linear,
    /// The time of a job is the same on any number of processors.
    Flat,
    /// At random, an additional processor either keeps the work constant (so the time decreases) or keeps the time
    /// constant.
    Steps,
    /// Up to some number of processors, the work is constant. On more processors, the time is constant.
    Caps,
}

/// The kind of jobs in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// Jobs of a family of `makespan generate`, such as `mixed`.
    Family(Family),
    /// Adversarial jobs. Each job has a number of processors on which it takes 5.1 to 10 s. If possible, these numbers
    /// together nearly fill the platform.
    Shape(Shape),
}

/// The longest time of an adversarial job on its number of processors.
const LENGTH: Time = Time::from_seconds(10);

impl Population {
    /// All families, followed by all shapes.
    pub const ALL: [Self; 8] = [
        Self::Family(Family::Weak),
        Self::Family(Family::High),
        Self::Family(Family::Mixed),
        Self::Family(Family::Cirne),
        Self::Shape(Shape::Linear),
        Self::Shape(Shape::Flat),
        Self::Shape(Shape::Steps),
        Self::Shape(Shape::Caps),
    ];

    /// Generates a random instance on the nodes of `cluster`. Every job must be in best placement.
    pub(super) fn draw(self, cluster: Cluster, jobs: usize, seed: u64) -> Result<Instance, LabError> {
        let platform = Self::platform(cluster)?;
        let processors = platform.processors();
        let drawn = match self {
            Self::Family(family) => {
                let options = MoldableOptions { family, jobs, processors, seed, arrival_rate: None };
                generate(&options)?.all_submitted()
            }
            Self::Shape(shape) => adversarial(shape, jobs, processors, seed)?,
        };
        Ok(Instance::new(platform, drawn, vec![])?)
    }

    /// Returns the platform with the nodes of `cluster`. The platform requires best placement.
    pub(super) fn platform(Cluster { nodes, each }: Cluster) -> Result<Platform, LabError> {
        let platform = Platform::cluster(nodes, each).map_err(|error| LabError::Option {
            name: "nodes",
            value: format!("{nodes} of {each} processors ({error})"),
            expected: "write numbers that form a valid platform",
        })?;
        Ok(platform.requiring_compact())
    }
}

/// Generates adversarial jobs. Each job has a number of processors on which it takes between half of [`LENGTH`] and
/// [`LENGTH`]. These numbers sum to about the number of processors of the platform, so that few processors stay idle
/// (except for the shape `Flat`, with one processor for each job). These jobs are difficult for the construction if the
/// guess is near [`LENGTH`], because their run times are then more than half of the guess.
fn adversarial(shape: Shape, jobs: usize, processors: u32, seed: u64) -> Result<Vec<Job>, LabError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Choose a random share of the platform for each job, from an exponential distribution. This is like dividing the
    // platform at random positions.
    let shares: Vec<f64> = (0..jobs).map(|_| -random.random_range(1e-9_f64..1.0).ln()).collect();
    let total: f64 = shares.iter().sum();
    let mut drawn = Vec::with_capacity(jobs);
    for (index, share) in shares.into_iter().enumerate() {
        let width = match shape {
            // A flat job takes equally long on any number of processors. So its time on one processor must be at most
            // [`LENGTH`].
            Shape::Flat => 1.0,
            _ => (share / total * f64::from(processors)).round().max(1.0),
        };
        let percent = random.random_range(51..=100);
        let sequential = LENGTH.ticks() / 100 * percent * width as i64;
        let name = index.to_string();
        let times = times(shape, sequential, processors, &mut random);
        let profile = Profile::table(times).map_err(|source| GenerateError::Profile { job: name.clone(), source })?;
        drawn.push(Job::new(name, profile));
    }
    Ok(drawn)
}

fn times(shape: Shape, sequential: i64, processors: u32, random: &mut ChaCha8Rng) -> Vec<Time> {
    let (cap, chance) = (i64::from(random.random_range(1..=processors)), random.random_range(0.1..0.9));
    let mut last = sequential;
    let mut times = vec![Time::from_ticks(last)];
    for count in 2..=i64::from(processors) {
        // The shortest time on `count` processors with which the work is not less than on `count - 1` processors.
        let perfect = (last * (count - 1) + count - 1) / count;
        let faster = match shape {
            Shape::Linear => true,
            Shape::Flat => false,
            Shape::Steps => random.random_bool(chance),
            Shape::Caps => count <= cap,
        };
        last = if faster { perfect } else { last };
        times.push(Time::from_ticks(last));
    }
    times
}

impl fmt::Display for Population {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Family(family) => f.pad(family.name()),
            Self::Shape(shape) => f.pad(&format!("{shape:?}").to_lowercase()),
        }
    }
}

impl FromStr for Population {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Self, LabError> {
        parsed(Self::ALL, text, "family", "write weak, high, mixed, cirne, linear, flat, steps or caps")
    }
}
