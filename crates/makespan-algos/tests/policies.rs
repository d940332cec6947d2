//! Every policy in simulated time: late and early jobs, failures, walltimes, unavailable periods, moldable jobs.

use makespan_algos::policy::{PolicyError, expected_starts, policy, policy_for};
use makespan_core::{
    Actual, Ended, Failure, Instance, Job, JobSet, Node, Outcome, Platform, ProcSet, Profile, SpeedupLaw, Time,
    Unavailable, View,
};
use makespan_sim::{Silent, Simulation, SimulationOptions, simulate};
use proptest::prelude::*;

const SPECS: [&str; 13] = [
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
];

fn t(ticks: i64) -> Time {
    Time::from_ticks(ticks)
}

/// Width or parallelism, time, release, the truth in percent of the estimate, and whether moldable.
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
    let node = |(name, speed): (&str, f64)| Node { name: name.into(), processors: 4, speed, parent: None, link: None };
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
    // The simulation refuses what no cluster could do: processors used twice, closed, in no best placement.
    Some(
        simulate(instance, actual, policy.as_mut(), options, &mut Silent).unwrap_or_else(|why| panic!("{spec}: {why}")),
    )
}

fn all_ended(spec: &str, instance: &Instance, simulation: &Simulation) -> Result<(), TestCaseError> {
    let ended: Vec<_> = simulation.trace.runs.iter().filter(|run| run.outcome != Outcome::Interrupted).collect();
    let jobs: JobSet = ended.iter().map(|run| run.job).collect();
    prop_assert_eq!((ended.len(), jobs.len()), (instance.jobs().len(), instance.jobs().len()), "{}", spec);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Nothing waits for ever, whatever the jobs really take and whatever fails.
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

    /// With exact estimates and nothing more to come, what is expected is what happens.
    #[test]
    fn expected_starts_are_the_starts_when_estimates_are_exact(rows in rows(14)) {
        let rows: Vec<Row> = rows.into_iter().map(|(width, time, _, _, moldable)| (width, time, 0, 100, moldable)).collect();
        let (instance, actual) = instance(Platform::flat(8).unwrap(), &rows, &[(1, 20, 15)]);
        let waiting: JobSet = instance.ids().collect();
        let free = ProcSet::first(8);
        let view = View { now: Time::ZERO, instance: &instance, waiting: &waiting, running: &[], free: &free, down: &[], ended: Ended::default() };
        for spec in SPECS {
            let Some(simulation) = run(spec, &instance, &actual, &SimulationOptions::default()) else { continue };
            let mut expected: Vec<_> =
                expected_starts(policy(spec, 1).unwrap().as_mut(), &view).iter().map(|one| (one.job, one.start)).collect();
            let mut happened: Vec<_> = simulation.trace.runs.iter().map(|run| (run.job, run.start)).collect();
            expected.sort_unstable();
            happened.sort_unstable();
            prop_assert_eq!(expected, happened, "{}", spec);
        }
    }
}

/// The repair was expected before the period ends, so the job has its reservation on processors that are still down then,
/// and no event tells that the repair is now expected later.
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

#[test]
fn queues_refuse_times_on_machines() {
    let job = Job::new("a", Profile::on_machines(vec![t(5), Profile::CANNOT_RUN]).unwrap());
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), vec![job], vec![]).unwrap();
    for spec in SPECS {
        assert!(matches!(policy_for(spec, &instance, 1), Err(PolicyError::Unsupported { .. })), "{spec}");
    }
}
