use makespan_core::{Job, Platform, ProcSet, Profile, SpeedupLaw, Unavailable};
use makespan_verify::Proof;

use super::*;
use crate::{dual, makespan};

/// Returns an instance of rigid jobs and one additional job of one tick. This job makes the time grid one tick, so
/// that no bound is rounded up.
fn rigid(processors: u32, jobs: &[(u32, i64)], closed: Vec<Unavailable>) -> Instance {
    let job = |(index, &(width, seconds)): (usize, &(u32, i64))| {
        Job::new(index.to_string(), Profile::rigid(width, Time::from_seconds(seconds)).unwrap())
    };
    let tick = Job::new("tick", Profile::rigid(1, Time::TICK).unwrap());
    let jobs = jobs.iter().enumerate().map(job).chain([tick]).collect();
    Instance::new(Platform::flat(processors).unwrap(), jobs, closed).unwrap()
}

/// Returns the verified bound in seconds, and true if dual-feasible functions prove this bound.
fn bound(instance: &Instance) -> (f64, bool) {
    let bound = makespan(instance);
    assert_eq!(bound.verify(instance), Ok(()));
    (bound.value.integer() as f64 / 1e9, matches!(bound.proof, Proof::DualFeasible(_)))
}

#[track_caller]
fn near_optimum(instance: &Instance, seconds: f64) {
    let (value, functions) = bound(instance);
    assert!(functions, "{value} is proved without functions");
    assert!(value <= seconds && value > 0.999 * seconds, "{value} for the optimum {seconds}");
}

#[test]
fn two_beside_each_other_though_the_area_has_room_for_more() {
    near_optimum(&rigid(10, &[(4, 10); 5], vec![]), 30.0);
    near_optimum(&rigid(200, &[(67, 10); 9], vec![]), 50.0);
    // For a deadline below 30, each run time is more than a third of the deadline. So at most two tasks run one after
    // the other on a processor.
    near_optimum(&rigid(2, &[(1, 10); 5], vec![]), 30.0);
}

#[test]
fn halves_that_leave_room_only_for_small_ones() {
    // The four jobs of width 7 run one after the other for 40 s. No job of width 4 fits next to a job of width 7. So
    // the two jobs of width 4 run side by side for another 10 s.
    near_optimum(&rigid(10, &[(7, 10), (7, 10), (7, 10), (7, 10), (4, 10), (4, 10)], vec![]), 50.0);
}

#[test]
fn closed_processors_and_release_dates_count() {
    let (start, end) = (Time::from_seconds(12), Time::from_seconds(112));
    let closed = vec![Unavailable { processors: ProcSet::range(0, 2), start, end }];
    // Two rounds of jobs would end at 20, after the beginning of the unavailable period. So only one round fits before
    // the period, and all other jobs run after it.
    let (value, _) = bound(&rigid(10, &[(4, 10); 5], closed));
    assert!(value <= 52.0, "during the unavailable period, the open processors can run one job at a time: {value}");
    let late = |job: Job| job.with_release(Time::from_seconds(100));
    let jobs = rigid(10, &[(4, 10); 5], vec![]).all_submitted().into_iter().map(late).collect();
    near_optimum(&Instance::new(Platform::flat(10).unwrap(), jobs, vec![]).unwrap(), 130.0);
}

#[test]
fn moldable_jobs_that_dodge_each_function_alone() {
    // The instance has 100 jobs with Amdahl's law and 200 processors. For this instance, no single function gives a
    // better bound than the dual approximation.
    let job = |index: u32| {
        let law = SpeedupLaw::Amdahl { serial: 0.2 };
        let time = Time::from_seconds(100 + i64::from(index * 37 % 101));
        Job::new(index.to_string(), Profile::law(time, law, 1, 200).unwrap())
    };
    let instance = Instance::new(Platform::flat(200).unwrap(), (0..150).map(job).collect(), vec![]).unwrap();
    let before = dual::search(instance.simple_jobs().map(|job| job.profile()), 200).rejection.unwrap().deadline;
    let (value, functions) = bound(&instance);
    assert!(functions && value > 1.001 * before.seconds(), "{value} after {before}");
}

#[test]
fn the_same_instance_gives_the_same_certificate() {
    let instance = rigid(200, &[(67, 10), (67, 11), (67, 12), (40, 7), (101, 5), (90, 3)], vec![]);
    assert_eq!(makespan(&instance), makespan(&instance));
}

#[test]
fn nothing_is_found_where_nothing_can_be() {
    let instance = rigid(2, &[(1, 10)], vec![]);
    assert_eq!(search(&instance, Time::ZERO, Time::from_seconds(10)), None);
    assert_eq!(search(&instance, Time::ZERO, Time::from_ticks(3)), None);
    assert_eq!(search(&instance, Time::from_seconds(1), Time::from_seconds(1)), None);
}
