//! The workload model of Lublin and Feitelson.
//!
//! U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
//! Journal of Parallel and Distributed Computing 63(11), 2003, DOI 10.1016/S0743-7315(03)00108-4. The parameters
//! are those of the whole sample, without a distinction of batch and interactive jobs, as its authors' program has them.
//!
//! *Size.* Serial with probability 0.244; otherwise 2^u processors, u two-stage uniform on [0.8, h - 2.5] (with
//! probability 0.86) and [h - 2.5, h], h the logarithm of the number of processors to base 2. With probability 0.576 u is
//! rounded to a whole number, which makes the size a power of two. *Run time.* e^x s, x hyper-gamma:
//! gamma(4.2, 0.94) with probability 0.78 - 0.0054 size, else gamma(312, 0.03); drawn again above e^12 s. *Arrivals.* Gaps
//! of e^x s in the rush hours, x gamma(10.23 * 1.0225, 0.4871), drawn again above e^13 s, stretched in each half hour of the
//! day by how few jobs come in it, which is gamma(8.1737, 3.9631).
//!
//! Beyond 361 processors the probability of a short run time would be negative for the largest jobs; as in the authors'
//! program it is zero there, though the model was fitted to machines of up to 1152 processors only.

use makespan_core::{Actual, Instance, InstanceError, Job, Platform, Profile, Time};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

use super::day::Day;
use super::requests::Requests;
use crate::GenerateError;

/// Jobs of a log; twice as many would need more than 1 GiB.
const MAX_JOBS: usize = 2_000_000;
/// Probability of a job on one processor.
const SERIAL: f64 = 0.244;
/// Probability of a job whose size was rounded to a power of two.
const POWER_OF_TWO: f64 = 0.576;
/// Logarithm (base 2) of the smallest parallel size; below 1 so that two processors are not too rare.
const LOWEST: f64 = 0.8;
/// How far below the logarithm of the machine the two uniform stages meet.
const BEND: f64 = 2.5;
/// Probability of the lower stage.
const LOWER: f64 = 0.86;
/// Shape and scale of the logarithms of short run times.
const SHORT: (f64, f64) = (4.2, 0.94);
/// Shape and scale of the logarithms of long run times.
const LONG: (f64, f64) = (312.0, 0.03);
/// The probability of a short run time is this times the size plus [`INTERCEPT`].
const SLOPE: f64 = -0.0054;
const INTERCEPT: f64 = 0.78;
/// Logarithm of the longest run time: about two days.
const LONGEST: f64 = 12.0;
/// Shape and scale of the logarithms of gaps in the rush hours; the shape includes the factor to all hours.
const GAP: (f64, f64) = (10.2303 * 1.0225, 0.4871);
/// Logarithm of the longest gap: about five days.
const LONGEST_GAP: f64 = 13.0;

/// A log by the model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LublinOptions {
    /// How many jobs.
    pub jobs: usize,
    /// Processors of the machine, at least 8: the two stages need room.
    pub processors: u32,
    /// The same seed gives the same log.
    pub seed: u64,
    /// Offered load: work over processors times the span of arrivals. Arrivals are stretched or pressed together to meet it;
    /// they are as the model has them when it is left out.
    pub load: Option<f64>,
    /// How far users ask for more than they need; requests are the run times when it is left out.
    pub requests: Option<Requests>,
}

/// A log that was drawn: an instance with what users asked for, and what really happens.
#[derive(Clone, Debug)]
pub struct DrawnLog {
    /// Machines and rigid jobs, by submit time. The times are the requests, which are also the walltimes; without requests
    /// they are the run times, and there are no walltimes.
    pub instance: Instance,
    /// How long the jobs really run.
    pub actual: Actual,
}

/// One job before it has a request.
struct Drawn {
    submit: f64,
    run: f64,
    size: u32,
}

/// Draws a log.
///
/// # Errors
/// [`GenerateError`] when there are no jobs or fewer than 8 processors, or the load is not positive.
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
    let mut jobs: Vec<Drawn> = (0..options.jobs)
        .map(|_| {
            let submit = day.arrive(limited(&model.gap, LONGEST_GAP, &mut random).exp());
            let size = model.size(&mut random);
            let run = model.run(size, &mut random);
            Drawn { submit, run, size }
        })
        .collect();
    if let Some(load) = options.load {
        stretch(&mut jobs, options.processors, load);
    }
    log(options, &jobs, &mut random)
}

fn log(options: &LublinOptions, drawn: &[Drawn], random: &mut ChaCha8Rng) -> Result<DrawnLog, GenerateError> {
    let platform = Platform::flat(options.processors).map_err(|error| GenerateError::Option {
        name: "processors",
        value: format!("{} ({error})", options.processors),
        expected: "give a number of processors that a platform can have",
    })?;
    let mut jobs = Vec::with_capacity(drawn.len());
    let mut real = Vec::with_capacity(drawn.len());
    for (index, Drawn { submit, run, size }) in drawn.iter().enumerate() {
        let name = (index + 1).to_string();
        // A log counts whole seconds; one that is shorter would not be in it.
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
            expected: "together they ask for more than the 146 years that times may span; draw fewer, or use smaller \
                       requests: sizes, and with them the work, grow with the machine",
        },
        error => error.into(),
    })?;
    Ok(DrawnLog { instance, actual })
}

/// Moves arrivals so that the work is `load` times what the machine could do until the last one.
fn stretch(jobs: &mut [Drawn], processors: u32, load: f64) {
    let work: f64 = jobs.iter().map(|job| job.run * f64::from(job.size)).sum();
    let (first, last) = (jobs[0].submit, jobs[jobs.len() - 1].submit);
    let span = work / (f64::from(processors) * load);
    let factor = if last > first { span / (last - first) } else { 1.0 };
    for job in jobs {
        job.submit = (job.submit - first) * factor;
    }
}

/// The distributions of sizes, run times and gaps on a machine.
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
        // Rounding goes beyond a machine whose size is no power of two.
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

/// A value that is drawn again while it is above `most`.
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
        return wrong("processors", options.processors.to_string(), "the model needs at least 8");
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
