//! The kinds of random jobs.

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

/// The shape of the run times of an adversarial job, as a function of its number of processors. In each shape, more
/// processors never need more time or less work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// The time is inversely proportional to the number of processors, so the work is constant.
    Linear,
    /// The time of a job is the same on any number of processors.
    Flat,
    /// Each additional processor either keeps the work constant (so the time decreases), or keeps the time constant.
    Steps,
    /// Up to some number of processors, the work is constant. On more processors, the time is constant.
    Caps,
}

/// The kind of jobs in an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// A family of the generator.
    Family(Family),
    /// Adversarial jobs. If each job has its best allotment for a schedule of 10 s, the jobs nearly fill the platform
    /// for 10 s.
    Shape(Shape),
}

/// The schedule length in which adversarial jobs nearly fill the platform.
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

    /// Draws an instance on the nodes of `cluster`. Every job must be in its best placement.
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

/// Draws adversarial jobs. Each job has its own number of processors, on which it takes between half of [`LENGTH`] and
/// [`LENGTH`]. If possible, these numbers add up to the number of processors of the platform, so that few processors
/// stay idle. These jobs are difficult for the construction, because their run times are between half of the guess and
/// the whole guess.
fn adversarial(shape: Shape, jobs: usize, processors: u32, seed: u64) -> Result<Vec<Job>, LabError> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Draw a share of the platform for each job, with an exponential distribution. This corresponds to dividing the
    // platform at random positions.
    let shares: Vec<f64> = (0..jobs).map(|_| -random.random_range(1e-9_f64..1.0).ln()).collect();
    let total: f64 = shares.iter().sum();
    let mut drawn = Vec::with_capacity(jobs);
    for (index, share) in shares.into_iter().enumerate() {
        let width = match shape {
            // The time of a flat job is equal on all numbers of processors. So its time on one processor must be at
            // most [`LENGTH`].
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
        // The shortest time on `count` processors for which the work does not decrease.
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
