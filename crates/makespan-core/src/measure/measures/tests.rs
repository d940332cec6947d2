use proptest::prelude::*;

use super::*;
use crate::measure::{Usage, UsageStep};
use crate::model::{Job, Platform, ProcSet, Profile, TaskId, Unavailable, Weight};

fn seconds(s: i64) -> Time {
    Time::from_seconds(s)
}

/// Returns an instance of rigid jobs, given as (processors, release, weight).
fn instance(processors: u32, jobs: &[(u32, i64, i64)], unavailable: Vec<Unavailable>) -> Instance {
    let job = |(id, &(width, release, weight)): (usize, &(u32, i64, i64))| {
        let profile = Profile::rigid(width, seconds(1)).unwrap();
        Job::new(id.to_string(), profile)
            .with_release(seconds(release))
            .with_weight(Weight::from_f64(weight as f64).unwrap())
    };
    Instance::new(Platform::flat(processors).unwrap(), jobs.iter().enumerate().map(job).collect(), unavailable).unwrap()
}

/// Returns the instance with these users as the users of its jobs.
fn of_users(instance: &Instance, users: &[Option<u32>]) -> Instance {
    let jobs = instance.all_submitted().into_iter().zip(users);
    instance.with_jobs(jobs.map(|(job, &user)| Job { user, ..job }).collect())
}

fn run(task: u64, start: i64, end: i64, processors: u32, outcome: Outcome) -> Run {
    Run {
        task: TaskId(task),
        start: seconds(start),
        end: seconds(end),
        processors: ProcSet::first(processors),
        outcome,
        accounting: None,
    }
}

fn close(measured: f64, expected: f64) {
    assert!((measured - expected).abs() <= 1e-12 * expected.abs(), "{measured} is not {expected}");
}

use Outcome::{Failed, Interrupted, Succeeded, TimedOut};

fn example() -> (Instance, Trace) {
    let period = Unavailable { processors: ProcSet::range(3, 3), start: seconds(10), end: seconds(60) };
    let jobs = [(2, 10, 1), (4, 20, 2), (1, 20, 3), (1, 30, 1), (1, 40, 5)];
    let runs = vec![
        run(0, 10, 20, 2, Interrupted),
        run(2, 30, 35, 1, Succeeded),
        run(0, 20, 60, 2, Succeeded),
        run(3, 40, 70, 1, TimedOut),
        run(1, 110, 150, 4, Failed { status: 137 }),
    ];
    (instance(4, &jobs, vec![period]), Trace { runs })
}

#[test]
fn the_figures_of_a_small_trace() {
    let (instance, trace) = example();
    // Job 4 was cancelled.
    let measures = Measures::of(&of_users(&instance, &[Some(7), Some(3), None, Some(7), Some(9)]), &trace);
    assert_eq!(measures.jobs, 4);
    // The waiting times of the four other jobs are 10, 10, 10 and 90 s, and their flow times are 15, 50, 40 and 130 s.
    let [wait, flow] = [measures.wait, measures.flow];
    assert_eq!((wait.mean, wait.median, wait.p90, wait.max), (30.0, 10.0, 90.0, 90.0));
    assert_eq!((flow.mean, flow.median, flow.p95, flow.max), (58.75, 40.0, 130.0, 130.0));
    // Job 2 runs for 5 s, which count as 10 s in the bounded slowdown.
    let slowdowns = [1.5, 50.0 / 40.0, 40.0 / 30.0, 130.0 / 40.0];
    close(measures.bounded_slowdown.mean, slowdowns.iter().sum::<f64>() / 4.0);
    close(measures.bounded_slowdown.median, 40.0 / 30.0);
    close(measures.bounded_slowdown.max, 3.25);
    close(measures.weighted_completion, 3.0 * 35.0 + 60.0 + 70.0 + 2.0 * 150.0);
    close(measures.makespan, 150.0);
    // One of 4 processors is closed for 50 s of the 140 s.
    close(measures.utilisation, (20.0 + 5.0 + 80.0 + 30.0 + 160.0) / (560.0 - 50.0));
    // Jobs 2 and 3 overtake job 1. Job 1 failed on 4 processors, so all its work is lost, too. Job 3 reached its
    // walltime.
    assert_eq!((measures.backfilled, measures.interrupted_runs, measures.lost_area), (2, 2, 20.0 + 160.0));
    assert_eq!((measures.killed, measures.failed), (1, 1));
    let fairness = measures.fairness.unwrap();
    let (a, b) = (3.25, f64::midpoint(50.0 / 40.0, 40.0 / 30.0));
    assert_eq!(fairness.users, 2);
    close(fairness.jain, (a + b) * (a + b) / (2.0 * (a * a + b * b)));
    close(fairness.worst_over_mean, a / f64::midpoint(a, b));
}

#[test]
fn what_is_down_could_not_be_used() {
    let (instance, trace) = example();
    let down = |processors: ProcSet, start: i64, end: i64| Unavailable {
        processors,
        start: seconds(start),
        end: seconds(end),
    };
    // Processor 3 is closed from 10 to 60. Processor 1 is in two failures from 80 to 90. One failure has no end.
    let down = [
        down(ProcSet::range(2, 3), 50, 70),
        down(ProcSet::range(0, 1), 75, 90),
        down(ProcSet::range(1, 2), 80, 100),
        Unavailable { end: Time::MAX, ..down(ProcSet::range(0, 0), 145, 146) },
        down(ProcSet::first(4), 0, 5),
    ];
    let measures = Measures::with_failures(&instance, &trace, &down);
    let closed = 50 + (20 + 10) + 2 * 15 + (2 * 20 - 10) + 5;
    close(measures.utilisation, 295.0 / f64::from(560 - closed));
}

