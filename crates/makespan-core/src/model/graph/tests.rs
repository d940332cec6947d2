use super::*;

fn named(names: &[&str]) -> Vec<NamedTask> {
    names.iter().map(|&name| NamedTask::new(name, Profile::rigid(1, Time::TICK).unwrap())).collect()
}

fn edges(pairs: &[(u32, u32)]) -> Vec<Edge> {
    pairs.iter().map(|&(from, to)| Edge { from, to, payload: Payload::Bytes(1) }).collect()
}

fn check_refusal(names: &[&str], pairs: &[(u32, u32)], expect: &str) {
    let error = Graph::new(named(names), edges(pairs)).unwrap_err().to_string();
    assert!(error.contains(expect), "{error}");
}

#[test]
fn tasks_come_after_those_that_they_wait_for() {
    let graph = Graph::new(named(&["d", "b", "c", "a"]), edges(&[(3, 1), (1, 0), (3, 2), (2, 0)])).unwrap();
    assert_eq!(graph.order(), [3, 1, 2, 0]);
    assert_eq!((graph.number("c"), graph.number("x")), (Some(2), None));
    assert_eq!(graph.longest_path(|task| Time::from_ticks(i64::from(task) + 1)), Time::from_ticks(4 + 3 + 1));
}

#[test]
fn what_is_no_graph_is_refused_by_name() {
    check_refusal(&[], &[], "no tasks");
    check_refusal(&["a", ""], &[], "name of task 1");
    check_refusal(&["a", "a"], &[], "two tasks are named `a`");
    check_refusal(&["a", "b"], &[(0, 2)], "edge 0 refers to task 2, but tasks are numbered from 0 to 1");
    check_refusal(&["a", "b"], &[(0, 1), (0, 1)], "two edges lead from `a` to `b`");
    check_refusal(&["a", "b", "c", "d"], &[(0, 1), (1, 2), (2, 3), (3, 1)], "in a cycle: b -> c -> d -> b; remove");
    check_refusal(&["a"], &[(0, 0)], "in a cycle: a -> a");
    let late = Edge { from: 0, to: 1, payload: Payload::Fixed(Time::from_ticks(-1)) };
    assert!(matches!(Graph::new(named(&["a", "b"]), vec![late]), Err(GraphError::Negative { .. })));
}

#[test]
fn a_long_cycle_is_shown_in_part() {
    let names: Vec<String> = (0..20).map(|index| format!("t{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ring: Vec<(u32, u32)> = (0..20).map(|index| (index, (index + 1) % 20)).collect();
    let error = Graph::new(named(&names), edges(&ring)).unwrap_err().to_string();
    assert!(error.contains("t0 -> t1 -> t2 -> t3 -> t4 -> t5 -> t6 -> t7 -> .. -> t0"), "{error}");
}
