use makespan_core::{
    Edge, Graph, Instance, Job, NamedTask, Need, Needs, Node, Objective, Payload, Platform, Profile, Resources,
    SpeedupLaw, Time,
};
use makespan_verify::{Bound, Proof};

use crate::{Clock, best};

fn ticks(time: i64) -> Time {
    Time::from_ticks(time)
}

fn rigid(name: &str, processors: u32, time: i64) -> Job {
    Job::new(name, Profile::rigid(processors, ticks(time)).unwrap())
}

fn needs(name: &str, need: Need) -> Needs {
    Needs::new([(name, need)]).unwrap()
}

fn bound(instance: &Instance, objective: Objective) -> Bound {
    let bound = best(instance, objective).unwrap();
    assert_eq!(bound.verify(instance), Ok(()));
    let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound.clone() };
    assert!(higher.verify(instance).is_err(), "{bound:?}");
    bound
}

fn check(instance: &Instance, objective: Objective, expect: i128) {
    let bound = bound(instance, objective);
    assert_eq!(bound.value.integer(), expect, "{bound:?}");
}

#[test]
fn memory_and_licences_are_areas() {
    let amounts = |name, amount| Resources::new([(name, amount)]).unwrap();
    let job = |at: usize| rigid(&at.to_string(), 1, 10);
    // Six tasks each hold half of a node's memory, on two nodes. So four tasks run at a time. The area bound is 6 * 10
    // / 4 = 15, which is rounded up to a multiple of 10.
    let platform = Platform::cluster(2, 8).unwrap().with_node_resources(&amounts("memory", 4)).unwrap();
    let jobs = (0..6).map(|at| job(at).with_needs(needs("memory", Need::whole(2)))).collect();
    check(&Instance::new(platform, jobs, vec![]).unwrap(), Objective::Makespan, 20);
    let platform = Platform::flat(8).unwrap().with_licences(amounts("solver", 1)).unwrap();
    let jobs = (0..6).map(|at| job(at).with_needs(needs("solver", Need::whole(1)))).collect();
    check(&Instance::new(platform, jobs, vec![]).unwrap(), Objective::Makespan, 60);
}

#[test]
fn jobs_that_wait_for_jobs_end_after_them() {
    let jobs = vec![
        rigid("a", 2, 5),
        rigid("b", 1, 4).with_release(ticks(3)).with_after(["a"]),
        rigid("c", 4, 2).with_after(["b"]).with_deadline(ticks(8)),
        rigid("d", 4, 3).with_after(["a"]),
    ];
    let instance = Instance::new(Platform::flat(4).unwrap(), jobs, vec![]).unwrap();
    // The job `b` waits for `a`, and `c` waits for `b`. The job `d` also waits for `a`, and needs all processors. So
    // all four jobs run one after the other.
    check(&instance, Objective::Makespan, 5 + 4 + 3 + 2);
    check(&instance, Objective::WeightedCompletion, (5 + 9 + 11 + 8) * 1_000_000);
    // At least one job ends at the bound on the makespan or later. So the bound on the sum of the ends is larger by 3
    // than the sum of the longest paths.
    let sum =
        crate::standard(&instance).unwrap().into_iter().find(|bound| bound.objective == Objective::WeightedCompletion);
    assert_eq!(sum.map(|bound| bound.value.integer()), Some((5 + 9 + 11 + 8 + 3) * 1_000_000));
    check(&instance, Objective::MaxTardiness, 3);
    check(&instance, Objective::WeightedTardiness, 3_000_000);
}

#[test]
fn jobs_of_early_deadlines_are_bounded_by_themselves() {
    let due = |at: i64| rigid(&at.to_string(), 1, 10).with_deadline(ticks(12 + at));
    let late = rigid("late", 2, 50).with_deadline(ticks(1000));
    let instance = Instance::new(Platform::flat(2).unwrap(), (0..6).map(due).chain([late]).collect(), vec![]).unwrap();
    // The jobs need three rounds of two jobs each, so the last round ends at 30. The five jobs with deadlines up to 16
    // also need three rounds. So one of these jobs is late by at least 14.
    check(&instance, Objective::MaxTardiness, 14);
    let weighted = bound(&instance, Objective::WeightedTardiness).value.integer();
    // The jobs end at 10, 10, 20, 20, 30 and 30, and their deadlines are 12 to 17, so the bound is about 120 - 87 = 33.
    // The optimum is 38, because the first two jobs end 2 and 3 before their deadlines.
    assert!((30_000_000..=36_000_000).contains(&weighted), "{weighted}");
}

/// Returns layers of moldable tasks. Each task waits for up to two tasks of the previous layer.
fn layers(width: u32, count: u32, serial: f64) -> Graph {
    let law = SpeedupLaw::Amdahl { serial };
    let time = |at: u32| Time::from_seconds(i64::from(20 + at * 7919 % 61));
    let task = |at: u32| NamedTask::new(at.to_string(), Profile::law(time(at), law, 1, 64).unwrap());
    let edge = |to: u32, step: u32| Edge {
        from: to - width + (to * 31 + step * 17) % width - to % width,
        to,
        payload: Payload::Bytes(0),
    };
    let all = width * count;
    let edges = (width..all).flat_map(|to| (0..2).map(move |step| edge(to, step)));
    let mut edges: Vec<Edge> = edges.collect();
    edges.sort_by_key(|edge| (edge.to, edge.from));
    edges.dedup_by_key(|edge| (edge.to, edge.from));
    Graph::new((0..all).map(task).collect(), edges).unwrap()
}

