//! Tests with small flows and measures computed by hand.

use super::*;
use crate::model::{Job, Node, Platform, ProcSet, Profile, TaskId};
use crate::online::Run;

fn s(seconds: i64) -> Time {
    Time::from_seconds(seconds)
}

/// Returns an instance with sequential tasks, given as (size, release), on nodes of these speeds.
fn flow(speeds: &[f64], tasks: &[(i64, i64)]) -> Instance {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(format!("n{at}"), 1) };
    let job = |(at, &(size, release)): (usize, &(i64, i64))| {
        Job::new(at.to_string(), Profile::rigid(1, s(size)).unwrap()).with_release(s(release))
    };
    let platform = Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap();
    Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![]).unwrap()
}

fn run(task: u64, from: i64, until: i64, processor: u32) -> Run {
    let processors = ProcSet::range(processor, processor);
    Run { task: TaskId(task), start: s(from), end: s(until), processors, outcome: Outcome::Succeeded, accounting: None }
}

/// Returns a flow on two nodes of speeds 1 and 3: one task is released at 0, six tasks at 10, which run from 11 on, and
/// one task at 30.
fn played() -> (Instance, Trace) {
    let instance = flow(&[1.0, 3.0], &[(3, 0), (6, 10), (6, 10), (6, 10), (6, 10), (6, 10), (6, 10), (3, 30)]);
    let runs = vec![
        run(0, 0, 1, 1),
        run(1, 11, 13, 1),
        run(2, 13, 15, 1),
        run(3, 11, 17, 0),
        run(4, 15, 17, 1),
        run(5, 17, 19, 1),
        run(6, 17, 23, 0),
        run(7, 30, 31, 1),
    ];
    (instance, Trace { runs })
}

#[test]
fn phases_are_told_by_who_waits_and_what_is_idle() {
    let (instance, trace) = played();
    let phases = Phases::of(&instance, &trace);
    let steps: Vec<(i64, Phase)> =
        phases.steps.iter().map(|step| (step.from.ticks() / 1_000_000_000, step.phase)).collect();
    // At 10, six tasks wait and all processors are idle. At 11, four tasks wait for two processors, so there are not
    // more than two waiting tasks per processor. From 17 on, no task waits and both processors run tasks.
    assert_eq!(steps, [(0, Phase::Starvation), (10, Phase::Slide), (19, Phase::Starvation)]);
    assert_eq!(phases.end, s(31));
    assert!((phases.share(Phase::Slide) - 9.0 / 31.0).abs() < 1e-12);
    assert!((phases.within(Phase::Starvation, s(5), s(15)) - 0.5).abs() < 1e-12);
    let sum: f64 = Phase::ALL.iter().map(|&phase| phases.share(phase)).sum();
    assert!((sum - 1.0).abs() < 1e-12);
}

#[test]
fn saturation_needs_enough_tasks() {
    let instance = flow(&[1.0], &[(1, 0), (1, 0), (1, 0), (1, 0), (1, 5)]);
    let runs = vec![run(0, 0, 1, 0), run(1, 1, 2, 0), run(2, 2, 3, 0), run(3, 3, 4, 0), run(4, 6, 7, 0)];
    let phases = Phases::of(&instance, &Trace { runs });
    let steps: Vec<(Time, Phase)> = phases.steps.iter().map(|step| (step.from, step.phase)).collect();
    // From 3 on, no task waits, but the processor is busy. From 5 on, a task waits, and the processor is idle.
    let expected = [(0, Phase::Saturation), (1, Phase::Slide), (4, Phase::Starvation), (5, Phase::Slide)];
    assert_eq!(steps, expected.map(|(at, phase)| (s(at), phase)));
}

#[test]
fn figures_by_hand() {
    let (instance, trace) = played();
    let measures = TaskFlowMeasures::of(&instance, &trace, s(31));
    // In 31 s, the slow node runs tasks for 12 s, and the fast node for 1 + 2 + 2 + 2 + 2 + 1 s.
    let (slow, fast) = (12.0 / 31.0, 10.0 / 31.0);
    assert!((measures.utilisation - f64::midpoint(slow, fast)).abs() < 1e-12);
    assert!((measures.utilisation_by_speed - (slow + 3.0 * fast) / 4.0).abs() < 1e-12);
    assert!((measures.throughput - 8.0 / 31.0).abs() < 1e-12);
    assert!(measures.gap() < 1e-8);
    assert!(TaskFlowMeasures::suits(&instance));
    assert!(!TaskFlowMeasures::suits(&flow(&[1.0, 1.0], &[(1, 0), (1, 1)])));
}
