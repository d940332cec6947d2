use makespan_core::{Job, Objective, Platform, ProcSet, Profile, Time, Unavailable, Weight};

use super::*;

fn flat_job(name: &str, seconds: &str, weight: &str, processors: usize) -> Job {
    let profile = Profile::table(vec![Time::parse(seconds).unwrap(); processors]).unwrap();
    Job::new(name, profile).with_weight(Weight::parse(weight).unwrap())
}

fn instance(processors: u32, jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
}

#[test]
fn the_corrected_programme_respects_the_counter_example() {
    let instance = instance(2, vec![flat_job("a", "1", "5", 2), flat_job("b", "1.9", "1", 2)]);
    let optimum = 6_900_000_000_000_000;
    for grid in [Grid::doubling(&instance), Grid::fine(&instance)] {
        let bound = weighted_completion_on(&instance, &grid);
        assert_eq!(bound.verify(&instance), Ok(()));
        assert!(bound.value <= optimum, "{}", Objective::WeightedCompletion.decimal(bound.value));
    }
    // The programme as printed exceeds the optimum here, which is why it is not offered as a bound.
    assert!(printed_minsum_estimate(&instance) > 6.9);
}

#[test]
fn one_machine_and_equal_jobs_come_close_to_the_optimum() {
    let jobs = (0..40).map(|index| flat_job(&index.to_string(), "1", "1", 1)).collect();
    let instance = instance(1, jobs);
    let bound = weighted_completion(&instance);
    let optimum = 40.0 * 41.0 / 2.0;
    let value = bound.value as f64 / 1e15;
    assert!(value <= optimum && value >= 0.85 * optimum, "{value}");
    assert!(bound.value >= weighted_completion_on(&instance, &Grid::doubling(&instance)).value);
}

#[test]
fn weights_of_zero_give_a_bound_of_zero() {
    let instance = instance(2, vec![flat_job("a", "1", "0", 1), flat_job("b", "3", "0", 2)]);
    assert_eq!(weighted_completion(&instance).value, 0);
}

#[test]
fn prices_in_time_prove_more_than_intervals() {
    let jobs = || (0..40).map(|index| flat_job(&index.to_string(), "1", "1", 1)).collect();
    let together = instance(1, jobs());
    let bound = weighted_completion(&together);
    assert!(matches!(bound.certificate, Certificate::TimePrices(_)), "{bound:?}");
    assert!(bound.value as f64 >= 0.88 * 820e15, "{}", bound.value);
    // Half of them come later, when the first half is still running.
    let later = |(index, job): (usize, Job)| if index % 2 == 0 { job } else { job.with_release(Time::from_seconds(5)) };
    let released = instance(1, Vec::into_iter(jobs()).enumerate().map(later).collect());
    let bound = weighted_completion(&released);
    assert_eq!(bound.verify(&released), Ok(()));
    assert!(bound.value as f64 >= 0.88 * 820e15, "{}", bound.value);
}

#[test]
fn an_outage_raises_the_bound() {
    let jobs = || (0..10).map(|index| flat_job(&index.to_string(), "1", "1", 1)).collect();
    let open = weighted_completion(&instance(1, jobs()));
    let (start, end) = (Time::from_seconds(3), Time::from_seconds(13));
    let outage = Unavailable { processors: ProcSet::first(1), start, end };
    let closed = Instance::new(Platform::flat(1).unwrap(), jobs(), vec![outage]).unwrap();
    let bound = weighted_completion(&closed);
    assert_eq!(bound.verify(&closed), Ok(()));
    // Seven of the ten jobs end 10 s later.
    let optimum = 55_000_000_000_000_000 + 70_000_000_000_000_000;
    assert!(bound.value > open.value && bound.value <= optimum, "{} {}", bound.value, open.value);
}

#[test]
fn many_jobs_of_many_allotments_are_sampled() {
    let law = makespan_core::SpeedupLaw::Amdahl { serial: 0.01 };
    let job = |index: i64| {
        let profile = Profile::law(Time::from_seconds(10 + index % 97), law, 1, 1000).unwrap();
        Job::new(index.to_string(), profile)
    };
    let instance = instance(1000, (0..1500).map(job).collect());
    let bound = weighted_completion(&instance);
    assert_eq!(bound.verify(&instance), Ok(()));
    let intervals = weighted_completion_on(&instance, &Grid::fine(&instance));
    assert!(bound.value as f64 >= 1.1 * intervals.value as f64, "{} {}", bound.value, intervals.value);
}
