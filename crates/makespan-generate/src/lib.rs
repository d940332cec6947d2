//! Generators of random instances.
//!
//! The families of moldable jobs ([`generate`]) come from P.-F. Dutot, L. Eyraud, G. Mounié and D. Trystram,
//! "Bi-criteria algorithm for scheduling jobs on cluster platforms" (SPAA 2004, DOI 10.1145/1007912.1007932), section
//! 4.1. Each job has its own random stream. So for a given seed, job 7 of an instance with 10 jobs equals job 7 of an
//! instance with 1,000 jobs. [`poisson`] generates jobs that arrive at a given load. [`lublin`] generates logs of
//! rigid jobs. [`flow`] generates tasks with an oscillating arrival rate. [`project`] generates activities that share
//! resources. [`with_needs`] adds requests for memory and GPUs to any of these instances.

mod day;
mod error;
mod etc;
mod family;
mod flow;
mod graph;
mod lublin;
mod needs;
mod parallelism;
mod poisson;
mod project;
mod requests;
#[cfg(test)]
mod samples;
mod tree;

use makespan_core::{Instance, Job, Platform, Profile, Time, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};

pub use error::GenerateError;
pub use etc::{Consistency, EtcOptions, etc};
pub use family::Family;
pub use flow::{FlowOptions, flow};
pub use graph::{GraphOptions, Law, Shape, generate_graphs};
pub use lublin::{DrawnLog, LublinOptions, lublin};
pub use needs::{NeedsOptions, with_needs};
pub use poisson::{PoissonOptions, poisson};
pub use project::{ProjectOptions, project};
pub use requests::Requests;
pub use tree::{DATA, LARGEST_RATIO, LEAST_RATIO, Latency, TreeOptions, Unit, generate_tree};

/// Maximum total number of entries in the tables of run times. An entry needs 8 bytes of memory.
const MAX_ENTRIES: u64 = 50_000_000;
/// Maximum number of jobs, tasks or nodes of an instance.
const MAX_PARTS: u64 = 1_000_000;

/// Returns an error if `value` is above [`MAX_PARTS`], because such an instance would be too large for memory.
fn at_most(name: &'static str, value: u64) -> Result<(), GenerateError> {
    if value <= MAX_PARTS {
        return Ok(());
    }
    Err(GenerateError::Option { name, value: value.to_string(), expected: "it must be at most 1000000" })
}

/// Options for moldable jobs on a flat cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MoldableOptions {
    /// Family of the jobs: the distributions of their sequential run times and speed-ups.
    pub family: Family,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of processors of the cluster. Each job has a run time for each number of processors from 1 to this
    /// number.
    pub processors: u32,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
    /// Mean number of jobs that a Poisson process releases per second. With `None`, all jobs are released at 0.
    pub arrival_rate: Option<f64>,
}

/// Generates an instance.
///
/// Weights are uniform on [1, 10]. If there is an arrival rate, the gap before each release, including the first, is
/// drawn from an exponential distribution.
///
/// # Errors
/// [`GenerateError`] if the platform has no processor, the rate is not positive, or the tables of run times would be
/// too large.
pub fn generate(options: &MoldableOptions) -> Result<Instance, GenerateError> {
    check(options)?;
    let platform = Platform::flat(options.processors).map_err(|error| GenerateError::Option {
        name: "processors",
        value: format!("{} ({error})", options.processors),
        expected: "give from 1 to 16777216 processors",
    })?;
    let gaps = options.arrival_rate.map(Exp::new).transpose().map_err(|_| bad_rate(options.arrival_rate))?;
    let digits = options.jobs.saturating_sub(1).to_string().len();
    let mut arrival = 0.0;
    let mut jobs = Vec::with_capacity(options.jobs);
    for index in 0..options.jobs {
        let mut stream = ChaCha8Rng::seed_from_u64(options.seed);
        stream.set_stream(index as u64);
        let name = format!("j{index:0digits$}");
        let weight = Weight::from_f64(stream.random_range(1.0..=10.0)).unwrap_or_default();
        let times = options.family.draw(options.processors, &mut stream);
        let profile = Profile::table(times).map_err(|source| GenerateError::Profile { job: name.clone(), source })?;
        arrival += gaps.map_or(0.0, |gaps| gaps.sample(&mut stream));
        let release = Time::from_seconds_f64(arrival).map_err(|_| bad_rate(options.arrival_rate))?;
        jobs.push(Job::new(name, profile).with_weight(weight).with_release(release));
    }
    Ok(Instance::new(platform, jobs, Vec::new())?)
}

fn check(options: &MoldableOptions) -> Result<(), GenerateError> {
    if options.processors == 0 {
        return Err(GenerateError::Option { name: "processors", value: "0".into(), expected: "it must be at least 1" });
    }
    at_most("number of jobs", options.jobs as u64)?;
    if options.jobs as u64 > MAX_ENTRIES / u64::from(options.processors) {
        return Err(GenerateError::Option {
            name: "jobs",
            value: options.jobs.to_string(),
            expected: "jobs times processors must be at most 50000000, because each job has a time for each number of processors",
        });
    }
    match options.arrival_rate {
        Some(rate) if !(rate.is_finite() && rate > 0.0) => Err(bad_rate(options.arrival_rate)),
        _ => Ok(()),
    }
}

fn bad_rate(rate: Option<f64>) -> GenerateError {
    GenerateError::Option {
        name: "arrival rate",
        value: rate.unwrap_or_default().to_string(),
        expected: "it must be a positive number of jobs per second, so high that the last job arrives within 292 years",
    }
}

#[cfg(test)]
mod tests;
