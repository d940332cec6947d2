use std::collections::VecDeque;

use makespan_core::Time;
use makespan_core::network::{Kind, Network, NetworkNode, NodeDecision, NodeEvent, NodePolicy, NodeView};
use makespan_sim::network::{EndCondition, NetworkChange, NetworkOptions, NetworkRun, NodeChange, Silent, simulate};
use proptest::prelude::*;

use super::*;

mod bound;

fn node(parent: Option<usize>, speed: f64, bandwidth: f64) -> NetworkNode {
    NetworkNode { parent, processors: 1, speed, bandwidth, latency: Time::ZERO }
}

fn network(nodes: &[NetworkNode], kinds: &[(f64, f64, f64, u32)]) -> Network {
    let kind = |(at, &(data, work, weight, count)): (usize, &(f64, f64, f64, u32))| Kind {
        data,
        work,
        weight,
        count,
        tasks: vec![(at, 1)],
    };
    Network::new(nodes, kinds.iter().enumerate().map(kind).collect()).unwrap()
}

fn play(heuristic: Heuristic, network: &Network, options: &NetworkOptions) -> NetworkRun {
    let bandwidth: Vec<f64> = network.nodes().iter().map(|node| node.bandwidth).collect();
    let speed: Vec<f64> = network.nodes().iter().map(|node| node.speed).collect();
    let rates = data_centric_rates(network, &bandwidth, &speed, 1000);
    let mut setup = heuristic.setup(network, options.buffer, Some(&rates)).unwrap();
    let options = NetworkOptions { buffer: setup.buffer, lanes: setup.lanes, ..options.clone() };
    simulate(&setup.network, &mut setup.policies, &options, &mut Silent).unwrap()
}

