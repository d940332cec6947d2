//! Speed of the searches of `optimise` on graphs. With 50 and 100 tasks on 8 processors, these benchmarks decode a
//! changed order, and move one task to another position. With 100 and 1,000 moldable tasks on 64 processors, they
//! evaluate a changed list. An element is one evaluation. The benchmark `schedulers` measures the time that list
//! schedulers take.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use makespan_algos::kernel::graph::machine_orders::MachineOrders;
use makespan_algos::kernel::graph::sequence::{ANY, Sequence, SequenceSolution};
use makespan_algos::kernel::graph::{GraphProblem, ProcessorId, rank};
use makespan_algos::kernel::moldable::{List, ListSchedule, ListScheme, Measure, MoldableProblem, average_times};
use makespan_algos::kernel::packing::Packing;
use makespan_core::{
    Edge, Graph, Instance, Job, Link, NamedTask, Node, Objective, Payload, Platform, Profile, SpeedupLaw, Time,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns layers of eight tasks on eight processors of speed 1 to 3. Each task waits for up to three tasks of the
/// preceding layer.
fn instance(tasks: u32) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut edges = Vec::new();
    for to in 8..tasks {
        let mut before: Vec<u32> = (0..3).map(|_| (to / 8 - 1) * 8 + random.random_range(0..8)).collect();
        before.sort_unstable();
        before.dedup();
        let payload = |random: &mut ChaCha8Rng| Payload::Bytes(random.random_range(1..20_000_000));
        edges.extend(before.into_iter().map(|from| Edge { from, to, payload: payload(&mut random) }));
    }
    let task = |index: u32| {
        let time = Time::from_ticks(random.random_range(10_000_000_000..=100_000_000_000));
        NamedTask::new(index.to_string(), Profile::rigid(1, time).expect("a positive time"))
    };
    let graph = Graph::new((0..tasks).map(task).collect(), edges).expect("layers have no cycle");
    let speed = |index: u32| 1.0 + f64::from(index % 5) / 2.0;
    let node = |index: u32| Node { speed: speed(index), ..Node::new(index.to_string(), 1) };
    let platform = Platform::new((0..8).map(node).collect()).expect("different names");
    let link = Link { bandwidth: 1e6, latency: Time::ZERO };
    let platform = platform.with_interconnect(link).expect("no tree");
    Instance::new(platform, vec![Job::compound("layers", graph)], Vec::new()).expect("a valid instance")
}

fn searches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("evaluations");
    group.sample_size(20).throughput(Throughput::Elements(1));
    for tasks in [50, 100] {
        let instance = instance(tasks);
        let problem = GraphProblem::new(&instance);
        let order = rank::ready_first(&problem, &rank::upward(&problem, &rank::mean_times(&problem)));
        let solution = SequenceSolution { order, wanted: vec![ANY; problem.tasks()] };
        let mut sequence = Sequence::new(&problem, Objective::Makespan, &[], solution);
        let places = sequence.places();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        group.bench_function(format!("an order of {tasks} tasks from a changed place on"), |bencher| {
            bencher.iter(|| {
                let task = random.random_range(0..tasks);
                let (first, last) = sequence.range(task);
                let shift = sequence.shift(task, random.random_range(first..=last), ANY);
                let value = sequence.evaluate(Sequence::changed(shift), f64::INFINITY);
                sequence.undo(shift);
                value
            });
        });
        let mut by_start = problem.order().to_vec();
        by_start.sort_by_key(|&task| places[task as usize].start);
        let processors: Vec<ProcessorId> = places.iter().map(|place| place.processor).collect();
        let mut lines = MachineOrders::new(&problem, &by_start, &processors);
        let mut slots = Vec::new();
        group.bench_function(format!("all places for one of {tasks} tasks"), |bencher| {
            bencher.iter(|| {
                let task = random.random_range(0..tasks);
                let (without, own) = lines.take(task);
                lines.slots(task, &mut slots);
                lines.put(task, own);
                slots.iter().map(|slot| slot.through.max(without)).min()
            });
        });
    }
    group.finish();
}

/// Returns the layers of [`instance`], but with moldable tasks by Amdahl's law and without transfers.
fn moldable_instance(tasks: u32) -> Instance {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let before = |to: u32, random: &mut ChaCha8Rng| (to / 8 - 1) * 8 + random.random_range(0..8);
    let edges = (8..tasks).map(|to| Edge { from: before(to, &mut random), to, payload: Payload::Bytes(0) }).collect();
    let task = |index: u32| {
        let time = Time::from_ticks(random.random_range(10_000_000_000..=100_000_000_000));
        let law = SpeedupLaw::Amdahl { serial: random.random_range(0.0..0.2) };
        NamedTask::new(index.to_string(), Profile::law(time, law, 1, 64).expect("a positive time"))
    };
    let graph = Graph::new((0..tasks).map(task).collect(), edges).expect("layers have no cycle");
    let platform = Platform::flat(64).expect("some processors");
    Instance::new(platform, vec![Job::compound("layers", graph)], Vec::new()).expect("a valid instance")
}

/// Measures lists in which one task is resized or advanced. Every change is undone, as most changes are in a search.
fn moldable(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lists of moldable tasks");
    group.sample_size(20).throughput(Throughput::Elements(1));
    for tasks in [100, 1_000] {
        let instance = moldable_instance(tasks);
        let packing = Packing::new(&instance).expect("every task has room");
        let problem = MoldableProblem::new(&packing).expect("only the numbers of processors matter");
        let average = average_times(&problem);
        let choice = |(task, &average): (u32, &f64)| {
            let slower = problem.all_choices_of(task).partition_point(|choice| choice.time as f64 > average) as u32;
            (problem.choices_of(task).start + slower).min(problem.choices_of(task).end - 1)
        };
        let chosen: Vec<u32> = (0..).zip(&average).map(choice).collect();
        for scheme in [ListScheme::Events, ListScheme::Insertion] {
            let measure = Measure::new(&problem, Objective::Makespan, None);
            let list = List::new(&problem, problem.order(), chosen.clone());
            let mut schedule = ListSchedule::new(&problem, measure, scheme, list);
            let mut random = ChaCha8Rng::seed_from_u64(1);
            group.bench_function(format!("{scheme:?}, {tasks} tasks"), |bencher| {
                bencher.iter(|| {
                    let task = random.random_range(0..tasks);
                    if random.random_bool(0.5) {
                        schedule.advance(task, random.random_range(1..20));
                    } else {
                        schedule.choose(task, random.random_range(problem.choices_of(task)));
                    }
                    let value = schedule.evaluate(schedule.value());
                    schedule.take_back();
                    value
                });
            });
        }
        group.bench_function(format!("average times of {tasks} tasks"), |bencher| {
            bencher.iter(|| average_times(&problem));
        });
    }
    group.finish();
}

criterion_group!(benches, searches, moldable);
criterion_main!(benches);
