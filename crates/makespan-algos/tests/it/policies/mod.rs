//! Every policy in simulated time: late and early jobs, failures, walltimes, unavailable periods, moldable jobs.

mod bags;
mod easy;
mod estimates;
mod granted;
mod moldable;

use makespan_algos::policy::{PolicyError, expected_starts, policy, policy_for};
use makespan_core::{
    Actual, EndedTasks, Failure, Instance, Job, Node, Outcome, Platform, ProcSet, Profile, SimpleJob, SpeedupLaw,
    TaskSet, Time, Unavailable, View, Weight,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

const SPECS: [&str; 20] = [
    "fcfs",
    "easy",
    "easy[order=sjf,request=fastest]",
    "easy[passes=instant]",
    "conservative",
    "conservative[order=laf,request=fewest]",
    "moldable-easy",
    "moldable-easy[order=widest]",
    "batch",
    "batch[scheduler=demt[shuffles=2]]",
    "doubling",
    "replan",
    "follow[scheduler=list]",
    "improve[steps=60]",
    "improve[steps=60,objective=makespan]",
    "slurm",
    "slurm[bf_interval=7,bf_window=1,weight_fairshare=1000,weight_age=50,calc_period=1]",
    "easy[order=wfp3]",
    "conservative[order=unicef]",
    "moldable-easy[order=f1]",
];

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// Width or parallelism, time, release, the real time in percent of the estimate, and whether the job is moldable.
type Row = (u32, i64, i64, i64, bool);

fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..60, 1_i64..250, any::<bool>()), 1..most)
}

fn profile(&(width, time, _, _, moldable): &Row, percent: i64) -> Profile {
    let time = t((time * percent + 99) / 100);
    if !moldable {
        return Profile::rigid(width, time).unwrap();
    }
    let law = SpeedupLaw::Downey { parallelism: f64::from(width), sigma: 0.5 };
    Profile::law(time, law, 1, 8).unwrap()
}

fn platforms() -> Vec<Platform> {
    let node = |(name, speed): (&str, f64)| Node { speed, ..Node::new(name, 4) };
    let speeds = Platform::new([("a", 1.0), ("b", 2.5)].map(node).to_vec()).unwrap();
    let compact = Platform::cluster(4, 2).unwrap().requiring_compact();
    vec![Platform::flat(8).unwrap(), compact, speeds]
}

