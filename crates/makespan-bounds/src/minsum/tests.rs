use makespan_core::{Job, Objective, Platform, ProcSet, Profile, Time, Unavailable, Weight};
use makespan_verify::Proof;

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
        assert!(bound.value.integer() <= optimum, "{}", Objective::WeightedCompletion.decimal(bound.value.integer()));
    }
    // The value of the programme as printed exceeds the optimum here, so it is not a bound.
    assert!(printed_minsum_estimate(&instance) > 6.9);
}

/// Returns `count` jobs on one processor each. The times in `seconds` are assigned to the jobs in rotation.
fn sequential(count: usize, seconds: &[&str]) -> Vec<Job> {
    (0..count).map(|index| flat_job(&index.to_string(), seconds[index % seconds.len()], "1", 1)).collect()
}

/// Checks that a bound is valid, at most the optimum, and at least `thousandths` / 1000 of the optimum.
fn check_quality(instance: &Instance, optimum: i128, thousandths: i128) {
    let bound = weighted_completion(instance);
    assert_eq!(bound.verify(instance), Ok(()));
    assert!(matches!(bound.proof, Proof::TimePrices(_)), "{bound:?}");
    let value = bound.value.integer();
    assert!(value <= optimum && 1000 * value >= thousandths * optimum, "{}", value as f64 / optimum as f64);
    assert!(value >= weighted_completion_on(instance, &Grid::doubling(instance)).value.integer());
}

const SECOND: i128 = 1_000_000_000_000_000;

#[test]
fn equal_jobs_are_bounded_closely() {
    check_quality(&instance(1, sequential(40, &["1"])), 40 * 41 / 2 * SECOND, 995);
    check_quality(&instance(20, sequential(400, &["1"])), 20 * 20 * 21 / 2 * SECOND, 990);
}

#[test]
fn two_classes_of_equal_jobs_are_bounded_closely() {
    // Each of 10 processors runs ten jobs of one second, then ten jobs of three seconds. The sum of the ends is 55 +
    // (13 + 16 + .. + 40).
    check_quality(&instance(10, sequential(200, &["1", "3"])), 10 * (55 + 265) * SECOND, 990);
}

#[test]
fn equal_jobs_that_come_later_are_bounded_closely() {
    // Every second job is released while other jobs still run. So the machine is never idle.
    let later = |(index, job): (usize, Job)| if index % 2 == 0 { job } else { job.with_release(Time::from_seconds(5)) };
    let jobs = sequential(40, &["1"]).into_iter().enumerate().map(later).collect();
    check_quality(&instance(1, jobs), 820 * SECOND, 985);
}

#[test]
fn a_horizon_raises_the_bound() {
    // The weighted completion is least if the long job runs last. But then some job ends after 4 s. All jobs end by 4 s
    // only if the long job starts at 0.
    let jobs = || vec![flat_job("long", "4", "1", 1), flat_job("a", "2", "3", 1), flat_job("b", "2", "3", 1)];
    let instance = instance(2, jobs());
    let bound = |makespan_at_most| {
        let options = PriceOptions { makespan_at_most, ..PriceOptions::default() };
        let mut search = PriceSearch::new(&instance, options)?;
        search.improve(100);
        let choices = search.choices(&instance);
        assert!(choices.iter().all(|choice| choice.start >= Time::ZERO && choice.processors == 1), "{choices:?}");
        search.bound(&instance)
    };
    let (free, tight) = (bound(None).unwrap(), bound(Some(Time::from_seconds(4))).unwrap());
    assert_eq!((free.makespan_at_most, tight.makespan_at_most), (None, Some(Time::from_seconds(4))));
    // The optimum is 6 + 6 + 6 in the first case and 4 + 6 + 12 in the second.
    assert!(
        free.value <= (18 * SECOND).into() && (21 * SECOND..=22 * SECOND).contains(&tight.value.integer()),
        "{free:?} {tight:?}"
    );
    // No schedule ends before 4 s, because the longest job alone takes 4 s.
    assert!(bound(Some(Time::from_seconds(3))).is_none());
}

#[test]
fn a_horizon_that_no_schedule_keeps_is_refuted() {
    let instance = instance(1, sequential(40, &["1"]));
    let options = PriceOptions { makespan_at_most: Some(Time::from_seconds(39)), ..PriceOptions::default() };
    let mut search = PriceSearch::new(&instance, options).unwrap();
    search.improve(300);
    assert!(search.has_ended());
    let bound = search.bound(&instance).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    assert!(
        bound.value.integer() > 40 * 39 * SECOND,
        "all 40 jobs end by 39 s in every such schedule: {}",
        bound.value.integer()
    );
}

#[test]
fn mean_flow_counts_from_the_release() {
    let jobs = sequential(40, &["1"]).into_iter().map(|job| job.with_release(Time::from_seconds(7))).collect();
    let instance = instance(1, jobs);
    let bound = mean_flow(&instance);
    assert_eq!(bound.verify(&instance), Ok(()));
    assert_eq!(bound.objective, Objective::MeanFlow);
    // The optimum is 20.5 s, in units of 1e-12 s.
    let optimum = 20_500_000_000_000;
    assert!(
        bound.value.integer() <= optimum && 1000 * bound.value.integer() >= 995 * optimum,
        "{}",
        bound.value.integer()
    );
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    let instance = instance(
        3,
        (0..30)
            .map(|index| {
                flat_job(
                    &index.to_string(),
                    &format!("{}.5", 1 + index % 7),
                    &format!("{}", 1 + index % 5),
                    1 + index % 3,
                )
            })
            .collect(),
    );
    let bound = |parts: &[usize]| {
        let mut search = PriceSearch::new(&instance, PriceOptions::default()).unwrap();
        parts.iter().for_each(|&steps| search.improve(steps));
        (search.bound(&instance).unwrap(), search.choices(&instance))
    };
    assert_eq!(bound(&[20]), bound(&[1, 0, 12, 7]));
    let (few, many) = (bound(&[0]).0, bound(&[200]).0);
    assert!(few.value.integer() < many.value.integer() && many.verify(&instance).is_ok(), "{few:?} {many:?}");
}

/// Checks that prices of zero are used if rounding costs more than positive prices gain. The release dates are a
/// billion times as far apart as the jobs are long.
#[test]
fn no_bound_is_below_that_of_jobs_alone() {
    let job = |index: usize, job: Job| job.with_release(Time::from_seconds(10_i64.pow(index as u32 % 10)));
    let jobs = sequential(20, &["5"]).into_iter().enumerate().map(|(index, one)| job(index, one)).collect();
    let instance = instance(3, jobs);
    let options = PriceOptions { objective: Objective::MeanFlow, makespan_at_most: None };
    let bound = PriceSearch::new(&instance, options).unwrap().bound(&instance).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    assert!(bound.value.integer() >= 5_000_000_000_000, "{}", bound.value.integer());
}

#[test]
fn weights_of_zero_give_a_bound_of_zero() {
    let instance = instance(2, vec![flat_job("a", "1", "0", 1), flat_job("b", "3", "0", 2)]);
    assert_eq!(weighted_completion(&instance).value.integer(), 0);
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
    // Seven of the ten jobs end 10 s later because of the unavailable period.
    let optimum = 55_000_000_000_000_000 + 70_000_000_000_000_000;
    assert!(bound.value > open.value && bound.value.integer() <= optimum, "{} {}", bound.value, open.value);
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
    assert!(bound.value.integer() as f64 >= 1.1 * intervals.value.as_f64(), "{} {}", bound.value, intervals.value);
}
