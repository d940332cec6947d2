use super::*;
use crate::samples::mean;

fn options(family: Family, jobs: usize) -> MoldableOptions {
    MoldableOptions { family, jobs, processors: 50, seed: 7, arrival_rate: None }
}

fn sequential(instance: &Instance) -> Vec<f64> {
    instance.simple_jobs().map(|job| job.profile().time(1).seconds()).collect()
}

/// Returns the speed-up of each job on all 50 processors.
fn speedups(instance: &Instance) -> Vec<f64> {
    let speedup = |profile: &Profile| profile.time(1).seconds() / profile.time(50).seconds();
    instance.simple_jobs().map(|job| speedup(job.profile())).collect()
}

#[test]
fn every_job_of_every_family_is_monotone() {
    for family in Family::ALL {
        for job in generate(&options(family, 60)).unwrap().simple_jobs() {
            let profile = job.profile();
            assert!(profile.is_monotone(), "{family}: {}", job.name);
            assert!((1.0..=10.0).contains(&job.weight.as_f64()));
            for processors in 2..=50 {
                assert!(profile.time(processors) <= profile.time(processors - 1), "{family}");
                assert!(profile.work(processors) >= profile.work(processors - 1), "{family}");
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_jobs_in_instances_of_any_size() {
    for family in Family::ALL {
        let profiles = |options: &MoldableOptions| -> Vec<Profile> {
            generate(options).unwrap().simple_jobs().map(|job| job.profile().clone()).collect()
        };
        let long = profiles(&options(family, 20));
        assert_eq!(long, profiles(&options(family, 20)));
        assert_eq!(long[..5], profiles(&options(family, 5)));
        let other = MoldableOptions { seed: 8, ..options(family, 20) };
        assert_ne!(long, profiles(&other));
    }
}

#[test]
fn the_samples_have_the_means_of_their_distributions() {
    let close = |sample: &[f64], low: f64, high: f64| {
        let mean = mean(sample);
        assert!((low..high).contains(&mean), "the mean is {mean}, not within {low} and {high}");
    };
    for family in [Family::Weak, Family::High, Family::Cirne] {
        close(&sequential(&generate(&options(family, 2000)).unwrap()), 5.3, 5.7);
    }
    // Negative sequential times are drawn again, so the mean times of small and of large jobs are 1.03 s and 10.3 s.
    // The expected mean is 0.7 x 1.03 + 0.3 x 10.3.
    close(&sequential(&generate(&options(Family::Mixed, 2000)).unwrap()), 3.4, 4.2);
    close(&speedups(&generate(&options(Family::Weak, 500)).unwrap()), 1.0, 3.0);
    // Values of X outside [0, 1] are drawn again, so X has mean 0.2. Therefore, the expected speed-up exp(0.8 (1/2.6 +
    // 1/3.6 + .. + 1/50.6)) is 12.9. With X = 0, the speed-up would be 25.5.
    close(&speedups(&generate(&options(Family::High, 500)).unwrap()), 11.5, 14.5);
}

#[test]
fn arrivals_come_at_the_rate() {
    let arrivals = MoldableOptions { arrival_rate: Some(0.5), ..options(Family::Weak, 1000) };
    let instance = generate(&arrivals).unwrap();
    let releases: Vec<f64> = instance.jobs().iter().map(|job| job.release.seconds()).collect();
    assert!(releases.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!((1800.0..2200.0).contains(&releases[999]), "the last job arrives at {}", releases[999]);
    assert!(!generate(&options(Family::Weak, 10)).unwrap().has_release_dates());
}

#[test]
fn figures_that_make_no_instance_are_refused() {
    let refused = |options: MoldableOptions, part: &str| {
        let error = generate(&options).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    let base = options(Family::Weak, 10);
    refused(MoldableOptions { processors: 0, ..base }, "processors is 0");
    refused(MoldableOptions { jobs: usize::MAX, ..base }, "at most 1000000");
    refused(MoldableOptions { jobs: 1_000_000, processors: 100, ..base }, "at most 50000000");
    refused(MoldableOptions { arrival_rate: Some(-1.0), ..base }, "arrival rate is -1");
    refused(MoldableOptions { arrival_rate: Some(f64::NAN), ..base }, "arrival rate is NaN");
    refused(MoldableOptions { arrival_rate: Some(1e-300), ..base }, "292 years");
    assert!("weakly".parse::<Family>().unwrap_err().to_string().contains("weak, high, mixed or cirne"));
    assert_eq!(generate(&MoldableOptions { jobs: 0, ..base }).unwrap().jobs().len(), 0);
    assert_eq!(generate(&MoldableOptions { processors: 1, ..base }).unwrap().processors(), 1);
}

#[test]
fn names_of_families_are_read_back() {
    for family in Family::ALL {
        assert_eq!(family.to_string().parse::<Family>().unwrap(), family);
    }
}