fn instance(platform: Platform, rows: &[Row], periods: &[(u32, i64, i64)]) -> (Instance, Actual) {
    let job = |(index, row): (usize, &Row)| Job::new(index.to_string(), profile(row, 100)).with_release(t(row.2));
    let period = |&(first, start, length): &(u32, i64, i64)| Unavailable {
        processors: ProcSet::range(first, first + 2),
        start: t(start),
        end: t(start + length),
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(platform, jobs, periods.iter().map(period).collect()).unwrap();
    (instance, Actual::Profiles(rows.iter().map(|row| profile(row, row.3)).collect()))
}

fn run(spec: &str, instance: &Instance, actual: &Actual, options: &SimulationOptions) -> Option<Simulation> {
    let mut policy = match policy_for(spec, instance, 1) {
        Ok(policy) => policy,
        Err(PolicyError::Unsupported { .. }) => return None,
        Err(wrong) => panic!("{wrong}"),
    };
    // The simulation refuses decisions that no cluster could carry out: processors used twice, closed, or not in a best
    // placement.
    Some(
        simulate(instance, actual, policy.as_mut(), options, &mut Silent).unwrap_or_else(|why| panic!("{spec}: {why}")),
    )
}

fn all_ended(spec: &str, instance: &Instance, simulation: &Simulation) -> Result<(), TestCaseError> {
    let ended: Vec<_> = simulation.trace.runs.iter().filter(|run| run.outcome != Outcome::Interrupted).collect();
    let tasks: TaskSet = ended.iter().map(|run| run.task).collect();
    let all = instance.tasks() as usize;
    prop_assert_eq!((ended.len(), tasks.len()), (all, all), "{}", spec);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(100)))]

    /// Checks that no job waits forever, for any real times and failures.
    #[test]
    fn every_job_ends_once(
        rows in rows(16), periods in prop::collection::vec((0_u32..6, 0_i64..80, 1_i64..40), 0..3),
        failures in prop::collection::vec((0_u32..8, 0_i64..120, 1_i64..40, any::<bool>()), 0..3), kill in any::<bool>(),
    ) {
        let failure = |(processor, down, length, known): (u32, i64, i64, bool)| Failure {
            processors: ProcSet::range(processor, processor),
            down: t(down),
            up: t(down + length),
            expected_up: known.then(|| t(down + length / 2 + 1)),
        };
        let failures = failures.into_iter().map(failure).collect();
        let options = SimulationOptions { kill_at_walltime: kill, failures, ..SimulationOptions::default() };
        for platform in platforms() {
            let (instance, actual) = instance(platform, &rows, &periods);
            for spec in SPECS {
                if let Some(simulation) = run(spec, &instance, &actual, &options) {
                    all_ended(spec, &instance, &simulation)?;
                    let again = run(spec, &instance, &actual, &options);
                    prop_assert_eq!(Some(simulation.trace), again.map(|again| again.trace), "{}", spec);
                }
            }
        }
    }

    /// Checks that expected starts are the real starts, with exact estimates and no further arrivals.
    #[test]
    fn expected_starts_are_the_starts_when_estimates_are_exact(rows in rows(14)) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, _, _, moldable)| (width, time, 0, 100, moldable)).collect();
        let (instance, actual) = instance(Platform::flat(8).unwrap(), &rows, &[(1, 20, 15)]);
        let waiting: TaskSet = instance.task_ids().collect();
        let free = ProcSet::first(8);
        let view = View { now: Time::ZERO, instance: &instance, waiting: &waiting, running: &[], free: &free, down: &[], ended: EndedTasks::default() };
        for spec in SPECS {
            let Some(simulation) = run(spec, &instance, &actual, &SimulationOptions::default()) else { continue };
            let mut expected: Vec<_> =
                expected_starts(policy(spec, 1).unwrap().as_mut(), &view).iter().map(|one| (one.task, one.start)).collect();
            let mut happened: Vec<_> = simulation.trace.runs.iter().map(|run| (run.task, run.start)).collect();
            expected.sort_unstable();
            happened.sort_unstable();
            prop_assert_eq!(expected, happened, "{}", spec);
        }
    }
}

/// The repair is expected before the period ends, but it is late. When the period ends, the processors that are
/// reserved for the job are still down, and no event reports that the repair is now expected later.
#[test]
fn an_overdue_repair_moves_reservations() {
    let period = Unavailable { processors: "0-2,5".parse().unwrap(), start: t(1), end: t(2_800) };
    let job = Job::new("a", Profile::rigid(3, t(500)).unwrap()).with_release(t(1_250));
    let instance = Instance::new(Platform::flat(6).unwrap(), vec![job], vec![period]).unwrap();
    let processors = "0-1,3-4".parse().unwrap();
    let failure = Failure { processors, down: t(1_260), up: t(900_000), expected_up: Some(t(2_300)) };
    for spec in SPECS.iter().filter(|spec| !spec.contains("passes=event")) {
        let options = SimulationOptions { failures: vec![failure.clone()], ..SimulationOptions::default() };
        let mut policy = policy_for(spec, &instance, 1).unwrap();
        let simulation = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
        assert_eq!(simulation.trace.runs.last().map(|run| run.end), Some(t(900_500)), "{spec}");
        assert!(simulation.instants < 20, "{spec}: {} instants", simulation.instants);
    }
}

const QUEUES: [&str; 13] = [
    "fcfs",
    "fcfs[order=sjf]",
    "easy",
    "easy[order=sjf]",
    "easy[order=widest,passes=instant]",
    "conservative",
    "conservative[order=sjf]",
    "moldable-easy",
    "moldable-easy[order=saf]",
    "easy[order=unicef,passes=instant]",
    "easy[order=wfp3]",
    "conservative[order=wfp3]",
    "fcfs[order=f1]",
];

/// The policies that use a scheduler.
const PLANNERS: [&str; 6] = [
    "replan",
    "replan[scheduler=demt[shuffles=2]]",
    "batch",
    "batch[scheduler=list[order=saf]]",
    "doubling",
    "improve[steps=60]",
];

