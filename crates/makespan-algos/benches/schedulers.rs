//! Time that planning takes. Targets for n jobs on m processors:
//!
//! * n = 400, m = 200: DEMT with 20 shuffles in 10 ms, and `dual` in 1 ms;
//! * n = 10,000, m = 1,000: DEMT in less than 1 s;
//! * n = 100,000 with speed-up laws, m = 10,000: a list in less than 5 s and 1 GiB (see `peak`);
//! * 800 jobs on 64 nodes of 16 processors: `shelves` in 0.3 s;
//! * 10,000 tasks of a graph on 16 processors: HEFT in 50 ms.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main, measurement::WallTime};
use makespan_algos::Context;
use makespan_algos::scheduler;
use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Node, Payload, Platform, Profile, SpeedupLaw, Time, Weight,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn instance(processors: u32, jobs: usize, mut profile: impl FnMut(&mut ChaCha8Rng) -> Profile) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let job = |index: usize| {
        let weight = Weight::from_f64(random.random_range(1.0..=10.0)).expect("a small weight");
        Job::new(index.to_string(), profile(&mut random)).with_weight(weight)
    };
    let jobs = (0..jobs).map(job).collect();
    Instance::new(Platform::flat(processors).expect("some processors"), jobs, Vec::new()).expect("a valid instance")
}

fn seconds(time: f64) -> Time {
    Time::from_seconds_f64(time).expect("a short time")
}

/// Returns jobs with sequential times uniform on [1, 10] s. The time t(k) on k processors is t(k - 1) multiplied by
/// (X + k - 1) / k, with X uniform on [x, x + 0.2]. This is the recursion of the paper's families with a simpler X: x
/// near 0 gives a high speed-up, and x near 0.8 gives a low one.
fn tables(processors: u32, jobs: usize, x: f64) -> Instance {
    instance(processors, jobs, |random| {
        let mut time: f64 = random.random_range(1.0..=10.0);
        let mut times = vec![seconds(time)];
        for k in 2..=processors {
            time *= (random.random_range(x..x + 0.2) + f64::from(k - 1)) / f64::from(k);
            times.push(seconds(time));
        }
        Profile::table(times).expect("positive times")
    })
}

/// Returns the jobs of `instance` on a platform of nodes that requires best placement.
fn on_nodes(nodes: u32, each: u32, instance: &Instance) -> Instance {
    let platform = Platform::cluster(nodes, each).expect("some processors").requiring_compact();
    let jobs = instance.ids().map(|id| instance.submitted(id)).collect();
    Instance::new(platform, jobs, Vec::new()).expect("a valid instance")
}

/// Returns jobs with Downey's law, with a parallelism log-uniform on [1, processors] and sigma uniform on [0, 2]. This
/// is the job family `cirne` of `makespan-lab`.
fn laws(processors: u32, jobs: usize) -> Instance {
    instance(processors, jobs, |random| {
        let parallelism = f64::from(processors).powf(random.random_range(0.0..=1.0));
        let law = SpeedupLaw::Downey { parallelism, sigma: random.random_range(0.0..=2.0) };
        let sequential = seconds(random.random_range(10.0..=10_000.0));
        Profile::law(sequential, law, 1, processors).expect("parameters in range")
    })
}

fn bench(group: &mut BenchmarkGroup<'_, WallTime>, spec: &str, family: &str, instance: &Instance) {
    let scheduler = scheduler(spec).expect("a spec of the catalogue");
    group.bench_function(format!("{spec}, {family}"), |bencher| {
        bencher.iter(|| {
            let mut context = Context { seed: 1, ..Context::default() };
            scheduler.schedule(black_box(instance), &mut context).expect("a supported instance")
        });
    });
}

fn paper_size(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("n=400 m=200");
    group.sample_size(20);
    let families = [("weak", tables(200, 400, 0.8)), ("high", tables(200, 400, 0.0)), ("laws", laws(200, 400))];
    for (family, instance) in &families {
        bench(&mut group, "demt[shuffles=20]", family, instance);
        bench(&mut group, "dual", family, instance);
        bench(&mut group, "list[order=saf]", family, instance);
    }
    group.finish();
}

fn large(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("n=10000 m=1000");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    bench(&mut group, "demt[shuffles=20]", "weak", &tables(1000, 10_000, 0.8));
    bench(&mut group, "demt[shuffles=20]", "laws", &laws(1000, 10_000));
    group.finish();
}

fn smps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("n=800 nodes=64 k=16");
    group.sample_size(10);
    for (family, instance) in [("weak", tables(1024, 800, 0.8)), ("high", tables(1024, 800, 0.0))] {
        let instance = on_nodes(64, 16, &instance);
        bench(&mut group, "shelves", family, &instance);
        bench(&mut group, "list[order=saf]", family, &instance);
    }
    group.finish();
}

