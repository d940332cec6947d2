use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Node, Objective, Payload, Platform, Profile, Time, Unavailable,
};

use crate::best;

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn graph(times: &[i64], pairs: &[(u32, u32)]) -> Graph {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let edge = |&(from, to): &(u32, u32)| Edge { from, to, payload: Payload::Bytes(7) };
    Graph::new(times.iter().enumerate().map(task).collect(), pairs.iter().map(edge).collect()).unwrap()
}

fn platform(speeds: &[f64]) -> Platform {
    let node = |(at, &speed): (usize, &f64)| Node { speed, ..Node::new(at.to_string(), 1) };
    Platform::new(speeds.iter().enumerate().map(node).collect()).unwrap()
}

fn check(speeds: &[f64], jobs: Vec<Job>, closed: Vec<Unavailable>, expect: [i128; 3]) {
    let instance = Instance::new(platform(speeds), jobs, closed).unwrap();
    for (objective, expect) in Objective::OF_SCHEDULES.into_iter().zip(expect) {
        let bound = best(&instance, objective).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        assert_eq!(bound.value.integer(), expect, "{objective}: {bound:?}");
    }
}

#[test]
fn the_window_combines_path_and_area() {
    let fork = graph(&[5, 3, 3, 3, 3], &[(0, 1), (0, 2), (0, 3), (0, 4)]);
    let job = Job::compound("fork", fork).with_release(ticks(1));
    check(&[1.0, 1.0], vec![job], vec![], [12, 12_000_000, 11_000]);
    let join = graph(&[3, 3, 3, 3, 5], &[(0, 4), (1, 4), (2, 4), (3, 4)]);
    check(&[1.0, 1.0], vec![Job::compound("join", join)], vec![], [11, 11_000_000, 11_000]);
}

#[test]
fn speeds_and_closed_periods_count() {
    let fork = graph(&[2, 6, 6, 6, 6, 6], &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    let job = Job::compound("fork", fork);
    check(&[1.0, 2.0], vec![job.clone()], vec![], [11, 11_000_000, 11_000]);
    let closed = vec![Unavailable { processors: makespan_core::ProcSet::range(1, 1), start: ticks(0), end: ticks(1) }];
    let instance = Instance::new(platform(&[1.0, 2.0]), vec![job], closed).unwrap();
    let bound = best(&instance, Objective::Makespan).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    assert!(bound.value.integer() >= 11);
}

#[test]
fn transfers_that_no_placement_avoids_count() {
    // A link transfers one byte per tick, and each edge carries seven bytes.
    let link = Link { bandwidth: Time::TICKS_PER_SECOND as f64, latency: Time::ZERO };
    let proves = |speeds: &[f64], graph: Graph| {
        let platform = platform(speeds).with_interconnect(link).unwrap();
        let instance = Instance::new(platform, vec![Job::compound("job", graph)], vec![]).unwrap();
        let bound = best(&instance, Objective::Makespan).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        bound.value.integer()
    };
    let join = |times: [i64; 3]| graph(&times, &[(0, 2), (1, 2)]);
    let fork = |times: [i64; 3]| graph(&times, &[(2, 0), (2, 1)]);
    // Either all three tasks run on one node, or the third task and one of the first two tasks run on different nodes.
    assert_eq!((proves(&[1.0, 1.0], join([10, 10, 10])), proves(&[1.0, 1.0], fork([10, 10, 10]))), (27, 27));
    assert_eq!((proves(&[1.0, 1.0], join([10, 4, 10])), proves(&[1.0, 1.0], fork([10, 4, 10]))), (21, 21));
    assert_eq!((proves(&[1.0, 1.0], join([10, 5, 10])), proves(&[1.0, 1.0], fork([10, 5, 10]))), (22, 22));
    // The second node is four times slower. So a task on the second node takes longer than all tasks on the first node.
    assert_eq!(proves(&[1.0, 0.25], join([10, 10, 10])), 30);
}

#[test]
fn the_bound_of_many_tasks_is_near_their_area() {
    let times: Vec<i64> = (0..10_000).map(|at| 1_000_000 + at * 7919 % 5_000_011).collect();
    let pairs: Vec<(u32, u32)> = (100..10_000).map(|at| (at - 100 + at % 7, at)).collect();
    let speeds: Vec<f64> = (0..16).map(|at| 1.0 + f64::from(at % 5)).collect();
    let job = Job::compound("layers", graph(&times, &pairs));
    let instance = Instance::new(platform(&speeds), vec![job], vec![]).unwrap();
    let bound = best(&instance, Objective::Makespan).unwrap();
    assert_eq!(bound.verify(&instance), Ok(()));
    let area: f64 = times.iter().sum::<i64>() as f64 / speeds.iter().sum::<f64>();
    assert!(bound.value.integer() as f64 > 0.999 * area, "{} of {area}", bound.value.integer());
}
