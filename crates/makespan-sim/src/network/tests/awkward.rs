//! Tests with machines that change or are removed.

use makespan_core::network::{NetworkError, NodeEvent};

use super::*;

fn chain() -> Network {
    let nodes = [node(None, 1.0, 1.0), node(Some(0), 1.0, 10.0), node(Some(1), 1.0, 10.0)];
    Network::new(&nodes, vec![kind(0, 1.0, 1.0, 60), kind(1, 2.0, 0.5, 60)]).unwrap()
}

fn played(network: &Network, options: &NetworkOptions) -> NetworkRun {
    let mut audit = Audit::new(network, options);
    let run = simulate(network, &mut whims(network, 5), options, &mut audit).unwrap();
    audit.check();
    run
}

#[test]
fn a_link_cut_to_a_hundredth_in_mid_run_loses_no_task() {
    let network = chain();
    let before = played(&network, &NetworkOptions::default());
    let cut = NetworkChange { at: Time::from_seconds(5), node: 1, what: NodeChange::Bandwidth(0.1) };
    let run = played(&network, &NetworkOptions { changes: vec![cut], ..NetworkOptions::default() });
    assert_eq!((run.unfinished(), run.stalled), (0, false));
    assert!(run.end > before.end);
}

#[test]
fn what_is_under_way_goes_on_at_the_new_rate() {
    let root = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
    let network = Network::new(&[root, node(Some(0), 1.0, 1.0)], vec![kind(0, 10.0, 10.0, 1)]).unwrap();
    let at = |seconds, what| NetworkChange { at: Time::from_seconds(seconds), node: 1, what };
    let changes = vec![at(4, NodeChange::Bandwidth(2.0)), at(11, NodeChange::Speed(4.0))];
    let run = played(&network, &NetworkOptions { changes, ..NetworkOptions::default() });
    // At the first bandwidth, four bytes take 4 s. At the second bandwidth, six bytes take 3 s. So the task arrives at
    // 7 s. At the first speed, four units of work are done by 11 s. At the second speed, six units take 1.5 s.
    assert_eq!(run.end, Time::from_ticks(12_500_000_000));
}

proptest! {
    /// The bandwidth of a hop changes once or twice. The latency does not change, and each byte is sent at the
    /// bandwidth of its instant.
    #[test]
    fn a_change_of_bandwidth_leaves_latency_as_it_is(
        latency in 0_i64..20, data in 1_u32..20, changes in proptest::collection::vec((1_i64..30, 1_u32..8), 0..3),
    ) {
        let root = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
        let child = NetworkNode { latency: Time::from_seconds(latency), ..node(Some(0), 1.0, 1.0) };
        let network = Network::new(&[root, child], vec![kind(0, f64::from(data), 1.0, 1)]).unwrap();
        let mut changes = changes;
        changes.sort_unstable();
        // Computes the transfer second by second, because changes happen only at whole seconds.
        let (mut left, mut bandwidth, mut second) = (f64::from(data), 1.0, 0);
        let end = loop {
            for &(_, changed) in changes.iter().filter(|&&(at, _)| at == second) {
                bandwidth = f64::from(changed);
            }
            if second >= latency {
                if left <= bandwidth {
                    break second as f64 + left / bandwidth;
                }
                left -= bandwidth;
            }
            second += 1;
        };
        let changes = changes.iter().map(|&(at, bandwidth)| {
            NetworkChange { at: Time::from_seconds(at), node: 1, what: NodeChange::Bandwidth(bandwidth.into()) }
        });
        let run = played(&network, &NetworkOptions { changes: changes.collect(), ..NetworkOptions::default() });
        // The computation takes one more second after the hop.
        prop_assert!((run.end.seconds() - 1.0 - end).abs() < 1e-6, "{} and {end}", run.end);
    }
}

#[test]
fn a_node_that_is_removed_loses_no_task() {
    let network = chain();
    for second in 0..25 {
        for removed in [1, 2] {
            let change = NetworkChange { at: Time::from_seconds(second), node: removed, what: NodeChange::Removed };
            let run = played(&network, &NetworkOptions { changes: vec![change], ..NetworkOptions::default() });
            assert_eq!((run.unfinished(), run.stalled), (0, false), "node {removed} removed at {second}");
            assert!(run.removed[2] && run.removed[1] == (removed == 1));
        }
    }
}

#[test]
fn a_leaf_unreachable_in_time_is_reported() {
    let nodes = [node(None, 1.0, 1.0), node(Some(0), 1.0, 1e-6), node(Some(0), 1.0, 1e-300)];
    let network = Network::new(&nodes, vec![kind(0, 1.0, 1.0, 10)]).unwrap();
    let options = NetworkOptions { until: EndCondition::At(Time::from_seconds(100)), ..NetworkOptions::default() };
    let run = played(&network, &options);
    assert_eq!(run.unreached(&network), [1, 2]);
    assert_eq!((run.end, run.stalled), (Time::from_seconds(100), false));
    assert!(run.measured(&[1.0], 0.1).is_none_or(|measured| measured.fair.is_finite()));
    // The end of this hop is too late to represent. The run must end nevertheless, even without an end time.
    let only = [NetworkNode { processors: 0, ..nodes[0] }, node(Some(0), 1.0, 1e-300)];
    let network = Network::new(&only, vec![kind(0, 1.0, 1.0, 10)]).unwrap();
    let run = played(&network, &NetworkOptions::default());
    assert_eq!((run.stalled, run.unfinished(), run.measured(&[1.0], 0.1)), (true, 10, None));
}

