//! Speed of the insertion of tasks if every resource is one pool. An element is one placed task. Tasks are inserted
//! forward, backward by decreasing ends, and event by event. Two instances have 30 and 120 tasks on four resources.
//! Their times are whole seconds, so free amounts are stored in slots. The third instance has 1,000 moldable tasks on
//! 256 processors. Its times have no common unit, so free amounts are stored as steps.

use std::cmp::Reverse;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use makespan_algos::kernel::cumulative::{CumulativeProblem, ParallelScheme, SerialScheme};
use makespan_algos::kernel::packing::Packing;
use makespan_core::{Edge, Graph, Instance, Job, NamedTask, Need, Needs, Payload, Platform, Profile, Resources, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns edges in which each task waits for up to two of the preceding fifteen tasks.
fn edges(tasks: u32, random: &mut ChaCha8Rng) -> Vec<Edge> {
    let mut edges = Vec::new();
    for to in 5..tasks {
        let mut before: Vec<u32> = (0..2).map(|_| random.random_range(to.saturating_sub(15)..to)).collect();
        before.sort_unstable();
        before.dedup();
        edges.extend(before.into_iter().map(|from| Edge { from, to, payload: Payload::Bytes(0) }));
    }
    edges
}

/// Returns a project in which each task takes 1 to 10 s and needs two of four resources.
fn project(tasks: u32) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let edges = edges(tasks, &mut random);
    let names = ["r1", "r2", "r3", "r4"];
    let mut task = |index: u32| {
        let time = Time::from_seconds(random.random_range(1..=10));
        let mut task = NamedTask::new(index.to_string(), Profile::rigid(1, time).expect("a positive time"));
        let first = random.random_range(0..4);
        let needs = [first, (first + random.random_range(1..4)) % 4];
        let needs = needs.map(|at| (names[at], Need::whole(random.random_range(1..=10))));
        task.task.needs = Needs::new(needs).expect("two names");
        task
    };
    let graph = Graph::new((0..tasks).map(&mut task).collect(), edges).expect("no cycle");
    let licences = Resources::new(names.map(|name| (name, 20))).expect("four names");
    let platform = Platform::flat(tasks).and_then(|platform| platform.with_licences(licences)).expect("a platform");
    Instance::new(platform, vec![Job::compound("project", graph)], Vec::new()).expect("a valid instance")
}

/// Returns a graph of tasks that run on 1 to 64 of 256 processors.
fn moldable(tasks: u32) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let edges = edges(tasks, &mut random);
    let task = |index: u32| {
        let time = Time::from_ticks(random.random_range(1_000_000_000..100_000_000_000));
        let processors = random.random_range(1..=64);
        NamedTask::new(index.to_string(), Profile::rigid(processors, time).expect("a positive time"))
    };
    let graph = Graph::new((0..tasks).map(task).collect(), edges).expect("no cycle");
    let platform = Platform::flat(256).expect("a platform");
    Instance::new(platform, vec![Job::compound("graph", graph)], Vec::new()).expect("a valid instance")
}

fn insertions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("insertions");
    group.sample_size(20);
    let instances = [
        ("30 tasks in slots", project(30)),
        ("120 tasks in slots", project(120)),
        ("1000 tasks in steps", moldable(1000)),
    ];
    for (name, instance) in instances {
        let packing = Packing::new(&instance).expect("there is room for each task");
        let problem = CumulativeProblem::new(&packing).expect("every resource is one pool");
        let order: Vec<u32> = problem.order().iter().flat_map(|&row| problem.tasks_of(row)).collect();
        let modes: Vec<u32> = problem.rows().map(|row| problem.modes_of(row).start).collect();
        group.throughput(Throughput::Elements(order.len() as u64));
        let mut serial = SerialScheme::new(&problem);
        group.bench_function(format!("{name}, forward"), |bencher| {
            bencher.iter(|| serial.forward(&order, &modes, |_, _| true));
        });
        let last = serial.ends().iter().copied().max().unwrap_or(0);
        let mut by_end = order.clone();
        by_end.sort_by_key(|&task| Reverse(serial.ends()[task as usize]));
        let latest = vec![last; problem.rows().len()];
        group.bench_function(format!("{name}, backward"), |bencher| {
            bencher.iter(|| serial.backward(&by_end, &modes, &latest));
        });
        let mut parallel = ParallelScheme::new(&problem);
        group.bench_function(format!("{name}, event by event"), |bencher| {
            bencher.iter(|| parallel.forward(&order, &modes, |_, _| true));
        });
    }
    group.finish();
}

criterion_group!(benches, insertions);
criterion_main!(benches);
