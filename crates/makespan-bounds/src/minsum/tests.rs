use makespan_core::{Job, Objective, Platform, Profile, Time, Weight};

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