#[test]
fn paths_and_area_prove_more_together() {
    for (width, count, serial) in [(8, 10, 0.1), (20, 6, 0.05), (3, 40, 0.3)] {
        let job = Job::compound("job", layers(width, count, serial));
        let instance = Instance::new(Platform::flat(32).unwrap(), vec![job], vec![]).unwrap();
        let mut bounds = super::flows(&instance, &Clock::ENDLESS);
        bounds.extend(super::makespans(&instance, 0, 0, &Clock::ENDLESS));
        let value = |is: fn(&Proof) -> bool| {
            bounds.iter().filter(|bound| is(&bound.proof)).map(|bound| bound.value.as_f64() / 1e9).fold(0.0, f64::max)
        };
        let path = value(|proof| matches!(proof, Proof::Paths(_)));
        let window = value(|proof| matches!(proof, Proof::TimeWindow(_)));
        let flow = value(|proof| matches!(proof, Proof::PathFlow(_)));
        println!("{width} x {count}: path {path:.2}, window {window:.2}, flow {flow:.2}");
        assert!(flow > 1.03 * path.max(window), "{path} {window} {flow}");
    }
}

/// Returns a sequence of `times` forks. A fork is one task, `width` tasks that wait for the first task, and one task
/// that waits for these `width` tasks.
fn forks(times: u32, width: u32, law: Option<SpeedupLaw>) -> Graph {
    let each = width + 2;
    let task = |at: u32| {
        let is_joint = at.is_multiple_of(each) || at % each == width + 1;
        let time = Time::from_seconds(if is_joint { 10 } else { i64::from(20 + at * 7919 % 13) });
        let profile = match law {
            Some(law) if !is_joint => Profile::law(time, law, 1, 8),
            _ => Profile::rigid(1, time),
        };
        NamedTask::new(at.to_string(), profile.unwrap())
    };
    let edge = |from, to| Edge { from, to, payload: Payload::Bytes(0) };
    let fork = |at: u32| (1..=width).flat_map(move |to| [edge(at, at + to), edge(at + to, at + width + 1)]);
    let joined = (1..times).map(|at| edge(at * each - 1, at * each));
    let edges = (0..times).flat_map(|at| fork(at * each)).chain(joined);
    Graph::new((0..times * each).map(task).collect(), edges.collect()).unwrap()
}

#[test]
fn areas_between_tasks_lengthen_paths() {
    let amdahl = SpeedupLaw::Amdahl { serial: 0.1 };
    for (law, gain) in [(Some(amdahl), 1.05), (None, 1.1)] {
        let job = || Job::compound("job", forks(5, 11, law));
        let instance = Instance::new(Platform::flat(4).unwrap(), vec![job()], vec![]).unwrap();
        let mut found = super::flows(&instance, &Clock::ENDLESS);
        found.extend(super::makespans(&instance, 0, 0, &Clock::ENDLESS));
        let value = |bound: &&Bound| bound.value.integer();
        let flow = found.iter().filter(|bound| matches!(bound.proof, Proof::PathFlow(_))).max_by_key(value).unwrap();
        assert_eq!(flow.verify(&instance), Ok(()));
        let Proof::PathFlow(proof) = &flow.proof else { panic!("{flow:?}") };
        assert!(proof.areas.iter().any(|areas| areas.arcs.len() >= 5), "{proof:?}");
        let others = found.iter().filter(|bound| !matches!(bound.proof, Proof::PathFlow(_))).max_by_key(value).unwrap();
        assert!(flow.value.as_f64() > gain * others.value.as_f64(), "{flow:?} {others:?}");
    }
}

#[test]
fn parallel_tasks_on_unequal_speeds_have_bounds() {
    let node = |name: &str, speed, processors| Node { speed, ..Node::new(name, processors) };
    let platform = || Platform::new(vec![node("fast", 2.0, 2), node("slow", 1.0, 4)]).unwrap();
    // A task on four processors never runs on the fast node alone.
    let instance = Instance::new(platform(), vec![rigid("wide", 4, 10)], vec![]).unwrap();
    check(&instance, Objective::Makespan, 10);
    check(&instance, Objective::MeanFlow, 10_000);
    // The work is 6 x 40, and the total speed is 8.
    let jobs = (0..6).map(|at| rigid(&at.to_string(), 2, 20)).collect();
    check(&Instance::new(platform(), jobs, vec![]).unwrap(), Objective::Makespan, 30);
}

#[test]
fn bounds_of_ten_thousand_tasks_are_verified() {
    bounds_are_verified(10_000);
}

#[test]
#[ignore = "long: a minute of computing"]
fn bounds_of_a_hundred_thousand_tasks_are_verified() {
    bounds_are_verified(100_000);
}

fn bounds_are_verified(tasks: u32) {
    let memory = Resources::new([("memory", 64)]).unwrap();
    let platform = Platform::cluster(1000, 16).unwrap().with_node_resources(&memory).unwrap();
    let job = |at: u32| {
        let time = 1_000_000 + i64::from(at) * 7919 % 5_000_011;
        let job = rigid(&at.to_string(), 1 + at % 5, time);
        let job = job.with_needs(needs("memory", Need::whole(1 + u64::from(at % 40)))).with_deadline(ticks(2 * time));
        if at % 3 == 2 { job.with_after([(at - 2).to_string()]) } else { job }
    };
    let instance = Instance::new(platform, (0..tasks).map(job).collect(), vec![]).unwrap();
    for objective in Objective::OF_TIME {
        let bound = best(&instance, objective).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()), "{objective}");
    }
    let graph = Job::compound("job", layers(100, tasks / 100, 0.1));
    let instance = Instance::new(Platform::flat(64).unwrap(), vec![graph], vec![]).unwrap();
    let bound = best(&instance, Objective::Makespan).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
}
