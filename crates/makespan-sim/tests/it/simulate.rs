//! Small cases that were computed by hand.

use crate::common;

use common::{FirstCome, Once, check, rigid, seconds, set, start};
use makespan_core::Event::{Finished, Interrupted, NodeDown, NodeUp, Submitted, Wake};
use makespan_core::{
    Actual, Decision, Defect, Event, Failure, Instance, InstanceError, Job, Outcome, Platform, Policy, TaskId, Time,
    Unavailable, View,
};
use makespan_sim::{Silent, Simulation, SimulationError, SimulationOptions, simulate};

fn job(name: &str, processors: u32, estimate: i64, release: i64) -> Job {
    Job::new(name, rigid(processors, estimate)).with_release(seconds(release))
}

fn instance(processors: u32, jobs: Vec<Job>) -> Instance {
    Instance::new(Platform::flat(processors).unwrap(), jobs, vec![]).unwrap()
}

fn play(instance: &Instance, actual: &Actual, options: &SimulationOptions) -> Result<Simulation, SimulationError> {
    simulate(instance, actual, &mut FirstCome, options, &mut Silent)
}

#[test]
fn first_come_first_served() {
    let jobs = vec![job("a", 2, 10, 0), job("b", 3, 10, 1), job("c", 1, 10, 2), job("d", 4, 1, 40)];
    let instance = instance(4, jobs);
    let plain = play(&instance, &Actual::AsEstimated, &SimulationOptions::default()).unwrap();
    check(&plain, &[(0, 0, 10, "0-1"), (1, 10, 20, "0-2"), (2, 10, 20, "3"), (3, 40, 41, "0-3")]);
    // The events are four submissions and four ends, at seven instants.
    assert_eq!((plain.events, plain.instants), (8, 7));
    let actual = Actual::Profiles(vec![rigid(2, 3), rigid(3, 30), rigid(1, 10), rigid(4, 1)]);
    let real = play(&instance, &actual, &SimulationOptions::default()).unwrap();
    check(&real, &[(0, 0, 3, "0-1"), (2, 3, 13, "3"), (1, 3, 33, "0-2"), (3, 40, 41, "0-3")]);
}

#[test]
fn what_runs_already_is_not_submitted() {
    let instance = instance(4, vec![job("a", 2, 10, 0), job("b", 3, 10, 0), job("c", 2, 5, 3)]);
    let options = SimulationOptions { running: vec![(TaskId(0), set("2-3"))], ..SimulationOptions::default() };
    let actual = Actual::Profiles(vec![rigid(2, 7), rigid(3, 10), rigid(2, 5)]);
    let played = play(&instance, &actual, &options).unwrap();
    check(&played, &[(0, 0, 7, "2-3"), (1, 7, 17, "0-2"), (2, 17, 22, "0-1")]);
    // The events are two submissions and three ends.
    assert_eq!(played.events, 5);
    let options = SimulationOptions { running: vec![(TaskId(2), set("2-3"))], ..SimulationOptions::default() };
    assert!(play(&instance, &actual, &options).is_err(), "it is not released then");
}

#[test]
fn a_walltime_is_a_limit_only_when_asked_for() {
    let mut long = job("a", 1, 10, 0);
    long.walltime = Some(seconds(10));
    let instance = instance(1, vec![long, job("b", 1, 1, 0)]);
    let actual = Actual::Profiles(vec![rigid(1, 25), rigid(1, 1)]);
    let patient = play(&instance, &actual, &SimulationOptions::default()).unwrap();
    check(&patient, &[(0, 0, 25, "0"), (1, 25, 26, "0")]);
    let options = SimulationOptions { kill_at_walltime: true, ..SimulationOptions::default() };
    let strict = play(&instance, &actual, &options).unwrap();
    check(&strict, &[(0, 0, 10, "0"), (1, 10, 11, "0")]);
    assert_eq!(strict.trace.runs[0].outcome, Outcome::TimedOut);
}

/// Returns a failure of the processors. Policies expect the repair ten seconds after the beginning of the failure.
fn failure(processors: &str, down: i64, up: i64) -> Failure {
    Failure { processors: set(processors), down: seconds(down), up: seconds(up), expected_up: Some(seconds(down + 10)) }
}

