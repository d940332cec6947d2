use super::*;
use makespan_core::{Edge, Graph, Job, NamedTask, Payload, Platform, ProcSet, Profile, Time, Unavailable};

use crate::proof::Proof;

/// Returns an instance of eight tasks: the first takes 2 ticks, six take 3 ticks, and the last takes 4. The six tasks
/// wait for the first task, and the last task waits for the six. On two processors, these tasks take 2 + 9 + 4.
fn fork_join(closed: Vec<Unavailable>) -> Instance {
    let task = |at: u32| {
        let time = [2, 3, 3, 3, 3, 3, 3, 4][at as usize];
        NamedTask::new(at.to_string(), Profile::rigid(1, Time::from_ticks(time)).unwrap())
    };
    let edge = |from, to| Edge { from, to, payload: Payload::Bytes(0) };
    let edges = (1..7).flat_map(|at| [edge(0, at), edge(at, 7)]).collect();
    let graph = Graph::new((0..8).map(task).collect(), edges).unwrap();
    Instance::new(Platform::flat(2).unwrap(), vec![Job::compound("job", graph)], closed).unwrap()
}

/// Returns a certificate in which the whole flow goes through these tasks and along these arcs.
fn flow(tasks: &[u32], arcs: &[(Option<u32>, Option<u32>)]) -> PathFlow {
    let arcs = arcs.iter().map(|&(after, before)| (after, before, 1 << 20)).collect();
    PathFlow {
        tasks: tasks.iter().map(|&task| (task, 1 << 20)).collect(),
        edges: Vec::new(),
        prices: Vec::new(),
        resources: Vec::new(),
        areas: vec![Areas { prices: vec![1], resources: Vec::new(), arcs }],
    }
}

#[test]
fn the_area_between_two_tasks_lengthens_the_path_through_them() {
    let instance = fork_join(Vec::new());
    let proves = |flow: PathFlow| flow.proves(&instance);
    assert_eq!(proves(flow(&[0, 7], &[(Some(0), Some(7))])), Ok(15));
    assert_eq!(proves(flow(&[7], &[(None, Some(7))])), Ok(14), "the area 2 + 18 on two processors, and then 4");
    assert_eq!(proves(flow(&[0], &[(Some(0), None)])), Ok(13), "2, and then the area 18 + 4 on two processors");
    assert_eq!(proves(flow(&[], &[(None, None)])), Ok(12), "the whole area on two processors");
}

#[test]
fn area_arcs_go_from_ancestors_to_descendants_only() {
    let instance = fork_join(Vec::new());
    let refused = |flow: PathFlow| {
        matches!(flow.proves(&instance), Err(CertificateError::Malformed(_) | CertificateError::Unproved(_)))
    };
    for (after, before) in [(7, 0), (0, 0), (1, 2), (0, 8), (8, 7)] {
        assert!(refused(flow(&[0, 7], &[(Some(after), Some(before))])), "{after} {before}");
    }
    assert!(refused(flow(&[0], &[(Some(0), Some(7))])), "there is no flow through the last task");
    assert!(refused(flow(&[7], &[(Some(0), Some(7))])), "there is no flow through the first task");
    let mut several = flow(&[0, 7], &[(Some(0), Some(7))]);
    several.areas[0].prices.push(1);
    assert!(refused(several), "there is one node");
}

#[test]
fn closed_periods_do_not_count_between_tasks() {
    let closed =
        Unavailable { processors: ProcSet::range(0, 0), start: Time::from_ticks(20), end: Time::from_ticks(30) };
    let instance = fork_join(vec![closed]);
    assert_eq!(flow(&[0, 7], &[(Some(0), Some(7))]).proves(&instance), Ok(15));
}

#[test]
fn prices_at_their_limits_are_no_defect() {
    let instance = fork_join(Vec::new());
    for price in [0, 1, u64::MAX] {
        let mut large = flow(&[0, 7], &[(Some(0), Some(7))]);
        large.areas[0].prices = vec![price];
        large.areas[0].arcs[0].2 = u64::MAX;
        large.tasks = vec![(0, u64::MAX), (7, u64::MAX)];
        assert!(large.proves(&instance).is_ok_and(|proved| proved <= 15), "{price}");
    }
}

#[test]
fn certificates_of_earlier_versions_are_read() {
    let text = r#"{"kind": "path_flow", "tasks": [[0, 3]], "edges": [], "prices": [2]}"#;
    let Ok(Proof::PathFlow(proof)) = serde_json::from_str(text) else { panic!("{text}") };
    assert!(proof.areas.is_empty());
}