#[test]
fn usage_and_queue_over_time() {
    let (instance, trace) = example();
    let steps = Usage::of(&instance, &trace).steps;
    let flat: Vec<(i64, u32, u32)> =
        steps.iter().map(|step| (step.from.ticks() / Time::TICKS_PER_SECOND, step.held, step.waiting)).collect();
    let expected =
        [(10, 2, 0), (20, 2, 2), (30, 3, 2), (35, 2, 2), (40, 3, 1), (60, 1, 1), (70, 0, 1), (110, 4, 0), (150, 0, 0)];
    assert_eq!(flat, expected);
}

#[test]
fn nothing_that_happened_has_no_figures() {
    let instance = instance(1, &[(1, 5, 1)], vec![]);
    let nothing = Measures::of(&instance, &Trace::default());
    assert_eq!((nothing.jobs, nothing.wait, nothing.utilisation), (0, Distribution::default(), 0.0));
    assert_eq!(nothing.fairness, None);
    assert!(Usage::of(&instance, &Trace::default()).steps.is_empty());
}

/// Generates one run for each job. The runs may overlap, which does not affect the measures.
fn any_trace() -> impl Strategy<Value = (Instance, Trace, Vec<Option<u32>>)> {
    let job = (1_u32..5, 0_i64..50, 0_i64..4, 0_i64..60, 1_i64..40, proptest::option::of(0_u32..4));
    proptest::collection::vec(job, 1..40).prop_map(|jobs| {
        let given: Vec<_> = jobs.iter().map(|job| (job.0, job.1, job.2)).collect();
        let ran = |(id, job): (usize, &(u32, i64, i64, i64, i64, _))| {
            run(id as u64, job.1 + job.3, job.1 + job.3 + job.4, job.0, Succeeded)
        };
        let mut runs: Vec<Run> = jobs.iter().enumerate().map(ran).collect();
        runs.sort_by_key(|run| run.end);
        (instance(4, &given, vec![]), Trace { runs }, jobs.iter().map(|job| job.5).collect())
    })
}

proptest! {
    #[test]
    fn agrees_with_a_plain_reference((instance, trace, users) in any_trace()) {
        let measures = Measures::of(&of_users(&instance, &users), &trace);
        let release = |run: &Run| instance.release(run.task);
        let key = |run: &Run| (release(run), run.task);
        let overtakes = |run: &&Run| trace.runs.iter().any(|other| key(other) < key(run) && other.start > run.start);
        prop_assert_eq!(measures.backfilled, trace.runs.iter().filter(overtakes).count());
        for percent in [50, 90, 95, 99] {
            let figure = match percent { 50 => measures.wait.median, 90 => measures.wait.p90,
                                         95 => measures.wait.p95, _ => measures.wait.p99 };
            let waits = || trace.runs.iter().map(|run| (run.start - release(run)).seconds());
            // The percentile is the smallest waiting time that at least `percent` per cent of the waiting times do not
            // exceed.
            let many = percent * trace.runs.len();
            let reached = |least: f64| 100 * waits().filter(|&wait| wait <= least).count() >= many;
            let least = waits().filter(|&wait| reached(wait)).fold(f64::INFINITY, f64::min);
            close(figure, least);
        }
        let jain = measures.fairness.map_or(1.0, |fairness| fairness.jain);
        prop_assert!(jain <= 1.0 + 1e-12 && jain > 0.0);
        prop_assert_eq!(measures.fairness.is_some(), users.iter().any(Option::is_some));
    }

    #[test]
    fn the_area_that_could_be_used_is_what_a_look_at_each_second_finds(
        periods in proptest::collection::vec((1_u32..16, 0_i64..60, 1_i64..30), 0..8), known in 0_usize..8,
        (from, length) in (0_i64..50, 0_i64..50),
    ) {
        let set = |mask: u32| ProcSet::from_intervals((0..4).filter(|id| mask >> id & 1 == 1).map(|id| (id, id)).collect());
        let closed = |&(mask, start, length): &(u32, i64, i64)| Unavailable {
            processors: set(mask), start: seconds(start), end: seconds(start + length),
        };
        let mut given: Vec<Unavailable> = periods.iter().map(closed).collect();
        let down = given.split_off(known.min(given.len()));
        let is_open = |id: u32, at: Time| {
            given.iter().chain(&down).all(|period| at < period.start || period.end <= at || !period.processors.contains(id))
        };
        let open: usize = (from..from + length).map(|at| (0..4).filter(|&id| is_open(id, seconds(at))).count()).sum();
        let instance = instance(4, &[], given.clone());
        let area = open::area(&instance, &down, seconds(from), seconds(from + length));
        prop_assert_eq!(area, open as Area * Area::from(Time::TICKS_PER_SECOND));
    }

    #[test]
    fn usage_is_what_a_look_at_each_second_finds((instance, trace, _) in any_trace()) {
        let usage = Usage::of(&instance, &trace);
        for second in 0..160 {
            let now = seconds(second);
            let runs = || trace.runs.iter();
            let running = runs().filter(|run| run.start <= now && now < run.end);
            let held: u32 = running.map(|run| run.processors.len()).sum();
            let waits = |run: &&Run| instance.release(run.task) <= now && now < run.start;
            let at = usage.steps.partition_point(|step| step.from <= now);
            let none = UsageStep { from: Time::ZERO, held: 0, waiting: 0 };
            let found = at.checked_sub(1).map_or(none, |at| usage.steps[at]);
            prop_assert_eq!((found.held, found.waiting), (held, runs().filter(waits).count() as u32));
        }
    }
}