#[test]
fn what_runs_on_broken_processors_starts_again() {
    let instance = instance(4, vec![job("a", 2, 10, 0), job("b", 2, 10, 0), job("c", 2, 10, 5)]);
    let failures = vec![failure("1", 4, 20), failure("3", 10, 12)];
    let options = SimulationOptions { failures: failures.clone(), ..SimulationOptions::default() };
    let simulation = play(&instance, &Actual::AsEstimated, &options).unwrap();
    // `b` ends at the instant at which its processor fails. So `b` is treated as ended, not as interrupted.
    let expected = [(0, 0, 4, "0-1"), (1, 0, 10, "2-3"), (0, 10, 20, "0,2"), (2, 20, 30, "0-1")];
    check(&simulation, &expected);
    assert_eq!(simulation.trace.runs[0].outcome, Outcome::Interrupted);
    let options = SimulationOptions { requeues: 0, failures, ..SimulationOptions::default() };
    let simulation = play(&instance, &Actual::AsEstimated, &options).unwrap();
    check(&simulation, &[(0, 0, 4, "0-1"), (1, 0, 10, "2-3"), (2, 10, 20, "0,2")]);
    assert_eq!(simulation.trace.runs[0].outcome, Outcome::Failed { status: 137 });
}

/// A policy that records events, and starts tasks in order, if they fit on the free processors and end before the next
/// unavailable period.
#[derive(Default)]
struct Recorded(Vec<(i64, Vec<Event>)>);

impl Policy for Recorded {
    fn on(&mut self, events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        self.0.push((view.now.ticks() / Time::TICKS_PER_SECOND, events.to_vec()));
        FirstCome.on(events, view, decisions);
        let ends = view.instance.unavailable().iter().map(|period| period.end);
        decisions.extend(ends.filter(|&end| end > view.now).map(Decision::WakeAt));
    }
}

#[test]
fn all_events_of_an_instant_come_in_one_call_in_their_order() {
    let platform = Platform::cluster(2, 2).unwrap();
    let jobs = vec![job("a", 1, 10, 0), job("b", 1, 10, 0), job("c", 1, 30, 0), job("d", 1, 1, 10)];
    let period = Unavailable { processors: set("3"), start: Time::ZERO, end: seconds(10) };
    let instance = Instance::new(platform, jobs, vec![period]).unwrap();
    let failures = vec![failure("2", 10, 12), failure("0-3", 12, 13), failure("3", 1, 10)];
    let options = SimulationOptions { failures, ..SimulationOptions::default() };
    let mut heard = Recorded::default();
    simulate(&instance, &Actual::AsEstimated, &mut heard, &options, &mut Silent).unwrap();
    let [a, b, c, d] = [0, 1, 2, 3].map(TaskId);
    let expected = [
        (0, vec![Submitted(a), Submitted(b), Submitted(c)]),
        (1, vec![NodeDown(1)]),
        (10, vec![Finished(a), Finished(b), Interrupted(c), NodeUp(1), NodeDown(1), Submitted(d), Wake]),
        (11, vec![Finished(d)]),
        (12, vec![Interrupted(c), NodeUp(1), NodeDown(0), NodeDown(1)]),
        (13, vec![NodeUp(0), NodeUp(1)]),
        (43, vec![Finished(c)]),
    ];
    assert_eq!(heard.0, expected);
}

#[test]
fn a_job_that_outlives_its_estimate_makes_way_for_a_period() {
    let period = Unavailable { processors: set("0"), start: seconds(10), end: seconds(20) };
    let jobs = vec![job("a", 2, 10, 0)];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![period]).unwrap();
    let actual = Actual::Profiles(vec![rigid(2, 11)]);
    let options = SimulationOptions::default();
    let simulation = simulate(&instance, &actual, &mut Recorded::default(), &options, &mut Silent).unwrap();
    check(&simulation, &[(0, 0, 10, "0-1"), (0, 20, 31, "0-1")]);
}

