//! Measures the time to compute the optimal steady state of a tree: in floats for 10,000 nodes and 4 applications
//! (target: 10 s), and exactly for 1,000 nodes (target: 5 s). Each case has two sets of bandwidths: the bandwidths of
//! the paper, and bandwidths a thousand times as large, with which nearly all nodes compute.

use std::hint::black_box;
use std::num::NonZeroU64;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_bounds::tree::{Precision, throughput};
use makespan_core::tree::TreeProblem;
use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Builds a tree as in section 5.1.2 of Beaumont et al. (IPDPS 2006): each node in turn has 1 to 5 children. Speeds are
/// uniform in Mflop/s. Bandwidths are log-uniform in bytes per second, multiplied by `factor`. Applications have evenly
/// spaced ratios.
fn problem(nodes: usize, applications: usize, factor: f64) -> TreeProblem {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut parents, mut at) = (vec![None], 0);
    while parents.len() < nodes {
        let children = random.random_range(1..=5).min(nodes - parents.len());
        parents.extend(std::iter::repeat_n(Some(at), children));
        at += 1;
    }
    let node = |(at, parent): (usize, Option<usize>)| {
        let bandwidth = factor * 110e3 * (7e6_f64 / 110e3).powf(random.random_range(0.0..1.0));
        let link = parent.map(|_| Link { bandwidth: bandwidth.round(), latency: Time::ZERO });
        Node { speed: random.random_range(22.151..171.667), parent, link, ..Node::new(at.to_string(), 1) }
    };
    let nodes = parents.into_iter().enumerate().map(node).collect();
    let job = |at: usize| {
        let ratio = 0.001 + (0.25 - 0.001) * at as f64 / (applications - 1) as f64;
        let work = Time::from_seconds_f64(1.0 / ratio).expect("a short time");
        let job = Job::new(at.to_string(), Profile::rigid(1, work).expect("a positive time"));
        job.with_count(NonZeroU64::MIN).with_data(1_000_000)
    };
    let platform = Platform::new(nodes).expect("a tree");
    let instance = Instance::new(platform, (0..applications).map(job).collect(), Vec::new()).expect("a valid instance");
    TreeProblem::new(&instance).expect("bags on a tree")
}

fn trees(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("trees");
    group.sample_size(10);
    for factor in [1.0, 1000.0] {
        let exact = &problem(1_000, 4, factor);
        group.bench_function(format!("exact, 1,000 nodes, bandwidths x {factor}"), |bencher| {
            bencher.iter(|| throughput(black_box(exact), Precision::Exact));
        });
        let floats = &problem(10_000, 4, factor);
        group.bench_function(format!("floats, 10,000 nodes, bandwidths x {factor}"), |bencher| {
            bencher.iter(|| throughput(black_box(floats), Precision::Float));
        });
    }
    group.finish();
}

criterion_group!(benches, trees);
criterion_main!(benches);