fn cluster(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("n=100000 m=10000");
    group.sample_size(10).measurement_time(Duration::from_secs(20));
    bench(&mut group, "list[order=saf]", "laws", &laws(10_000, 100_000));
    group.finish();
    if let Some(peak) = peak() {
        println!("peak memory of this process: {peak}");
    }
}

/// Measures a million best-effort tasks in the holes of a thousand rigid jobs.
fn best_effort(criterion: &mut Criterion) {
    let rigid = |random: &mut ChaCha8Rng| {
        let (width, time) = (random.random_range(1..=400), seconds(random.random_range(5.0..=500.0)));
        Profile::rigid(width, time).expect("positive figures")
    };
    let jobs = instance(1000, 1000, rigid);
    let bag = Job::new("bag", Profile::rigid(1, seconds(3.7)).expect("positive figures")).with_weight(Weight::ZERO);
    let bag = bag.with_count(std::num::NonZeroU64::new(1_000_000).expect("tasks"));
    let with_bag = jobs.with_jobs(jobs.ids().map(|id| jobs.submitted(id)).chain([bag]).collect());
    let mut group = criterion.benchmark_group("best effort");
    group.sample_size(10).measurement_time(Duration::from_secs(10));
    bench(&mut group, "list[order=saf]", "1000 jobs", &jobs);
    bench(&mut group, "list[order=saf]", "1000 jobs and 1000000 tasks", &with_bag);
    group.finish();
}

/// Returns the maximum memory that this process has held, as reported by Linux. To see the maximum of the last group,
/// run this group alone: `cargo bench -p makespan-algos --bench schedulers -- n=100000`.
fn peak() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    Some(status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?.trim().to_owned())
}

/// Measures 10,000 tasks in layers of 100 on 16 processors of different speeds. Target: HEFT in 50 ms.
fn graphs(criterion: &mut Criterion) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let task = |index: u32, random: &mut ChaCha8Rng| {
        let time = seconds(random.random_range(10.0..=100.0));
        NamedTask::new(index.to_string(), Profile::rigid(1, time).expect("a positive time"))
    };
    let tasks = (0..10_000).map(|index| task(index, &mut random)).collect();
    let mut edges = Vec::new();
    for to in 100..10_000_u32 {
        let layer = (to / 100 - 1) * 100;
        let mut before: Vec<u32> = (0..3).map(|_| layer + random.random_range(0..100)).collect();
        before.sort_unstable();
        before.dedup();
        let payload = |random: &mut ChaCha8Rng| Payload::Bytes(random.random_range(1..20_000_000));
        edges.extend(before.into_iter().map(|from| Edge { from, to, payload: payload(&mut random) }));
    }
    let graph = Graph::new(tasks, edges).expect("layers have no cycle");
    let node = |index: u32| Node { speed: 1.0 + f64::from(index % 5) / 2.0, ..Node::new(index.to_string(), 1) };
    let platform = Platform::new((0..16).map(node).collect()).expect("different names");
    let link = Link { bandwidth: 1e6, latency: Time::ZERO };
    let platform = platform.with_interconnect(link).expect("no tree");
    let instance = Instance::new(platform, vec![Job::compound("layers", graph)], Vec::new()).expect("a valid instance");
    let mut group = criterion.benchmark_group("graphs");
    for spec in ["heft", "cpop", "peft"] {
        bench(&mut group, spec, "10000 tasks on 16 processors", &instance);
    }
    group.finish();
}

/// Measures 200 and 1,000 moldable tasks in layers of ten on 64 processors.
fn moldable_graphs(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("moldable graphs");
    group.sample_size(10);
    for count in [200, 1000_u32] {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let before = |to: u32, random: &mut ChaCha8Rng| (to / 10 - 1) * 10 + random.random_range(0..10);
        let edge = |to: u32| Edge { from: before(to, &mut random), to, payload: Payload::Bytes(0) };
        let edges = (10..count).map(edge).collect();
        let task = |index: u32| {
            let law = SpeedupLaw::Amdahl { serial: random.random_range(0.0..0.2) };
            let profile = Profile::law(seconds(random.random_range(10.0..=100.0)), law, 1, 64);
            NamedTask::new(index.to_string(), profile.expect("a positive time"))
        };
        let graph = Graph::new((0..count).map(task).collect(), edges).expect("layers have no cycle");
        let platform = Platform::flat(64).expect("some processors");
        let jobs = vec![Job::compound("layers", graph)];
        let instance = Instance::new(platform, jobs, Vec::new()).expect("a valid instance");
        for spec in ["list", "cpa", "mcpa", "hcpa", "mheft", "lp-rounding", "priority"] {
            bench(&mut group, spec, &format!("{count} tasks on 64 processors"), &instance);
        }
    }
    group.finish();
}

criterion_group!(benches, paper_size, large, smps, best_effort, graphs, moldable_graphs, cluster);
criterion_main!(benches);
