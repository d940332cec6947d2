//! Test of the example of Tselishchev and Toporkov: two jobs with deadlines of 110 and 140 on 8 processors.

use makespan_algos::policy::policy_for;
use makespan_core::{
    Actual, Edge, Graph, Instance, Job, LoggedDecision, NamedTask, Node, Payload, Platform, Profile, Time, validate,
};
use makespan_sim::{Silent, SimulationOptions, simulate};

fn s(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

fn job(name: &str, deadline: i64, volumes: &[i64], pairs: &[(u32, u32)]) -> Job {
    let task = |(at, &volume): (usize, &i64)| NamedTask::new(format!("p{at}"), Profile::rigid(1, s(volume)).unwrap());
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Fixed(s(5)) };
    let graph = Graph::new(volumes.iter().enumerate().map(task).collect(), pairs.iter().map(edge).collect()).unwrap();
    let mut job = Job::compound(name, graph);
    job.deadline = Some(s(deadline));
    job
}

/// Returns both jobs, which arrive at the same time. The task data were chosen for this test, since the paper shows its
/// data only in a picture.
fn instance() -> Instance {
    let speeds = [1.0, 1.0, 1.25, 1.25, 2.0, 2.0, 2.5, 2.5];
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("cpu{at}"), 1) };
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    let pairs = [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)];
    let first = job("first", 110, &[30, 40, 20, 30, 20, 30], &pairs);
    let pairs = [(3, 0), (3, 1), (3, 4), (0, 2), (1, 2), (4, 2), (2, 5), (2, 6)];
    let other = job("second", 140, &[40, 50, 40, 20, 30, 30, 40], &pairs);
    Instance::new(platform, vec![first, other], vec![]).unwrap()
}

/// Returns the ends of both jobs. Checks that the plans meet the deadlines and that all tasks run as planned.
fn ends(spec: &str, instance: &Instance) -> [Time; 2] {
    let mut policy = policy_for(spec, instance, 1).unwrap();
    let options = SimulationOptions::default();
    let simulation = simulate(instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
    assert!(policy.log().iter().all(|entry| matches!(entry.what, LoggedDecision::Planned { .. })), "{spec}");
    let schedule = simulation.trace.schedule();
    assert_eq!(validate(instance, &schedule), Ok(()), "{spec}");
    [0, 1].map(|job| {
        let own = schedule.placements().iter().filter(|placement| instance.job_id(placement.task).index() == job);
        own.map(|placement| placement.end).max().unwrap()
    })
}

#[test]
fn both_jobs_are_in_time_one_after_the_other_and_collected_in_a_buffer() {
    let [first, second] = ends("job-flow[serve=consecutive,clock=handover]", &instance());
    assert!(first <= s(110) && second <= first + s(140), "{first} {second}");
    // If the second job runs alone, and as cheaply as its deadline allows, it takes longer than both jobs together.
    assert!(second > s(140), "{second}");
    for flow in ["utilisation", "cost", "finish"] {
        for serve in ["buffer=1s", "serve=replan"] {
            let spec = format!("job-flow[{serve},flow={flow}]");
            let [first, second] = ends(&spec, &instance());
            assert!(first <= s(110) && second <= s(140), "{spec}: {first} {second}");
        }
    }
}

#[test]
fn consecutive_jobs_do_not_overlap() {
    let instance = instance();
    let mut policy = policy_for("job-flow[serve=consecutive]", &instance, 1).unwrap();
    let options = SimulationOptions::default();
    let simulation = simulate(&instance, &Actual::AsEstimated, policy.as_mut(), &options, &mut Silent).unwrap();
    let schedule = simulation.trace.schedule();
    let (first, second): (Vec<_>, Vec<_>) =
        schedule.placements().iter().partition(|placement| instance.job_id(placement.task).index() == 0);
    assert!(!first.is_empty() && !second.is_empty());
    let end = first.iter().map(|placement| placement.end).max();
    assert!(second.iter().map(|placement| placement.start).min() >= end);
}
