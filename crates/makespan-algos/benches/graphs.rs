//! Time that the critical jobs method takes. The target is that the chains of 1,000 tasks are ranked in 50 ms.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_algos::Context;
use makespan_algos::kernel::chains::ranking::{Chart, Cover};
use makespan_algos::kernel::graph::GraphProblem;
use makespan_algos::scheduler;
use makespan_core::{Edge, Graph, Instance, Job, JobId, Link, NamedTask, Node, Payload, Platform, Profile, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns layers of up to 8 tasks of 10 to 100 s. Each task waits for one task of the preceding layer, and for each
/// other task of the preceding layer with probability 0.3. Each edge carries 1 to 20 MB. There are 8 processors of
/// speed 1 to 3 with 1 MB/s between them.
fn layered(tasks: usize) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let node = |index: usize| Node { speed: 1.0 + index as f64 / 4.0, ..Node::new(format!("n{index}"), 1) };
    let platform = Platform::new((0..8).map(node).collect()).expect("eight nodes");
    let link = Link { bandwidth: 1e6, latency: Time::ZERO };
    let platform = platform.with_interconnect(link).expect("a bandwidth");
    let (mut edges, mut before, mut count) = (Vec::new(), 0..0, 0);
    while count < tasks {
        let layer = count..(count + random.random_range(1..=8)).min(tasks);
        for to in layer.clone().filter(|_| !before.is_empty()) {
            let first = random.random_range(before.clone());
            for from in before.clone() {
                if from == first || random.random::<f64>() < 0.3 {
                    let payload = Payload::Bytes(random.random_range(1_000_000..20_000_000));
                    edges.push(Edge { from: from as u32, to: to as u32, payload });
                }
            }
        }
        (count, before) = (layer.end, layer);
    }
    let task = |index: usize| {
        let time = Time::from_ticks(random.random_range(10_000..100_000) * 1_000_000);
        NamedTask::new(format!("t{index}"), Profile::rigid(1, time).expect("a time"))
    };
    let graph = Graph::new((0..tasks).map(task).collect(), edges).expect("layers have no cycle");
    Instance::new(platform, vec![Job::compound("j", graph)], vec![]).expect("a valid instance")
}

fn critical_jobs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("critical jobs");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for tasks in [1000, 10_000] {
        let instance = layered(tasks);
        let chart = Chart::of(&instance, &GraphProblem::new(&instance), JobId(0));
        for (name, cover) in [("covering", Cover::Covering), ("disjoint", Cover::Disjoint)] {
            if cover == Cover::Covering || tasks <= 1000 {
                group.bench_function(format!("ranking, {name}, n={tasks}"), |bencher| {
                    bencher.iter(|| black_box(chart.chains(cover)).len());
                });
            }
        }
    }
    for tasks in [50, 200] {
        let instance = layered(tasks);
        for spec in ["critical-jobs", "critical-jobs[start=empty]", "critical-jobs[start=empty,cpus=types]"] {
            let scheduler = scheduler(spec).expect("a known spec");
            group.bench_function(format!("{spec}, n={tasks}"), |bencher| {
                bencher.iter(|| black_box(scheduler.schedule(&instance, &mut Context::with_seed(1))).is_ok());
            });
        }
    }
    group.finish();
}

criterion_group!(benches, critical_jobs);
criterion_main!(benches);
