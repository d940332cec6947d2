//! Generates moldable jobs that arrive at a given load.

use makespan_core::{Instance, Job, Time};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1};

use super::{Family, MoldableOptions, generate};
use crate::GenerateError;

/// Random stream for the gaps. No job uses this stream.
const GAPS: u64 = u64::MAX;

/// Options for moldable jobs that arrive on a flat cluster as a Poisson process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonOptions {
    /// Family of the jobs: the distributions of their sequential run times and speed-ups.
    pub family: Family,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of processors.
    pub processors: u32,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
    /// Offered load: the mean work of the jobs that arrive in one second, divided by the number of processors. The
    /// work of a job is its run time on one processor. On several processors, the job may need more processor time.
    pub load: f64,
}

/// Generates the jobs of [`generate`], with exponential gaps between their arrivals. The mean gap is the mean work of
/// these jobs, divided by the number of processors and by the load.
///
/// # Errors
/// The errors of [`generate`], or an error if the load is out of range.
pub fn poisson(options: &PoissonOptions) -> Result<Instance, GenerateError> {
    let PoissonOptions { family, jobs, processors, seed, load } = *options;
    let wrong = || GenerateError::Option {
        name: "load",
        value: load.to_string(),
        expected: "it must be positive, such as 0.7, and so high that the last job arrives within 146 years",
    };
    if !(1e-6..=1e6).contains(&load) {
        return Err(wrong());
    }
    let instance = generate(&MoldableOptions { family, jobs, processors, seed, arrival_rate: None })?;
    let work: f64 = instance.simple_jobs().map(|job| job.profile().longest().seconds()).sum();
    let mean = work / (jobs.max(1) as f64 * f64::from(processors) * load);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(GAPS);
    let mut arrival = 0.0;
    let released = |job: Job| {
        let gap: f64 = Exp1.sample(&mut random);
        arrival += gap * mean;
        Ok(job.with_release(Time::from_seconds_f64(arrival).map_err(|_| wrong())?))
    };
    let jobs = instance.all_submitted().into_iter().map(released).collect::<Result<_, GenerateError>>()?;
    Ok(Instance::new(instance.platform().clone(), jobs, Vec::new())?)
}

#[cfg(test)]
mod tests {
    use makespan_core::TaskId;

    use super::*;

    #[test]
    fn the_offered_load_is_the_one_asked_for() {
        for (family, load) in [(Family::Weak, 0.7), (Family::Cirne, 1.5)] {
            let options = PoissonOptions { family, jobs: 4000, processors: 16, seed: 3, load };
            let instance = poisson(&options).unwrap();
            let work: f64 = instance.simple_jobs().map(|job| job.profile().time(1).seconds()).sum();
            let last = instance.jobs().last().unwrap().release.seconds();
            let offered = work / (16.0 * last);
            // The standard deviation of the sum of 4000 exponential gaps is 1.6 % of the sum. The tolerance is about
            // three times as large.
            assert!((offered / load - 1.0).abs() < 0.05, "{offered} is not {load}");
            assert_eq!(poisson(&options).unwrap().all_submitted(), instance.all_submitted());
            let short = poisson(&PoissonOptions { jobs: 5, ..options }).unwrap();
            assert_eq!(short.profile(TaskId(3)), instance.profile(TaskId(3)));
        }
    }

    #[test]
    fn a_load_that_is_none_is_refused() {
        let options = PoissonOptions { family: Family::Weak, jobs: 4, processors: 2, seed: 1, load: 0.0 };
        for load in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = poisson(&PoissonOptions { load, ..options }).unwrap_err().to_string();
            assert!(error.contains("load is "), "{error}");
        }
        assert_eq!(poisson(&PoissonOptions { jobs: 0, load: 1.0, ..options }).unwrap().jobs().len(), 0);
    }
}