#[test]
fn nodes_hear_of_changes() {
    struct Hears(Vec<NodeEvent>, Whim);
    impl NodePolicy for Hears {
        fn hear(&mut self, event: NodeEvent, _view: &NodeView<'_>) {
            if !matches!(event, NodeEvent::Received { .. } | NodeEvent::Requested { .. }) {
                self.0.push(event);
            }
        }
        fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
            self.1.decide(view)
        }
    }
    let network = chain();
    let at = |node, what| NetworkChange { at: Time::from_seconds(3), node, what };
    let changes = vec![at(2, NodeChange::Bandwidth(3.0)), at(1, NodeChange::Speed(3.0)), at(2, NodeChange::Removed)];
    let mut policies: Vec<Hears> = whims(&network, 1).into_iter().map(|whim| Hears(Vec::new(), whim)).collect();
    simulate(&network, &mut policies, &NetworkOptions { changes, ..NetworkOptions::default() }, &mut Silent).unwrap();
    let mut heard = policies[1].0.clone();
    heard.retain(|event| !matches!(event, NodeEvent::Returned { .. }));
    let expected =
        [NodeEvent::BandwidthChanged { child: 0 }, NodeEvent::SpeedChanged, NodeEvent::ChildRemoved { child: 0 }];
    assert_eq!(heard, expected);
}

/// A policy that makes no decision before this instant.
struct Late(Time);

impl NodePolicy for Late {
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let begins = (view.now < self.0).then_some(NodeDecision::Wait { until: self.0 });
        begins.or_else(|| view.can_compute(0).then_some(NodeDecision::Compute { kind: 0 }))
    }
}

/// A policy that always decides to wait until the current instant. If the simulation waited only until then, it would
/// never end.
struct Now;

impl NodePolicy for Now {
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        Some(NodeDecision::Wait { until: view.now })
    }
}

#[test]
fn a_policy_that_waits_is_asked_again() {
    let network = Network::new(&[node(None, 1.0, 1.0)], vec![kind(0, 1.0, 1.0, 3)]).unwrap();
    let run = simulate(&network, &mut [Late(Time::from_seconds(7))], &NetworkOptions::default(), &mut Silent).unwrap();
    assert_eq!((run.end, run.stalled), (Time::from_seconds(10), false));
    let refused = simulate(&network, &mut [Now], &NetworkOptions::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused, SimulationDefect::Decision { node: 0, .. }), "{refused}");
}

#[test]
fn bad_input_has_clear_errors() {
    let network = chain();
    let with = |node, what| {
        let change = NetworkChange { at: Time::ZERO, node, what };
        let options = NetworkOptions { changes: vec![change], ..NetworkOptions::default() };
        simulate(&network, &mut whims(&network, 1), &options, &mut Silent).unwrap_err()
    };
    assert_eq!(with(3, NodeChange::Removed), ChangeError::UnknownNode(0).into());
    assert_eq!(with(0, NodeChange::Removed), ChangeError::Root(0).into());
    assert_eq!(with(1, NodeChange::Speed(0.0)), ChangeError::Rate(0).into());
    let none = NetworkOptions { buffer: 0, ..NetworkOptions::default() };
    let refused = simulate(&network, &mut whims(&network, 1), &none, &mut Silent);
    assert_eq!(refused.unwrap_err(), SimulationDefect::NoBuffer);
    let one = vec![kind(0, 1.0, 1.0, 1)];
    let new = |nodes: &[NetworkNode], kinds| Network::new(nodes, kinds).unwrap_err();
    assert_eq!(new(&[], one.clone()), NetworkError::Roots(0));
    assert_eq!(new(&[node(None, 1.0, 1.0); 2], one.clone()), NetworkError::Roots(2));
    let circle = [node(None, 1.0, 1.0), node(Some(2), 1.0, 1.0), node(Some(1), 1.0, 1.0)];
    assert_eq!(new(&circle, one.clone()), NetworkError::Detached(1));
    assert!(matches!(new(&[node(None, 1.0, 1.0), node(Some(0), 1.0, 0.0)], one.clone()), NetworkError::Node { .. }));
    assert!(matches!(new(&[node(None, 0.0, 1.0)], one), NetworkError::Node { node: 0, what: "speed" }));
    assert_eq!(new(&[node(None, 1.0, 1.0)], vec![]), NetworkError::NoKinds);
    let free = Kind { weight: 0.0, ..kind(0, 1.0, 1.0, 1) };
    assert!(matches!(new(&[node(None, 1.0, 1.0)], vec![free]), NetworkError::Kind { kind: 0, .. }));
}