fn run_starts(
    spec: &str,
    instance: &Instance,
    actual: &Actual,
    options: &SimulationOptions,
) -> Option<Vec<(u64, Time)>> {
    let simulation = run(spec, instance, actual, options)?;
    let mut starts: Vec<_> = simulation.trace.runs.iter().map(|run| (run.task.0, run.start)).collect();
    starts.sort_unstable();
    Some(starts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(100)))]

    /// Checks that a period without any effect on jobs changes nothing: a period in the past, a period long after all
    /// jobs, or a period between two logs.
    #[test]
    fn a_period_that_nobody_meets_changes_nothing(
        rows in rows(16), first in 0_u32..8, number in 1_u32..9, length in 1_i64..1_000, which in 0_usize..4,
        known in any::<bool>(),
    ) {
        let between = which == 0;
        let rows: Vec<Row> = rows.into_iter().enumerate().map(|(index, (width, time, release, percent, moldable))| {
            let later = if between && index % 2 == 1 { 20_000 } else { 0 };
            (width, time, 50 + release + later, if known { 100 } else { percent }, moldable)
        }).collect();
        let start = [9_000, 5_000, 1_000_000_000_000, 0][which];
        let length = if which == 3 { length.min(49) } else { length };
        let processors = ProcSet::range(first, (first + number - 1).min(7));
        let period = Unavailable { processors, start: t(start), end: t(start + length) };
        for platform in platforms() {
            let (open, actual) = instance(platform.clone(), &rows, &[]);
            let closed = Instance::new(platform, open.ids().map(|job| open.submitted(job)).collect(), vec![period.clone()]).unwrap();
            for spec in QUEUES.iter().chain(&PLANNERS) {
                let options = SimulationOptions::default();
                let [a, b] = [&open, &closed].map(|instance| run_starts(spec, instance, &actual, &options));
                prop_assert_eq!(a, b, "{} {:?}", spec, period);
            }
        }
    }

    /// Checks that a failure changes nothing if its processors are already down for the whole time of the failure, and
    /// all tasks and repairs end as expected.
    #[test]
    fn a_failure_within_another_changes_nothing(
        rows in rows(16), first in 0_u32..7, number in 2_u32..9, down in 0_i64..100, length in 3_i64..300,
        inner in (1_i64..300, 1_i64..300),
    ) {
        let rows: Vec<Row> = rows.into_iter().map(|row| (row.0, row.1, row.2, 100, row.4)).collect();
        let (instance, actual) = instance(Platform::flat(8).unwrap(), &rows, &[]);
        let last = (first + number - 1).min(7);
        let failure = |from: u32, down: i64, up: i64| Failure {
            processors: ProcSet::range(from, last), down: t(down), up: t(up), expected_up: Some(t(up)),
        };
        let outer = failure(first, down, down + length);
        let from = down + inner.0 % (length - 1);
        let inner = failure(first + 1, from, from + 1 + inner.1 % (down + length - from).max(1));
        prop_assume!(inner.up <= outer.up);
        for spec in QUEUES.iter().chain(&PLANNERS) {
            let options = |failures: Vec<Failure>| SimulationOptions { failures, ..SimulationOptions::default() };
            let [one, both] = [vec![outer.clone()], vec![inner.clone(), outer.clone()]]
                .map(|failures| run_starts(spec, &instance, &actual, &options(failures)));
            prop_assert_eq!(one, both, "{} {:?}", spec, inner);
        }
    }
}

