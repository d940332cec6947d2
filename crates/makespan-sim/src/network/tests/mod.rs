mod audit;
mod awkward;

use makespan_core::Time;
use makespan_core::network::{Kind, Network, NetworkNode, NodeDecision, NodePolicy, NodeView};
use proptest::prelude::*;

use self::audit::Audit;
use super::*;

/// A policy that makes random valid decisions, which the bits of a number determine.
#[derive(Clone)]
pub(super) struct Whim(pub(super) u64);

impl NodePolicy for Whim {
    fn decide(&mut self, view: &NodeView<'_>) -> Option<NodeDecision> {
        let mut possible = Vec::new();
        for kind in 0..view.kinds.len() {
            if view.can_compute(kind) {
                possible.push(NodeDecision::Compute { kind });
            }
            let children = (0..view.degree()).filter(|&child| view.can_send(child, kind));
            possible.extend(children.map(|child| NodeDecision::Send { child, kind }));
        }
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (!possible.is_empty()).then(|| possible[(self.0 >> 33) as usize % possible.len()])
    }
}

pub(super) fn whims(network: &Network, seed: u64) -> Vec<Whim> {
    (0..network.nodes().len() as u64).map(|node| Whim(seed ^ node.wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect()
}

pub(super) fn node(parent: Option<usize>, speed: f64, bandwidth: f64) -> NetworkNode {
    NetworkNode { parent, processors: 1, speed, bandwidth, latency: Time::ZERO }
}

pub(super) fn kind(application: usize, data: f64, work: f64, count: u32) -> Kind {
    Kind { data, work, weight: 1.0, count, tasks: vec![(application, 1)] }
}

fn networks() -> impl Strategy<Value = Network> {
    let node = (any::<prop::sample::Index>(), 0_u32..3, 0.1..10.0_f64, 0.1..10.0_f64, 0_i64..3);
    let kinds = proptest::collection::vec((0.0..5.0_f64, 0.1..5.0_f64, 0_u32..20), 1..4);
    (proptest::collection::vec(node, 1..12), kinds).prop_map(|(nodes, kinds)| {
        let mut tree: Vec<NetworkNode> = Vec::new();
        for (at, (parent, processors, speed, bandwidth, latency)) in nodes.into_iter().enumerate() {
            let parent = (at > 0).then(|| parent.index(at));
            let processors = if at == 0 { processors.max(1) } else { processors };
            let latency = Time::from_ticks(latency * 300_000_000);
            tree.push(NetworkNode { parent, processors, speed, bandwidth, latency });
        }
        let kinds = kinds.into_iter().enumerate().map(|(at, (data, work, count))| kind(at, data, work, count));
        Network::new(&tree, kinds.collect()).unwrap()
    })
}

fn options() -> impl Strategy<Value = NetworkOptions> {
    let change = (0_i64..60, any::<prop::sample::Index>(), 0..4_u8);
    let changes = proptest::collection::vec(change, 0..4);
    (1_u32..5, any::<bool>(), 1_u32..3, any::<bool>(), changes).prop_map(|(buffer, lanes, sends, slow, changes)| {
        let change = |(at, node, what): (i64, prop::sample::Index, u8)| NetworkChange {
            at: Time::from_seconds(at),
            node: 1 + node.index(11),
            what: match what {
                0 => NodeChange::Removed,
                1 => NodeChange::Bandwidth(0.05),
                2 => NodeChange::Bandwidth(20.0),
                _ => NodeChange::Speed(0.5),
            },
        };
        let changes = changes.into_iter().map(change).collect();
        NetworkOptions { buffer, lanes, sends, slow_requests: slow, changes, until: EndCondition::AllDone }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Whatever the nodes decide, ports, buffers and processors never exceed their capacities, and no task is lost or
    /// computed twice. A repetition of the run gives an equal result.
    #[test]
    fn rules_hold_whatever_is_decided(network in networks(), options in options(), seed in any::<u64>()) {
        let mut options = options;
        options.changes.retain(|change| change.node < network.nodes().len());
        let mut audit = Audit::new(&network, &options);
        let run = simulate(&network, &mut whims(&network, seed), &options, &mut audit).unwrap();
        audit.check();
        // All tasks have been computed, because the root can compute every task. If no node below a switch can compute,
        // the switch requests no tasks, so no task is stuck at this switch.
        prop_assert_eq!((run.stalled, run.unfinished(), audit.left()), (false, 0, 0));
        prop_assert!(run.peak.iter().all(|&peak| peak <= options.buffer));
        let again = simulate(&network, &mut whims(&network, seed), &options, &mut Silent).unwrap();
        prop_assert_eq!(run, again);
    }
}

#[test]
fn a_hop_takes_latency_and_data_over_bandwidth_and_is_stored_before_it_goes_on() {
    let far = NetworkNode { latency: Time::from_ticks(250_000_000), ..node(Some(1), 2.0, 8.0) };
    let switch = NetworkNode { processors: 0, ..node(Some(0), 1.0, 4.0) };
    let root = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
    let leaf = far;
    // The root computes nothing, so it needs no processor as long as another node has one.
    let network = Network::new(&[root, switch, leaf], vec![kind(0, 4.0, 3.0, 2)]).unwrap();
    let run = simulate(&network, &mut whims(&network, 1), &NetworkOptions::default(), &mut Silent).unwrap();
    // The first task arrives at 1 + 0.25 + 0.5 s and is completed at 3.25 s. The second task is computed after the
    // first.
    let seconds: Vec<f64> = run.completions[0].iter().map(|time| time.seconds()).collect();
    assert_eq!(seconds, [3.25, 4.75]);
    assert_eq!(run.link_busy[1..].iter().map(|time| time.seconds()).collect::<Vec<_>>(), [2.0, 1.5]);
    assert_eq!((run.hops, run.stalled, run.resent), (4, false, 0));
    assert_eq!(run.unreached(&network), Vec::<usize>::new());
}

#[test]
fn threads_of_a_node_share_its_port_and_processor() {
    let root = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
    let network =
        Network::new(&[root, node(Some(0), 1.0, 1.0)], vec![kind(0, 1.0, 1.0, 1), kind(1, 1.0, 2.0, 1)]).unwrap();
    let options = NetworkOptions { lanes: true, ..NetworkOptions::default() };
    let run = simulate(&network, &mut whims(&network, 1), &options, &mut Silent).unwrap();
    // Both tasks arrive at 2 s and share the processor. The shorter task takes 2 s at half speed. When it ends, half of
    // the work of the longer task remains.
    assert_eq!((run.done(0), run.done(1)), (Some(Time::from_seconds(4)), Some(Time::from_seconds(5))));
}

#[test]
fn slow_requests_arrive_after_the_latency() {
    let root = NetworkNode { processors: 0, ..node(None, 1.0, 1.0) };
    let child = NetworkNode { latency: Time::from_seconds(1), ..node(Some(0), 1.0, 1.0) };
    let network = Network::new(&[root, child], vec![kind(0, 1.0, 1.0, 1)]).unwrap();
    let options = NetworkOptions { slow_requests: true, ..NetworkOptions::default() };
    let run = simulate(&network, &mut whims(&network, 1), &options, &mut Silent).unwrap();
    assert_eq!(run.end, Time::from_seconds(4), "a second for the request, two for the hop, one of work");
}
