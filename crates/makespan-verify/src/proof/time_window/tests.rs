use super::*;
use makespan_core::{Edge, Graph, Job, NamedTask, Node, Objective, Payload, Platform, ProcSet, Profile, Unavailable};

use crate::proof::{Bound, JobWindows, Proof};

fn ticks(t: i64) -> Time {
    Time::from_ticks(t)
}

fn fork(times: &[i64]) -> Graph {
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let edge = |to| Edge { from: 0, to, payload: Payload::Bytes(7) };
    Graph::new(times.iter().enumerate().map(task).collect(), (1..times.len() as u32).map(edge).collect()).unwrap()
}

fn window(deadline: i64, from: i64, until: i64, prices: &[u64]) -> TimeWindow {
    TimeWindow { deadline: ticks(deadline), from: ticks(from), until: ticks(until), prices: prices.to_vec() }
}

#[test]
fn a_window_after_the_first_task_refutes_more_than_path_or_area() {
    // On two processors, a task of 5 and then four tasks of 3 take 5 + 6 in total.
    let jobs = vec![Job::compound("fork", fork(&[5, 3, 3, 3, 3])).with_release(ticks(1))];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, vec![]).unwrap();
    let proves = |window: TimeWindow| window.proves(&instance);
    assert_eq!(proves(window(11, 6, 11, &[1])), Ok(12));
    assert!(matches!(proves(window(12, 6, 12, &[1])), Err(CertificateError::NotRefuted { needed: 12, .. })));
    assert!(matches!(proves(window(12, 1, 12, &[1])), Err(CertificateError::NotRefuted { needed: 17, .. })));
    assert_eq!(
        proves(window(11, 0, 0, &[1])),
        Ok(12),
        "the four tasks run on the node of the first task, because their data never arrive on another node"
    );
    assert!(proves(window(12, 0, 0, &[1])).is_err());
    assert!(matches!(proves(window(11, 6, 11, &[1, 1])), Err(CertificateError::Malformed(_))));
    assert!(matches!(proves(window(11, 6, 5, &[1])), Err(CertificateError::Malformed(_))));
    assert_eq!(proves(window(11, 6, 11, &[u64::MAX])), Ok(12));
}

#[test]
fn prices_make_unequal_processors_comparable() {
    let node = |name: &str, speed| Node { speed, ..Node::new(name, 1) };
    let platform = Platform::new(vec![node("slow", 1.0), node("fast", 2.0)]).unwrap();
    let instance = Instance::new(platform, vec![Job::compound("fork", fork(&[2, 6, 6, 6, 6, 6]))], vec![]).unwrap();
    let proves = |window: TimeWindow| window.proves(&instance);
    // The first task takes 1 on the fast node. After it, a work of 30 remains. The nodes have a total speed of 3.
    assert_eq!(proves(window(10, 1, 10, &[1, 2])), Ok(11));
    assert!(proves(window(11, 1, 11, &[1, 2])).is_err());
    assert!(proves(window(10, 1, 10, &[1, 1])).is_err(), "each task pays for its time on the fast node");
}

#[test]
fn closed_periods_leave_less_time_and_jobs_count_alone() {
    let closed = vec![Unavailable { processors: ProcSet::range(1, 1), start: ticks(6), end: ticks(9) }];
    let weighted = |job: Job, millionths| job.with_weight(makespan_core::Weight::from_millionths(millionths).unwrap());
    let jobs = vec![
        weighted(Job::compound("a", fork(&[5, 3, 3, 3, 3])), 2),
        weighted(Job::compound("b", fork(&[4])).with_release(ticks(3)), 5),
    ];
    let instance = Instance::new(Platform::flat(2).unwrap(), jobs, closed).unwrap();
    let of = |objective, proof| Bound::proved_by(objective, proof, &instance).map(|bound| bound.value.integer());
    assert_eq!(of(Objective::Makespan, Proof::TimeWindow(window(13, 4, 13, &[1]))), Ok(14));
    let windows = vec![window(11, 5, 11, &[1]), window(6, 0, 6, &[1])];
    let alone = Proof::JobWindows(JobWindows { windows: windows.clone() });
    assert_eq!(of(Objective::WeightedCompletion, alone.clone()), Ok(2 * 12 + 5 * 7));
    assert_eq!(of(Objective::MeanFlow, alone.clone()), Ok(1000 * (12 + 4) / 2));
    let refused = CertificateError::OtherObjective { objective: Objective::Makespan };
    assert_eq!(of(Objective::Makespan, alone), Err(refused));
    let missing = Proof::JobWindows(JobWindows { windows: windows[1..].to_vec() });
    assert!(matches!(of(Objective::MeanFlow, missing), Err(CertificateError::Malformed(_))));
}

#[test]
fn what_lies_between_a_fork_and_its_join_is_on_their_nodes_or_pays_both_transfers() {
    // The job is a task of 1, then four tasks of 6, then a task of 1, on two nodes between which a transfer takes 5
    // ticks. If each task chose its node independently, the last task could start at 12.
    let task = |(at, &time): (usize, &i64)| NamedTask::new(at.to_string(), Profile::rigid(1, ticks(time)).unwrap());
    let tasks = [1, 6, 6, 6, 6, 1].iter().enumerate().map(task).collect();
    let edge = |(from, to)| Edge { from, to, payload: Payload::Fixed(ticks(5)) };
    let edges = (1..5).flat_map(|inner| [(0, inner), (inner, 5)]).map(edge).collect();
    let jobs = vec![Job::compound("fork-join", Graph::new(tasks, edges).unwrap())];
    let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
    // Suppose that 17 ticks are between the first and the last task. If both are on one node, this node has room for
    // 17 ticks of work, and the other node for 17 - 5 - 5. If the two tasks are on two nodes, each node has room for
    // 12. The sum is 24 in both cases.
    assert_eq!(window(18, 0, 0, &[]).proves(&instance), Ok(19));
    assert!(matches!(window(19, 0, 0, &[]).proves(&instance), Err(CertificateError::NotRefuted { .. })));
}
