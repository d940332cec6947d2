//! Simulation of bags of tasks on trees of machines, measured in hops per second.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use makespan_algos::policy::tree::Heuristic;
use makespan_core::Time;
use makespan_core::network::{Kind, Network, NetworkNode};
use makespan_sim::network::{NetworkOptions, NetworkRun, Silent, simulate};

/// Returns a tree in which every node has up to `degree` children, and three applications. The speeds and bandwidths of
/// nodes differ by a factor of at most eight.
fn network(nodes: usize, degree: usize, tasks: u32) -> Network {
    let mut state = 1_u64;
    let mut drawn = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        1.0 + 7.0 * (state >> 40) as f64 / (1_u64 << 24) as f64
    };
    let node = |at: usize| NetworkNode {
        parent: (at > 0).then(|| (at - 1) / degree),
        processors: 1,
        speed: drawn(),
        bandwidth: 100.0 * nodes as f64 * drawn(),
        latency: Time::ZERO,
    };
    let tree: Vec<NetworkNode> = (0..nodes).map(node).collect();
    let kinds = [(1.0, 4.0), (4.0, 4.0), (4.0, 1.0)].into_iter().enumerate().map(|(at, (data, work))| Kind {
        data,
        work,
        weight: 1.0,
        count: tasks,
        tasks: vec![(at, 1)],
    });
    Network::new(&tree, kinds.collect()).expect("the figures are positive")
}

fn play(network: &Network, heuristic: Heuristic) -> NetworkRun {
    let mut setup = heuristic.setup(network, 10, None).expect("the heuristic needs no rates");
    let options = NetworkOptions { buffer: setup.buffer, lanes: setup.lanes, ..NetworkOptions::default() };
    simulate(&setup.network, &mut setup.policies, &options, &mut Silent).expect("the policy keeps the rules")
}

fn trees(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("trees");
    group.sample_size(10);
    for (nodes, tasks) in [(100, 20_000), (1_000, 20_000), (100_000, 500_000)] {
        let network = network(nodes, 3, tasks);
        for heuristic in [Heuristic::BackPressure, Heuristic::Cgbc, Heuristic::Fcfs] {
            if nodes == 100_000 && heuristic != Heuristic::BackPressure {
                continue;
            }
            group.throughput(Throughput::Elements(play(&network, heuristic).hops));
            group.bench_function(format!("{heuristic}/{nodes}"), |bencher| {
                bencher.iter(|| play(&network, heuristic).hops);
            });
        }
    }
    group.finish();
}

criterion_group!(benches, trees);
criterion_main!(benches);