fn networks() -> impl Strategy<Value = Network> {
    let one = (any::<prop::sample::Index>(), 0_u32..3, 0.1..10.0_f64, 0.1..10.0_f64, prop_oneof![Just(0), 0_i64..5]);
    let nodes = prop::collection::vec(one, 1..15);
    let kinds = prop::collection::vec((0.0..5.0_f64, 0.1..5.0_f64, 1_u32..4, 0_u32..40), 1..4);
    (nodes, kinds).prop_map(|(nodes, kinds)| {
        let tree: Vec<NetworkNode> = nodes
            .iter()
            .enumerate()
            .map(|(at, &(parent, processors, speed, bandwidth, latency))| NetworkNode {
                processors: if at == 0 { 1 } else { processors },
                latency: Time::from_ticks(latency * 250_000_000),
                ..node((at > 0).then(|| parent.index(at)), speed, bandwidth)
            })
            .collect();
        let kinds: Vec<_> =
            kinds.iter().map(|&(data, work, weight, count)| (data, work, weight.into(), count)).collect();
        network(&tree, &kinds)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Checks that every heuristic finishes all tasks, even if a link is slowed to a hundredth and a node leaves.
    /// Checks that a second run gives the same result.
    #[test]
    fn every_heuristic_finishes(network in networks(), at in 0_i64..20, which in any::<prop::sample::Index>()) {
        let nodes = network.nodes().len();
        let node = which.index(nodes);
        let at = Time::from_seconds(at);
        let mut changes = vec![NetworkChange { at, node, what: NodeChange::Speed(0.05) }];
        if node > 0 {
            changes.push(NetworkChange { at, node, what: NodeChange::Bandwidth(network.nodes()[node].bandwidth / 100.0) });
            let at = at + Time::from_seconds(3);
            changes.push(NetworkChange { at, node: nodes - 1, what: NodeChange::Removed });
        }
        for heuristic in Heuristic::ALL {
            for changes in [Vec::new(), changes.clone()] {
                let options = NetworkOptions { changes, buffer: 9, ..NetworkOptions::default() };
                let run = play(heuristic, &network, &options);
                prop_assert_eq!((run.unfinished(), run.stalled), (0, false), "{}", heuristic);
                let setup = heuristic.setup(&network, 9, Some(&NodeRates::from_compute(&network, vec![0.0; nodes * network.kinds().len()])));
                let largest = setup.unwrap().network.kinds().iter().map(Kind::size).max().unwrap_or(1);
                prop_assert!(run.peak.iter().all(|peak| peak * largest <= 9), "{heuristic} holds {:?} of {largest}", run.peak);
                prop_assert_eq!(&run, &play(heuristic, &network, &options));
            }
        }
    }

    /// Checks that the rates of DATA-CENTRIC do not exceed the capacity of any processor or port.
    #[test]
    fn traded_rates_are_feasible(network in networks()) {
        let bandwidth: Vec<f64> = network.nodes().iter().map(|node| node.bandwidth).collect();
        let speed: Vec<f64> = network.nodes().iter().map(|node| node.speed).collect();
        let rates = data_centric_rates(&network, &bandwidth, &speed, 500);
        let kinds = network.kinds().len();
        prop_assert!(rates.compute.iter().chain(&rates.sent).all(|rate| *rate >= 0.0 && rate.is_finite()));
        for (at, node) in network.nodes().iter().enumerate() {
            let work: f64 = (0..kinds).map(|kind| rates.compute[at * kinds + kind] * network.kinds()[kind].work).sum();
            prop_assert!(work <= f64::from(node.processors) * node.speed * (1.0 + 1e-9));
            let port: f64 = network.children(at).map(|child| {
                let node = &network.nodes()[child];
                let hop = |kind: &Kind| node.latency.seconds() + kind.data / node.bandwidth;
                (0..kinds).map(|kind| rates.sent[child * kinds + kind] * hop(&network.kinds()[kind])).sum::<f64>()
            }).sum();
            prop_assert!(port <= 1.0 + 1e-9);
        }
    }
}

/// A star on which bandwidth-centric scheduling is optimal. The port feeds the first child completely, and the second
/// child in part.
#[test]
fn bandwidth_centric_is_near_the_optimum_for_one_application() {
    let nodes = [node(None, 1.0, 1.0), node(Some(0), 1.0, 4.0), node(Some(0), 3.0, 2.0), node(Some(0), 5.0, 1.0)];
    // In each second, the root does 1 unit of work. A quarter of the port's time gives the first child 1 unit, and
    // three quarters give the second child 1.5 units.
    let network = network(&nodes, &[(1.0, 1.0, 1.0, 2000)]);
    for heuristic in [Heuristic::Cgbc, Heuristic::Pbc, Heuristic::BackPressure, Heuristic::DataCentric { waves: 100 }] {
        let run = play(heuristic, &network, &NetworkOptions::default());
        let fair = run.measured(&[1.0], 0.1).unwrap().fair;
        assert!((3.4..3.505).contains(&fair), "{heuristic}: {fair}");
    }
}

#[test]
fn throughput_is_in_proportion_to_weights() {
    let nodes = [node(None, 1.0, 1.0), node(Some(0), 2.0, 4.0), node(Some(1), 3.0, 2.0), node(Some(0), 5.0, 1.0)];
    let network = network(&nodes, &[(1.0, 1.0, 3.0, 3000), (2.0, 0.5, 1.0, 1000)]);
    for heuristic in [Heuristic::BackPressure, Heuristic::Cgbc, Heuristic::Fcfs] {
        let options = NetworkOptions { until: EndCondition::FirstApplication, ..NetworkOptions::default() };
        let run = play(heuristic, &network, &options);
        let throughput = run.measured(&[3.0, 1.0], 0.1).unwrap().throughput;
        let ratio = throughput[0] / throughput[1];
        assert!((2.9..3.1).contains(&ratio), "{heuristic}: {ratio}");
    }
}

/// Checks that the last tasks of an application do not wait for the end of the other application, which has longer
/// queues.
#[test]
fn the_last_tasks_of_an_application_are_not_left_behind() {
    let nodes = [
        node(None, 10.0, 1.0),
        NetworkNode { processors: 2, ..node(Some(0), 20.0, 100.0) },
        NetworkNode { processors: 0, ..node(Some(0), 1.0, 60.0) },
        NetworkNode { processors: 4, ..node(Some(2), 15.0, 50.0) },
        node(Some(2), 40.0, 30.0),
    ];
    let network = network(&nodes, &[(20.0, 30.0, 1.0, 4000), (40.0, 10.0, 2.0, 3000)]);
    let run = play(Heuristic::BackPressure, &network, &NetworkOptions::default());
    let given = |application: usize| run.done(application).unwrap().seconds();
    // The second application has twice the weight and three quarters of the tasks. So the second application ends when
    // 1500 tasks of the first application are done.
    assert!((0.6..0.7).contains(&(given(1) / given(0))), "{} and {}", given(1), given(0));
}

/// Checks that the port waits and does not make a hop that lasts longer than the buffer of the other child. Such a hop
/// costs more work than its task contains.
#[test]
fn a_long_hop_does_not_starve_a_fast_child() {
    let switch = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
    let nodes = [switch, node(Some(0), 5.0, 0.01), node(Some(0), 5.0, 20.0)];
    let network = network(&nodes, &[(1.0, 1.0, 1.0, 5000), (1.0, 2.0, 1.0, 5000)]);
    let run = play(Heuristic::BackPressure, &network, &NetworkOptions::default());
    // The fast child alone does 15000 units of work in 3000 s. A hop to the slow child takes 100 s.
    assert!(run.end.seconds() < 3200.0, "{} with {:?}", run.end, run.received);
    // After the fast child has stopped, the slow child gets tasks again.
    let still = NetworkChange { at: Time::from_seconds(100), node: 2, what: NodeChange::Speed(1e-6) };
    let options = NetworkOptions {
        changes: vec![still],
        until: EndCondition::At(Time::from_seconds(20_000)),
        ..Default::default()
    };
    let run = play(Heuristic::BackPressure, &network, &options);
    assert!(run.received[2] + run.received[3] > 100, "{:?}", run.received);
}

/// The time of a hop includes the latency. Small tasks are not sent to a node if the latency of each task blocks the
/// port for long.
#[test]
fn latency_is_part_of_a_hop() {
    let far = NetworkNode { latency: Time::from_seconds(2), ..node(Some(0), 3.0, 500.0) };
    let nodes = [NetworkNode { processors: 0, ..node(None, 1.0, 1.0) }, far, node(Some(0), 3.0, 300.0)];
    let network = network(&nodes, &[(10.0, 5.0, 1.0, 2000), (300.0, 5.0, 1.0, 2000)]);
    let run = play(Heuristic::BackPressure, &network, &NetworkOptions::default());
    // The port can feed the near child completely. In the remaining time, the port can feed the far child with 1 task
    // every 2 s.
    assert!(run.end.seconds() < 4800.0, "{} with {:?}", run.end, run.received);
}

/// Watches the [`Fcfs`] policy of one node. No request may wait for a younger request that could be served instead.
struct Watched {
    policy: Fcfs,
    /// The instant at which each idle processor became idle.
    idle: VecDeque<Time>,
    asked: VecDeque<(usize, Time)>,
}

impl NodePolicy for Watched {
    fn hear(&mut self, event: NodeEvent, view: &NodeView<'_>) {
        if let NodeEvent::Requested { child, .. } = event {
            self.asked.push_back((child, view.now));
        }
        self.policy.hear(event, view);
    }

    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        while self.idle.len() < view.idle[0] as usize {
            self.idle.push_back(view.now);
        }
        let decision = self.policy.decide(view)?;
        match decision {
            NodeDecision::Compute { kind } => {
                let own = self.idle.pop_front().expect("an idle processor");
                let passed = self.asked.front().filter(|&&(child, _)| view.can_send(child, kind));
                assert!(passed.is_none_or(|&(_, asked)| own <= asked), "own since {own} before {passed:?}");
            }
            NodeDecision::Send { child, .. } => {
                let (first, asked) = self.asked.pop_front().expect("a request");
                assert_eq!(first, child);
                assert!(self.idle.front().is_none_or(|&own| asked <= own), "{child} since {asked} before the node");
            }
            NodeDecision::Wait { .. } => unreachable!("it never waits"),
        }
        Some(decision)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Checks that older requests are served first. A processor that becomes idle is also treated as a request.
    #[test]
    fn fcfs_serves_no_younger_request_first(network in networks(), buffer in 1_u32..5) {
        let policy = |node| Watched {
            policy: Fcfs::new(network.kinds(), node == 0),
            idle: VecDeque::default(),
            asked: VecDeque::default(),
        };
        let mut policies: Vec<Watched> = (0..network.nodes().len()).map(policy).collect();
        let options = NetworkOptions { buffer, ..NetworkOptions::default() };
        let run = simulate(&network, &mut policies, &options, &mut Silent).unwrap();
        prop_assert_eq!((run.unfinished(), run.stalled), (0, false));
    }
}

/// A buffer must hold a whole macro-task. Such a buffer holds no more tasks than a buffer of any other policy.
#[test]
fn macro_tasks_that_do_not_fit_into_a_buffer_are_refused() {
    let network =
        network(&[node(None, 1.0, 1.0), node(Some(0), 1.0, 9.0)], &[(1.0, 1.0, 200.0, 900), (1.0, 1.0, 1.0, 9)]);
    let refused = Heuristic::Cgbc.setup(&network, 10, None).unwrap_err();
    assert_eq!(refused, SetupError::Buffer { tasks: 201, buffer: 10 });
    assert!(refused.to_string().contains("--buffer to 201"));
    assert_eq!(Heuristic::Cgbc.setup(&network, 403, None).unwrap().buffer, 2);
}

/// Requests are served in their order, although the second child is faster.
#[test]
fn first_come_is_first_served() {
    let nodes =
        [NetworkNode { processors: 0, ..node(None, 1.0, 1.0) }, node(Some(0), 1.0, 1.0), node(Some(0), 1.0, 9.0)];
    let network = network(&nodes, &[(1.0, 1.0, 1.0, 3)]);
    let run = play(Heuristic::Fcfs, &network, &NetworkOptions { buffer: 2, ..NetworkOptions::default() });
    assert_eq!(run.received, [0, 2, 1]);
}

/// The traded rates follow a change. Afterwards, the slowed link gets nearly no tasks.
#[test]
fn data_centric_trades_again_when_a_link_is_cut() {
    let nodes = [node(None, 1.0, 1.0), node(Some(0), 5.0, 5.0), node(Some(0), 5.0, 4.0)];
    let network = network(&nodes, &[(1.0, 1.0, 1.0, 2000)]);
    let cut = NetworkChange { at: Time::from_seconds(20), node: 1, what: NodeChange::Bandwidth(0.05) };
    let played =
        |heuristic| play(heuristic, &network, &NetworkOptions { changes: vec![cut], ..NetworkOptions::default() });
    let (adapts, keeps) = (played(Heuristic::DataCentric { waves: 100 }), played(Heuristic::Lp));
    assert!(adapts.received[1] < 150, "{:?}", adapts.received);
    assert!(adapts.end.seconds() < 0.5 * keeps.end.seconds(), "{} and {}", adapts.end, keeps.end);
}

#[test]
fn specs_name_heuristics() {
    for heuristic in Heuristic::ALL {
        assert_eq!(heuristic.to_string().parse(), Ok(heuristic));
    }
    assert_eq!("data-centric[waves=7]".parse(), Ok(Heuristic::DataCentric { waves: 7 }));
    let error = |text: &str| text.parse::<Heuristic>().unwrap_err().to_string();
    assert_eq!(error("backpressure"), "unknown policy for trees `backpressure`; did you mean `back-pressure`?");
    assert_eq!(error("lp[waves=3]"), "unknown parameter `waves`; this entry has no parameters");
    assert_eq!(heuristics().iter().map(|entry| entry.name).collect::<Vec<_>>(), Heuristic::ALL.map(Heuristic::name));
}

#[test]
fn rates_of_another_network_are_refused() {
    let network = network(&[node(None, 1.0, 1.0)], &[(1.0, 1.0, 1.0, 1)]);
    assert_eq!(Heuristic::Lp.setup(&network, 10, None).unwrap_err(), SetupError::NoRates);
    let rates = NodeRates { compute: vec![], sent: vec![] };
    let refused = Heuristic::Lp.setup(&network, 10, Some(&rates)).unwrap_err();
    assert_eq!(refused, SetupError::OtherRates { found: 0, expected: 1 });
}
