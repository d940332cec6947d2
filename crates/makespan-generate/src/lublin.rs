//! Generates logs of rigid jobs by the workload model of Lublin and Feitelson.
//!
//! U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid
//! jobs", Journal of Parallel and Distributed Computing 63(11), 2003, DOI 10.1016/S0743-7315(03)00108-4. As in the
//! authors' program, one set of parameters describes all jobs. Batch jobs and interactive jobs are not distinguished.
//!
//! *Size.* With probability 0.244, a job is serial. Otherwise, the job uses 2^u processors, rounded to a whole number.
//! Let h be the logarithm (base 2) of the number of processors of the machine. Then u is uniform on [0.8, h - 2.5]
//! with probability 0.86, and uniform on [h - 2.5, h] otherwise. For 57.6 % of all jobs, u is rounded to a whole
//! number, so that the size is a power of two.
//!
//! *Run time.* A run time is e^x s. For a job on n processors, x is drawn from gamma(4.2, 0.94) with probability 0.78 -
//! 0.0054 n, and from gamma(312, 0.03) otherwise. Run times above e^12 s are redrawn.
//!
//! *Arrivals.* At the mean arrival rate of a day, the gap between two arrivals is e^x s, and x is drawn from
//! gamma(10.23 * 1.0225, 0.4871). Gaps above e^13 s are redrawn. Over a day, the arrival rate follows the density of
//! gamma(8.1737, 3.9631). A gap is shorter in half hours with a higher arrival rate, and longer in half hours with a
//! lower arrival rate.
//!
//! For jobs on more than 144 processors, the formula for the probability of a short run time has a negative result.
//! The probability is then zero, as in the authors' program. The authors fitted the model only to machines of up to
//! 1152 processors.

use makespan_core::{Actual, Instance, InstanceError, Job, Platform, Profile, Time};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

use super::day::Day;
use super::requests::Requests;
use crate::GenerateError;

/// Maximum number of jobs in a log. A log with twice as many jobs would need more than 1 GiB of memory.
const MAX_JOBS: usize = 2_000_000;
/// Probability that a job uses one processor.
const SERIAL: f64 = 0.244;
/// Probability that u is rounded, so that the size of the job is a power of two. The probability is a share of all
/// jobs, including jobs on one processor.
const POWER_OF_TWO: f64 = 0.576;
/// Minimum of u, the logarithm (base 2) of the size of a parallel job. The value is below 1, because jobs on two
/// processors would otherwise be too rare.
const LOWEST: f64 = 0.8;
/// The two uniform distributions of u meet at h - `BEND`, where h is the logarithm (base 2) of the number of
/// processors of the machine.
const BEND: f64 = 2.5;
/// Probability that u is drawn from the first uniform distribution, from [`LOWEST`] to h - [`BEND`].
const LOWER: f64 = 0.86;
/// Shape and scale of the gamma distribution of the logarithms of short run times.
const SHORT: (f64, f64) = (4.2, 0.94);
/// Shape and scale of the gamma distribution of the logarithms of long run times.
const LONG: (f64, f64) = (312.0, 0.03);
/// Slope of the probability that a job has a short run time. The probability is this slope, multiplied by the job's
/// size, plus [`INTERCEPT`].
const SLOPE: f64 = -0.0054;
const INTERCEPT: f64 = 0.78;
/// Logarithm of the longest run time in seconds (about two days).
const LONGEST: f64 = 12.0;
/// Shape and scale of the gamma distribution from which the logarithm of a gap is drawn. A gap is the time between two
/// arrivals, in seconds, at the mean arrival rate of a day. The factor 1.0225 converts the authors' shape for the rush
/// hours to all hours.
const GAP: (f64, f64) = (10.2303 * 1.0225, 0.4871);
/// Logarithm of the longest gap in seconds (about five days).
const LONGEST_GAP: f64 = 13.0;

/// Options for a log that the workload model generates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LublinOptions {
    /// Number of jobs.
    pub jobs: usize,
    /// Number of processors of the machine. The number must be at least 8, because one of the two uniform
    /// distributions of job sizes would otherwise be empty.
    pub processors: u32,
    /// Seed; the same seed gives the same log.
    pub seed: u64,
    /// Offered load: the total work, divided by the number of processors and by the time from the first to the last
    /// arrival. All gaps are scaled to reach this load. With `None`, the gaps are not scaled.
    pub load: Option<f64>,
    /// Distribution of requested times. With `None`, the requested times equal the run times.
    pub requests: Option<Requests>,
}

/// A generated log. The instance contains the requested times. The actual run times are stored separately, because
/// policies must not see them.
#[derive(Clone, Debug)]
pub struct DrawnLog {
    /// Machines and rigid jobs, in the order of submit times. The jobs' times and walltimes are the requested times. If
    /// [`LublinOptions::requests`] is `None`, the jobs' times are the actual run times, and the jobs have no walltimes.
    pub instance: Instance,
    /// Actual run times of the jobs.
    pub actual: Actual,
}

/// A generated job that has no requested time yet.
struct GeneratedJob {
    submit: f64,
    run: f64,
    size: u32,
}