fn defect(decisions: Vec<Decision>) -> Defect {
    let jobs = vec![job("a", 1, 10, 0), job("b", 2, 10, 0), job("c", 1, 10, 50)];
    let period = |processors, start, end| Unavailable { processors: set(processors), start: seconds(start), end };
    let periods = vec![period("2", 0, seconds(1000)), period("3", 5, seconds(1000))];
    let instance = Instance::new(Platform::flat(5).unwrap(), jobs, periods).unwrap();
    let options = SimulationOptions { failures: vec![failure("4", 0, 100)], ..SimulationOptions::default() };
    match simulate(&instance, &Actual::AsEstimated, &mut Once(decisions), &options, &mut Silent) {
        Err(SimulationError::Policy { defect, .. }) => defect,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defects_of_a_policy_are_named() {
    assert!(matches!(defect(vec![start(0, "5")]), Defect::UnknownProcessors { last: 4, .. }));
    assert!(matches!(defect(vec![start(0, "0-1")]), Defect::Allotment { allotment: 2, min: 1, max: 1, .. }));
    assert!(matches!(defect(vec![start(0, "")]), Defect::Allotment { allotment: 0, .. }));
    assert!(matches!(defect(vec![start(0, "2")]), Defect::Unavailable { until, .. } if until == seconds(1000)));
    assert!(matches!(defect(vec![start(0, "3")]), Defect::Closing { from, .. } if from == seconds(5)));
    assert!(matches!(defect(vec![start(0, "4")]), Defect::Unavailable { until, .. } if until == seconds(10)));
    assert!(matches!(defect(vec![start(0, "0"), start(1, "0-1")]), Defect::Busy { .. }));
    assert_eq!(defect(vec![start(0, "0"), start(0, "1")]), Defect::NotWaiting("a".into()));
    assert_eq!(defect(vec![start(2, "0")]), Defect::NotWaiting("c".into()));
    assert_eq!(defect(vec![start(9, "0")]), Defect::UnknownJob(9));
    let limit = |task: u64| Decision::Limit { task: TaskId(task), time: seconds(5) };
    assert_eq!(defect(vec![start(0, "0"), limit(0)]), Defect::NotWaiting("a".into()));
    assert_eq!(defect(vec![limit(9)]), Defect::UnknownJob(9));
    assert!(matches!(defect(vec![Decision::Cancel(TaskId(1))]), Defect::Stalled { waiting: 2, .. }));
}

/// A policy that always requests a wake-up.
struct Restless;

impl Policy for Restless {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        decisions.push(Decision::WakeAt(view.now));
    }
}

#[test]
fn a_policy_that_only_wakes_comes_to_an_end() {
    let instance = instance(1, vec![job("a", 1, 10, 0)]);
    let options = SimulationOptions::default();
    let error = simulate(&instance, &Actual::AsEstimated, &mut Restless, &options, &mut Silent).unwrap_err();
    assert!(matches!(error, SimulationError::Policy { defect: Defect::Restless { .. }, .. }), "{error}");
}

#[test]
fn each_task_of_a_bag_is_a_run_of_its_own() {
    let bag = job("bag", 1, 10, 5).with_count(3.try_into().unwrap());
    let with = |jobs| instance(2, jobs);
    let tasks = with(vec![bag.clone(), job("last", 2, 1, 0)]);
    let actual = Actual::Factors(vec![1_000_000, 2_000_000, 500_000, 1_000_000]);
    let simulation = play(&tasks, &actual, &SimulationOptions::default()).unwrap();
    check(&simulation, &[(3, 0, 1, "0-1"), (0, 5, 15, "0"), (2, 15, 20, "0"), (1, 5, 25, "1")]);
    let like_a_task = with(vec![bag, job("bag/2", 1, 1, 0)]);
    let refused = play(&like_a_task, &Actual::AsEstimated, &SimulationOptions::default()).unwrap_err();
    assert_eq!(refused, SimulationError::Instance(InstanceError::TaskName("bag/2".into())));
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let instance = instance(2, vec![job("a", 2, 10, 0)]);
    let try_with = |actual: Actual, failures: Vec<Failure>| {
        let options = SimulationOptions { failures, ..SimulationOptions::default() };
        play(&instance, &actual, &options).unwrap_err()
    };
    assert_eq!(try_with(Actual::Profiles(vec![]), vec![]), SimulationError::Profiles { tasks: 1, profiles: 0 });
    let narrow = try_with(Actual::Profiles(vec![rigid(1, 1)]), vec![]);
    assert!(matches!(narrow, SimulationError::RealTimes { min: 2, to: 1, .. }), "{narrow}");
    for wrong in [failure("2", 0, 1), failure("", 0, 1), failure("1", 1, 1)] {
        let failures = vec![failure("0", 0, 1), wrong];
        assert_eq!(try_with(Actual::AsEstimated, failures), SimulationError::Failure { index: 1, last: 1 });
    }
    let ages = Actual::Profiles(vec![rigid(2, i64::MAX / 1_000_000_000)]);
    let options = SimulationOptions::default();
    assert!(play(&instance, &ages, &options).is_ok());
    options.stop.request();
    assert!(matches!(play(&instance, &ages, &options), Err(SimulationError::Stopped { tasks: 1, .. })));
    let late = Instance::new(Platform::flat(2).unwrap(), vec![job("a", 2, 10, 10)], vec![]).unwrap();
    assert_eq!(play(&late, &ages, &SimulationOptions::default()), Err(SimulationError::TooLong("a".into())));
}
