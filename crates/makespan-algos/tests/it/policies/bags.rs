//! Tests of policies on bags and compound jobs among single tasks: every task ends once.

use makespan_algos::policy::{policies, policy_for};
use makespan_core::{
    Actual, Edge, Failure, Graph, Instance, Job, NamedTask, Node, Outcome, Payload, Platform, ProcSet, Profile, TaskId,
    Time, Unavailable, Weight,
};
use makespan_sim::{Silent, SimulationOptions, simulate};
use proptest::prelude::*;

use super::t;

/// A job, given by its width, its time, the gap before it, its kind, and its real time in percent of the estimate.
type Row = (u32, i64, i64, u8, i64);

pub const SPECS: [&str; 18] = [
    "fcfs[order=weight]",
    "easy[order=sjf]",
    "easy[order=laf,passes=instant]",
    "conservative[order=widest]",
    "conservative[queues=priority,request=fastest]",
    "moldable-easy[order=narrowest]",
    "batch[queues=priority]",
    "replan[scheduler=demt[shuffles=2]]",
    "immediate[communication=3ns]",
    "interval[every=7ns]",
    "follow[scheduler=list]",
    "follow[scheduler=peft]",
    "improve[steps=60,keep=none]",
    "improve[steps=60,objective=weighted-tardiness]",
    "job-flow[serve=arrival]",
    "job-flow[serve=consecutive,clock=handover]",
    "job-flow[buffer=20ns,deadline=2]",
    "job-flow[starts=early,deadline=3,spare=always]",
];

/// Returns jobs by release: single tasks, bags, best-effort bags and graphs.
pub fn jobs(rows: &[Row], widest: u32, platform: &Platform) -> Vec<Job> {
    let mut release = 0;
    let job = |(index, &(width, time, gap, kind, _)): (usize, &Row)| {
        release += gap;
        let profile = |more: i64| Profile::rigid(width.min(widest), t(time + more)).unwrap();
        let (name, count) = (index.to_string(), (u64::from(width) % 4 + 1).try_into().unwrap());
        let job = match kind {
            0 | 1 => Job::new(name, profile(0)),
            2 => Job::new(name, profile(0)).with_count(count),
            3 => Job::new(name, profile(0)).with_count(count).with_weight(Weight::ZERO),
            _ => {
                let tasks = (0..4).map(|task| NamedTask::new(task.to_string(), profile(task))).collect();
                let edges = [(0, 1), (0, 2), (2, 3)].map(|(from, to)| Edge { from, to, payload: Payload::Bytes(5) });
                Job::compound(name, Graph::new(tasks, edges.to_vec()).unwrap())
            }
        };
        let job = job.with_release(t(release)).with_priority(i32::from(kind) % 3);
        match time % 3 {
            // On slower machines, the task would exceed this walltime.
            0 if widest == 1 && !platform.has_unit_speed() => {
                job.with_walltime(t(time / 2 + if kind < 4 { 1 } else { 3 }))
            }
            // The walltime is longer than any task takes on the slowest machine.
            1 => job.with_walltime(t(100)),
            _ => job,
        }
    };
    rows.iter().enumerate().map(job).collect()
}

pub fn platforms() -> [Platform; 2] {
    let node = |(name, speed): (&str, f64)| Node { speed, ..Node::new(name, 2) };
    [Platform::flat(4).unwrap(), Platform::new([("a", 1.0), ("b", 2.5)].map(node).to_vec()).unwrap()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_task_of_every_job_ends_once(
        rows in prop::collection::vec((1_u32..9, 1_i64..30, 0_i64..25, 0_u8..6, 20_i64..250), 1..9),
        widest in prop::sample::select(vec![1_u32, 4]),
        failures in prop::collection::vec((0_u32..4, 0_i64..150, 1_i64..40), 0..3),
        closed in prop::option::of((0_i64..80, 1_i64..40)),
    ) {
        let failure = |(id, down, length): (u32, i64, i64)| Failure {
            processors: ProcSet::range(id, id), down: t(down), up: t(down + length), expected_up: None,
        };
        let failures = failures.into_iter().map(failure).collect();
        let options = SimulationOptions { failures, requeues: u32::MAX, ..SimulationOptions::default() };
        let period = |(start, length): (i64, i64)| Unavailable {
            processors: ProcSet::range(1, 2), start: t(start), end: t(start + length),
        };
        for platform in platforms() {
            let periods: Vec<Unavailable> = closed.into_iter().map(period).collect();
            let jobs = jobs(&rows, widest, &platform);
            let instance = Instance::new(platform, jobs, periods).unwrap();
            let real = |task: TaskId| {
                let percent = rows[instance.job_id(task).index()].4;
                let profile = instance.profile(task);
                let time = Time::from_ticks((profile.slowest().ticks() * percent / 100).max(1));
                Profile::rigid(profile.min_processors(), time).unwrap()
            };
            let actual = Actual::Profiles(instance.task_ids().map(real).collect());
            for spec in policies().iter().map(|entry| entry.name).chain(SPECS) {
                let Ok(mut policy) = policy_for(spec, &instance, 1) else { continue };
                let played = simulate(&instance, &actual, policy.as_mut(), &options, &mut Silent);
                let played = played.map_err(|error| TestCaseError::fail(format!("{spec}: {error}")))?;
                let ended = played.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
                prop_assert_eq!(ended as u64, instance.tasks(), "{}", spec);
            }
        }
    }
}

/// One of two processors fails when some tasks of both bags have begun.
#[test]
fn the_tasks_of_bags_are_placed_one_by_one() {
    let bag = |name: &str, seconds: i64, count: u64| {
        let profile = Profile::rigid(1, Time::from_seconds(seconds)).unwrap();
        Job::new(name, profile).with_count(count.try_into().unwrap())
    };
    let jobs = vec![bag("a", 2, 5), bag("b", 3, 4).with_weight(Weight::ZERO)];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let down = Failure {
        processors: ProcSet::range(1, 1),
        down: Time::from_seconds(3),
        up: Time::from_seconds(40),
        expected_up: Some(Time::from_seconds(40)),
    };
    for failures in [vec![], vec![down]] {
        let options = SimulationOptions { failures, ..SimulationOptions::default() };
        for spec in policies().iter().map(|entry| entry.name).chain(SPECS) {
            let mut policy = policy_for(spec, &instance, 1).unwrap_or_else(|error| panic!("{error}"));
            let played = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent);
            let played = played.unwrap_or_else(|error| panic!("{spec}: {error}"));
            let ended = played.trace.runs.iter().filter(|run| run.outcome == Outcome::Succeeded).count();
            assert_eq!(ended, 9, "{spec}");
        }
    }
}