/// Generates a log.
///
/// # Errors
/// [`GenerateError`] if there are no jobs or fewer than 8 processors, or the load is not positive.
///
/// ```
/// use makespan_generate::{LublinOptions, lublin};
/// let options = LublinOptions { jobs: 100, processors: 128, seed: 1, load: None, requests: None };
/// assert_eq!(lublin(&options)?.instance.jobs().len(), 100);
/// # Ok::<(), makespan_generate::GenerateError>(())
/// ```
pub fn lublin(options: &LublinOptions) -> Result<DrawnLog, GenerateError> {
    check(options)?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let mut day = Day::new();
    let model = Model::new(options.processors);
    let mut jobs: Vec<GeneratedJob> = (0..options.jobs)
        .map(|_| {
            let submit = day.arrive(limited(&model.gap, LONGEST_GAP, &mut random).exp());
            let size = model.size(&mut random);
            let run = model.run(size, &mut random);
            GeneratedJob { submit, run, size }
        })
        .collect();
    if let Some(load) = options.load {
        stretch(&mut jobs, options.processors, load);
    }
    log(options, &jobs, &mut random)
}

fn log(options: &LublinOptions, drawn: &[GeneratedJob], random: &mut ChaCha8Rng) -> Result<DrawnLog, GenerateError> {
    let platform = Platform::flat(options.processors).map_err(|error| GenerateError::Option {
        name: "processors",
        value: format!("{} ({error})", options.processors),
        expected: "give from 1 to 16777216 processors",
    })?;
    let mut jobs = Vec::with_capacity(drawn.len());
    let mut real = Vec::with_capacity(drawn.len());
    for (index, GeneratedJob { submit, run, size }) in drawn.iter().enumerate() {
        let name = (index + 1).to_string();
        // Times in logs are whole seconds, so a run time below one second would become zero.
        let run = Time::from_seconds((*run as i64).max(1));
        let request = options.requests.map_or(run, |requests| requests.draw(run, random));
        let profile =
            |time| Profile::rigid(*size, time).map_err(|source| GenerateError::Profile { job: name.clone(), source });
        let mut job = Job::new(name.clone(), profile(request)?).with_release(Time::from_seconds(*submit as i64));
        job.walltime = options.requests.map(|_| request);
        jobs.push(job);
        real.push(profile(run)?);
    }
    let actual = if options.requests.is_some() { Actual::Profiles(real) } else { Actual::AsEstimated };
    let instance = Instance::new(platform, jobs, Vec::new()).map_err(|error| match error {
        InstanceError::TooLong => GenerateError::Option {
            name: "jobs",
            value: options.jobs.to_string(),
            expected: "the total requested time of these jobs exceeds the maximum of 146 years; draw fewer jobs, use \
                       smaller requests, or use fewer processors (jobs on a larger machine have more work)",
        },
        error => error.into(),
    })?;
    Ok(DrawnLog { instance, actual })
}

/// Scales the gaps so that the total work is `load` times the work that the machine can complete between the first and
/// the last arrival.
fn stretch(jobs: &mut [GeneratedJob], processors: u32, load: f64) {
    let work: f64 = jobs.iter().map(|job| job.run * f64::from(job.size)).sum();
    let (first, last) = (jobs[0].submit, jobs[jobs.len() - 1].submit);
    let span = work / (f64::from(processors) * load);
    let factor = if last > first { span / (last - first) } else { 1.0 };
    for job in jobs {
        job.submit = (job.submit - first) * factor;
    }
}

/// The distributions of sizes, run times and gaps for a machine with a given number of processors.
struct Model {
    processors: u32,
    short: Gamma<f64>,
    long: Gamma<f64>,
    gap: Gamma<f64>,
}

impl Model {
    fn new(processors: u32) -> Self {
        let gamma = |(shape, scale)| Gamma::new(shape, scale).expect("the parameters of the model are positive");
        Self { processors, short: gamma(SHORT), long: gamma(LONG), gap: gamma(GAP) }
    }

    fn size(&self, random: &mut impl Rng) -> u32 {
        let kind: f64 = random.random();
        if kind <= SERIAL {
            return 1;
        }
        let high = f64::from(self.processors).log2();
        let bend = high - BEND;
        let (low, high) = if random.random::<f64>() <= LOWER { (LOWEST, bend) } else { (bend, high) };
        let exponent = low + (high - low) * random.random::<f64>();
        let exponent = if kind <= SERIAL + POWER_OF_TWO { exponent.round() } else { exponent };
        // If the number of processors is not a power of two, a rounded size can exceed the number of processors.
        (exponent.exp2().round() as u32).min(self.processors)
    }

    fn run(&self, size: u32, random: &mut impl Rng) -> f64 {
        let short = (SLOPE * f64::from(size) + INTERCEPT).clamp(0.0, 1.0);
        loop {
            let gamma = if random.random::<f64>() <= short { &self.short } else { &self.long };
            let logarithm = gamma.sample(random);
            if logarithm <= LONGEST {
                return logarithm.exp();
            }
        }
    }
}

/// Returns a random value that is at most `most`. Larger values are drawn again.
fn limited(gamma: &Gamma<f64>, most: f64, random: &mut impl Rng) -> f64 {
    loop {
        let value = gamma.sample(random);
        if value <= most {
            return value;
        }
    }
}

fn check(options: &LublinOptions) -> Result<(), GenerateError> {
    let wrong = |name, value: String, expected| Err(GenerateError::Option { name, value, expected });
    if options.jobs == 0 || options.jobs > MAX_JOBS {
        return wrong("jobs", options.jobs.to_string(), "it must be at least 1 and at most 2000000");
    }
    if options.processors < 8 {
        return wrong("processors", options.processors.to_string(), "the model needs at least 8 processors");
    }
    match options.load {
        Some(load) if !(1e-6..=1e6).contains(&load) => {
            wrong("load", load.to_string(), "it must be positive, such as 0.7")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
