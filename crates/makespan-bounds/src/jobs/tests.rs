use makespan_core::{
    Edge, Graph, Job, NamedTask, Node, Payload, Platform, ProcSet, Profile, Time, Unavailable, Weight,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::windows;

/// Returns a graph in which every task except the first has one predecessor.
fn tree(tasks: u32, most: u32, rng: &mut ChaCha8Rng) -> Graph {
    let mut task = |at: u32| {
        let time = Time::from_seconds(rng.random_range(1..10));
        let times = (1..=i64::from(most)).map(|count| Time::from_ticks(time.ticks() / count)).collect();
        NamedTask::new(at.to_string(), Profile::table(times).unwrap())
    };
    let tasks: Vec<NamedTask> = (0..tasks).map(&mut task).collect();
    let mut edge = |to: u32| Edge {
        from: rng.random_range(0..to),
        to,
        payload: Payload::Fixed(Time::from_seconds(rng.random_range(0..5))),
    };
    let edges = (1..tasks.len() as u32).map(&mut edge).collect();
    Graph::new(tasks, edges).unwrap()
}

fn jobs(count: usize, most: u32, gap: i64, rng: &mut ChaCha8Rng) -> Vec<Job> {
    let job = |at: usize| {
        let release = Time::from_seconds(at as i64 * gap);
        let weight = Weight::from_millionths(rng.random_range(1..5_000_000)).unwrap();
        let graph = tree(6, most, rng);
        Job::compound(at.to_string(), graph).with_release(release).with_weight(weight).with_deadline(release)
    };
    (0..count).map(job).collect()
}

fn value(bound: Option<Bound>, instance: &Instance) -> i128 {
    let bound = bound.expect("the search finds a bound");
    assert_eq!(bound.verify(instance), Ok(()));
    bound.value.integer()
}

#[test]
fn jobs_that_compete_prove_more_than_each_alone() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let nodes = [1.0, 1.5, 3.0].map(|speed| Node { speed, ..Node::new(speed.to_string(), 1) });
    let equal = Platform::flat(3).unwrap();
    let closed = Unavailable { processors: ProcSet::range(1, 2), start: Time::ZERO, end: Time::from_seconds(40) };
    for platform in [equal, Platform::new(nodes.to_vec()).unwrap()] {
        for (gap, most) in [(0, 1), (5, 1), (0, 3), (5, 3)] {
            for periods in [vec![], vec![closed.clone()]] {
                let own = jobs(20, most, gap, &mut rng);
                let instance = Instance::new(platform.clone(), own, periods).unwrap();
                for objective in [Objective::WeightedCompletion, Objective::MeanFlow, Objective::WeightedTardiness] {
                    let priced = value(best(&instance, objective, &Clock::ENDLESS), &instance);
                    let alone = windows::best(&instance, objective, &Clock::ENDLESS).value.integer();
                    assert!(priced > alone, "{objective} {gap} {most}: {priced} <= {alone}");
                }
                assert_eq!(best(&instance, Objective::Makespan, &Clock::ENDLESS), None);
            }
        }
    }
}

#[test]
fn equal_jobs_on_one_processor_are_bounded_within_a_few_percent() {
    // Each job has ten tasks of one second: a chain, or tasks in any order. The tasks run one after the other.
    let task = |at: u32| NamedTask::new(at.to_string(), Profile::rigid(1, Time::from_seconds(1)).unwrap());
    let edge = |to: u32| Edge { from: to - 1, to, payload: Payload::Bytes(0) };
    for edges in [1, 10] {
        let graph = || Graph::new((0..10).map(task).collect(), (edges..10).map(edge).collect()).unwrap();
        let jobs = (0..10).map(|at| Job::compound(at.to_string(), graph())).collect();
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let optimum = 1000 * 55_000_000_000_i128;
        let proved = value(best(&instance, Objective::MeanFlow, &Clock::ENDLESS), &instance);
        assert!(proved <= optimum && proved > optimum * 95 / 100, "{proved} of {optimum}");
    }
}

#[test]
fn short_and_single_instances_prove_what_paths_do() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let instance = Instance::new(Platform::flat(4).unwrap(), jobs(1, 1, 0, &mut rng), vec![]).unwrap();
    let alone = windows::best(&instance, Objective::WeightedCompletion, &Clock::ENDLESS).value.integer();
    let priced = value(best(&instance, Objective::WeightedCompletion, &Clock::ENDLESS), &instance);
    assert!(priced <= alone && priced > alone * 9 / 10, "{priced} of {alone}");
    let empty = Instance::new(Platform::flat(4).unwrap(), vec![], vec![]).unwrap();
    assert_eq!(best(&empty, Objective::MeanFlow, &Clock::ENDLESS), None);
}

/// Checks that a deadline in the distant future does not slow down the search. A search that examined an end for each
/// half period until the deadline would never finish.
#[test]
fn deadlines_far_ahead_are_no_work() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for factor in [1, 1_000, 1_000_000] {
        let far = |(at, job): (usize, Job)| {
            let deadline = Time::from_seconds(if at % 2 == 0 { 1 } else { 40 * factor });
            job.with_deadline(deadline)
        };
        let own = jobs(12, 2, 0, &mut rng).into_iter().enumerate().map(far).collect();
        let instance = Instance::new(Platform::flat(3).unwrap(), own, vec![]).unwrap();
        let alone = windows::best(&instance, Objective::WeightedTardiness, &Clock::ENDLESS).value.integer();
        assert!(value(best(&instance, Objective::WeightedTardiness, &Clock::ENDLESS), &instance) > alone, "{factor}");
    }
}