/// Returns unannounced failures of single processors, with overlapping failures of a processor merged.
fn merged(failures: &[Failure], processors: u32) -> Vec<Failure> {
    let of = |processor: u32| {
        let mut periods: Vec<(Time, Time)> = failures
            .iter()
            .filter(|failure| failure.processors.contains(processor))
            .map(|failure| (failure.down, failure.up))
            .collect();
        periods.sort_unstable();
        let mut merged: Vec<(Time, Time)> = Vec::new();
        for (down, up) in periods {
            match merged.last_mut() {
                Some(last) if down < last.1 => last.1 = last.1.max(up),
                _ => merged.push((down, up)),
            }
        }
        let failure =
            move |(down, up)| Failure { processors: ProcSet::range(processor, processor), down, up, expected_up: None };
        merged.into_iter().map(failure)
    };
    (0..processors).flat_map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::cases(100)))]

    /// Checks that a failure affects only processors that are up, and that a repair affects only the processors that it
    /// makes available.
    #[test]
    fn failures_that_overlap_are_as_their_union(
        rows in rows(14),
        failures in prop::collection::vec((0_u32..8, 1_u32..5, 0_i64..90, 1_i64..60), 1..6), second in any::<bool>(),
    ) {
        // If times are in ticks, a repair is never overdue. If times are in seconds, a repair may be overdue.
        let unit = if second { Time::TICKS_PER_SECOND } else { 1 };
        let rows: Vec<Row> = rows.into_iter().map(|row| (row.0, row.1 * unit, row.2 * unit, row.3, row.4)).collect();
        let failure = |(first, number, down, length): (u32, u32, i64, i64)| Failure {
            processors: ProcSet::range(first, (first + number - 1).min(7)),
            down: t(down * unit),
            up: t((down + length * if second { 3 } else { 1 }) * unit),
            expected_up: None,
        };
        let failures: Vec<Failure> = failures.into_iter().map(failure).collect();
        for platform in platforms() {
            let (instance, actual) = instance(platform, &rows, &[]);
            for spec in SPECS {
                let options = |failures: Vec<Failure>| SimulationOptions { failures, ..SimulationOptions::default() };
                let [plain, union] = [failures.clone(), merged(&failures, 8)]
                    .map(|failures| run(spec, &instance, &actual, &options(failures)).map(|simulation| simulation.trace));
                prop_assert_eq!(plain, union, "{}", spec);
            }
        }
    }
}

/// A processor is down from 2 to 9, and fails once more during this time.
#[test]
fn a_failure_of_what_is_down_moves_no_reservation() {
    let seconds = Time::from_seconds;
    let rows = [(1, 2, 1), (2, 3, 2), (2, 1, 0), (3, 3, 1)];
    let job = |(index, &(release, time, priority)): (usize, &(i64, i64, i32))| {
        let job = Job::new(index.to_string(), Profile::rigid(1, seconds(time)).unwrap());
        job.with_release(seconds(release)).with_priority(priority)
    };
    let jobs = rows.iter().enumerate().map(job).collect();
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let failure = |down: i64, up: i64| Failure {
        processors: ProcSet::range(0, 0),
        down: seconds(down),
        up: seconds(up),
        expected_up: None,
    };
    for spec in SPECS.into_iter().chain(["conservative[queues=priority]"]) {
        let [one, both] = [vec![failure(2, 9)], vec![failure(2, 9), failure(6, 7)]].map(|failures| {
            let options = SimulationOptions { failures, ..SimulationOptions::default() };
            run(spec, &instance, &Actual::AsEstimated, &options).unwrap().trace
        });
        assert_eq!(one, both, "{spec}");
    }
}

/// Two failures overlap. They close the same two of four processors.
#[test]
fn overlapping_failures_count_once() {
    let seconds = Time::from_seconds;
    let job = Job::new("a", Profile::rigid(2, seconds(5)).unwrap()).with_release(seconds(30));
    let instance = Instance::new(Platform::flat(4).unwrap(), vec![job], vec![]).unwrap();
    let failure = |down: i64, up: i64| Failure {
        processors: "0-1".parse().unwrap(),
        down: seconds(down),
        up: seconds(up),
        expected_up: Some(seconds(up)),
    };
    let options = SimulationOptions { failures: vec![failure(10, 1000), failure(20, 900)], ..Default::default() };
    for spec in QUEUES {
        let simulation = run(spec, &instance, &Actual::AsEstimated, &options).unwrap();
        assert_eq!(simulation.trace.runs[0].start, seconds(30), "{spec}");
    }
}

