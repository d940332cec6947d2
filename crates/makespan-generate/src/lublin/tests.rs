use std::path::PathBuf;

use makespan_formats::{ReadOptions, read_instance};

use super::*;
use crate::samples::{mean, quantile};

const BASE: LublinOptions = LublinOptions { jobs: 10_000, processors: 256, seed: 1, load: None, requests: None };

/// Returns three lists: the sizes of the jobs, their run times in seconds, and the gaps between submissions in seconds.
fn marginals(instance: &Instance) -> [Vec<f64>; 3] {
    let jobs = instance.jobs();
    let sizes = instance.simple_jobs().map(|job| f64::from(job.profile().min_processors())).collect();
    let runs = instance.simple_jobs().map(|job| job.profile().longest().seconds()).collect();
    let gaps = jobs.windows(2).map(|pair| (pair[1].release - pair[0].release).seconds()).collect();
    [sizes, runs, gaps]
}

fn share(sample: &[f64], of: impl Fn(f64) -> bool) -> f64 {
    sample.iter().filter(|&&value| of(value)).count() as f64 / sample.len() as f64
}

fn close(what: &str, ours: f64, theirs: f64, tolerance: f64) {
    assert!((ours / theirs - 1.0).abs() <= tolerance, "{what}: {ours} is not within {tolerance} of {theirs}");
}

#[test]
fn the_marginals_are_those_of_the_authors_program() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/swf/lublin-256.swf.gz");
    if !path.exists() {
        eprintln!("skipped: {} is not present", path.display());
        return;
    }
    let [sizes, runs, gaps] = marginals(&read_instance(&path, &ReadOptions::default()).unwrap().instance);
    // Five generated samples together are compared with one published sample. The tolerances are about three standard
    // deviations of the published sample.
    let ours: Vec<_> =
        (1..=5).map(|seed| marginals(&lublin(&LublinOptions { seed, ..BASE }).unwrap().instance)).collect();
    let joined = |which: usize| -> Vec<f64> { ours.iter().flat_map(|sample| sample[which].clone()).collect() };
    let (our_sizes, our_runs, our_gaps) = (joined(0), joined(1), joined(2));
    let log = |sample: &[f64]| mean(&sample.iter().map(|value| value.max(1.0).ln()).collect::<Vec<_>>());
    close("serial", share(&our_sizes, |size| size < 1.5), share(&sizes, |size| size < 1.5), 0.06);
    let power = |size: f64| (size as u32).is_power_of_two();
    close("powers of two", share(&our_sizes, power), share(&sizes, power), 0.02);
    close("mean size", mean(&our_sizes), mean(&sizes), 0.08);
    close("mean run time", mean(&our_runs), mean(&runs), 0.05);
    close("mean logarithm of the run time", log(&our_runs), log(&runs), 0.02);
    // Only one to five of 10,000 gaps are longer than e^12 s, but these gaps contribute a tenth of the mean of all
    // gaps. The published sample has no such gap.
    let usual = |sample: &[f64]| mean(&sample.iter().copied().filter(|gap| *gap <= 162_754.0).collect::<Vec<_>>());
    close("mean gap up to e^12 s", usual(&our_gaps), usual(&gaps), 0.1);
    close("mean logarithm of the gap", log(&our_gaps), log(&gaps), 0.02);
    for at in [0.25, 0.5, 0.75, 0.9] {
        let quantiles = |ours: &[f64], theirs: &[f64]| (quantile(ours, at), quantile(theirs, at));
        let (ours, theirs) = quantiles(&our_sizes, &sizes);
        assert!((ours - theirs).abs() <= theirs * 0.15, "size at {at}: {ours}, {theirs}");
        let (ours, theirs) = quantiles(&our_gaps, &gaps);
        close(&format!("gap at {at}"), ours, theirs, 0.12);
        let (ours, theirs) = quantiles(&our_runs, &runs);
        close(&format!("run time at {at}"), ours, theirs, 0.2);
    }
}

#[test]
fn a_seed_gives_the_same_log_and_requests_are_never_too_short() {
    let options = LublinOptions { jobs: 500, requests: Some(Requests::up_to(5.0).unwrap()), ..BASE };
    let log = lublin(&options).unwrap();
    let again = lublin(&options).unwrap();
    assert_eq!((log.instance.all_submitted(), &log.actual), (again.instance.all_submitted(), &again.actual));
    let Actual::Profiles(real) = &log.actual else { panic!("there are requests") };
    for (job, real) in log.instance.simple_jobs().zip(real) {
        let (asked, run) = (job.profile().longest(), real.longest());
        assert_eq!(job.walltime, Some(asked));
        assert!(asked >= run && asked <= run * 5 + Time::from_seconds(300), "{asked} for {run}");
        assert_eq!(asked.ticks() % Time::from_seconds(300).ticks(), 0);
    }
    assert!(log.instance.jobs().windows(2).all(|pair| pair[0].release <= pair[1].release));
    let plain = lublin(&LublinOptions { requests: None, ..options }).unwrap();
    assert_eq!(plain.actual, Actual::AsEstimated);
    assert!("x".parse::<Requests>().is_err() && Requests::up_to(0.5).is_err());
}

#[test]
fn arrivals_meet_the_load_on_large_machines_too() {
    for (processors, load) in [(256, 0.7), (10_000, 0.9), (8, 1.2)] {
        let log = lublin(&LublinOptions { jobs: 3000, processors, load: Some(load), ..BASE }).unwrap();
        let jobs = log.instance.jobs();
        let profiles = log.instance.simple_jobs().map(|job| job.profile());
        let work: f64 = profiles.map(|profile| profile.longest().seconds() * f64::from(profile.min_processors())).sum();
        let span = (jobs[jobs.len() - 1].release - jobs[0].release).seconds();
        // Rounding times to whole seconds changes the load slightly.
        close("load", work / (f64::from(processors) * span), load, 0.01);
    }
}

#[test]
fn figures_that_make_no_log_are_refused() {
    let refused = |options: LublinOptions, part: &str| {
        let error = lublin(&options).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    refused(LublinOptions { jobs: 0, ..BASE }, "jobs is 0");
    refused(LublinOptions { processors: 4, ..BASE }, "at least 8");
    refused(LublinOptions { load: Some(-0.5), ..BASE }, "load is -0.5");
    refused(LublinOptions { processors: u32::MAX, jobs: 1, ..BASE }, "processors is");
}

#[test]
fn a_log_of_centuries_is_refused_with_a_remedy() {
    let requests = Some(Requests::up_to(1000.0).unwrap());
    let refused = lublin(&LublinOptions { jobs: 20_000, processors: 10_000, requests, ..BASE }).unwrap_err();
    assert!(
        refused
            .to_string()
            .contains("jobs is 20000; the total requested time of these jobs exceeds the maximum of 146 years"),
        "{refused}"
    );
}