/// Checks a queue order against its definition: jobs start in the order of the queue until a job does not fit.
#[test]
fn queues_by_weight_and_priority_are_read_as_defined() {
    type Key = fn(SimpleJob<'_>) -> (i64, i64, Time);
    let weight: Key = |job| (0, -(job.weight.millionths() as i64), job.release);
    let priority: Key = |job| (i64::from(-job.priority), 0, job.release);
    let shortest: Key = |job| (i64::from(-job.priority), job.profile().shortest().ticks(), job.release);
    let orders = [
        ("order=weight", weight),
        ("order=priority", priority),
        ("queues=priority", priority),
        ("order=sjf,queues=priority", shortest),
    ];
    for seed in 0..40_u64 {
        let mut state = seed + 1;
        let mut draw = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let job = |index: usize| {
            let profile = Profile::rigid(1 + draw(8) as u32, t(1 + draw(30) as i64)).unwrap();
            let weight = Weight::from_millionths(draw(4) * 500_000).unwrap();
            let job = Job::new(index.to_string(), profile).with_release(t(draw(60) as i64)).with_weight(weight);
            job.with_priority(draw(4) as i32 - 1)
        };
        let instance = Instance::new(Platform::flat(8).unwrap(), (0..25).map(job).collect(), vec![]).unwrap();
        let jobs: Vec<SimpleJob<'_>> = instance.simple_jobs().collect();
        for (order, key) in orders {
            // First come, first served, instant by instant.
            let mut starts: Vec<Option<i64>> = vec![None; 25];
            for now in 0..2000 {
                let lasts = |id: usize| jobs[id].profile().shortest().ticks();
                loop {
                    let held: u32 = (0..25)
                        .filter(|&id| starts[id].is_some_and(|start| now < start + lasts(id)))
                        .map(|id| jobs[id].profile().min_processors())
                        .sum();
                    let waiting = (0..25).filter(|&id| starts[id].is_none() && jobs[id].release <= t(now));
                    let Some(first) = waiting.min_by_key(|&id| (key(jobs[id]), id)) else { break };
                    if held + jobs[first].profile().min_processors() > 8 {
                        break;
                    }
                    starts[first] = Some(now);
                }
            }
            let expected: Vec<_> = (0..25).map(|id| (id as u64, t(starts[id].unwrap()))).collect();
            let options = SimulationOptions::default();
            let found = run_starts(&format!("fcfs[{order}]"), &instance, &Actual::AsEstimated, &options).unwrap();
            assert_eq!(found, expected, "{order}, seed {seed}");
            // Among the jobs that are released at 0, no job may delay the first job in the order of the queue. So this
            // job starts at 0.
            let first = (0..25).min_by_key(|&id| (jobs[id].release > Time::ZERO, key(jobs[id]), id));
            for policy in ["easy", "conservative", "moldable-easy"] {
                let spec = format!("{policy}[{order}]");
                let starts = run_starts(&spec, &instance, &Actual::AsEstimated, &options).unwrap();
                assert_eq!(starts.len(), 25, "{spec}");
                let first = first.unwrap();
                if jobs[first].release == Time::ZERO {
                    assert_eq!(starts[first].1, Time::ZERO, "{spec}, seed {seed}");
                }
            }
        }
    }
}

/// Checks that a batch takes the waiting jobs of the highest priority when the preceding batch has ended.
#[test]
fn a_batch_takes_the_highest_priority() {
    let job = |(index, &(release, priority)): (usize, &(i64, i32))| {
        let profile = Profile::rigid(1, t(10)).unwrap();
        Job::new(index.to_string(), profile).with_release(t(release)).with_priority(priority)
    };
    let rows = [(0, 1), (0, 2), (0, 2), (5, 3), (5, 1)];
    let instance =
        Instance::new(Platform::flat(8).unwrap(), rows.iter().enumerate().map(job).collect(), vec![]).unwrap();
    let starts = |spec: &str| -> Vec<i64> {
        let options = SimulationOptions::default();
        let starts = run_starts(spec, &instance, &Actual::AsEstimated, &options).unwrap();
        starts.iter().map(|start| start.1.ticks()).collect()
    };
    assert_eq!(starts("batch[queues=priority]"), [20, 0, 0, 10, 20]);
    assert_eq!(starts("batch"), [0, 0, 0, 10, 10]);
}

#[test]
fn queues_refuse_times_on_machines() {
    let job = Job::new("a", Profile::on_machines(vec![t(5), Profile::CANNOT_RUN]).unwrap());
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), vec![job], vec![]).unwrap();
    // Policies that use a scheduler, or search like one, support the instances that this scheduler supports.
    let asks =
        |spec: &&str| ["batch", "doubling", "replan", "follow", "improve"].iter().any(|name| spec.starts_with(name));
    for spec in SPECS.iter().filter(|spec| !asks(spec)) {
        assert!(matches!(policy_for(spec, &instance, 1), Err(PolicyError::Unsupported { .. })), "{spec}");
    }
}
