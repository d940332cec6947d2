//! Time that mapping heuristics take. Targets: Min-min with 512 tasks on 16 machines in 1 ms, the genetic algorithm of
//! the task-flow paper with 2000 tasks on 10 nodes of unequal speeds in 0.3 s.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_algos::kernel::mapping::{Genetic, Mapper, MappingProblem, MaxMin, MinMin, Sufferage, Times};
use makespan_core::Time;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns inconsistent times that are drawn by the range-based method with high ranges.
fn matrix(tasks: usize, machines: usize) -> MappingProblem<'static> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut cells = Vec::with_capacity(tasks * machines);
    for _ in 0..tasks {
        let size: f64 = random.random_range(1.0..3000.0);
        cells.extend((0..machines).map(|_| seconds(size * random.random_range(1.0..1000.0))));
    }
    MappingProblem::new(Times::flat(cells, machines), vec![0; machines])
}

/// Returns the times of tasks with sizes uniform on [1, 99999] on machines of speeds 1000, 2000 and so on, as in the
/// task-flow paper for a mean size of 50000.
fn uniform(tasks: usize, machines: usize) -> MappingProblem<'static> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut cells = Vec::with_capacity(tasks * machines);
    for _ in 0..tasks {
        let size: f64 = random.random_range(1.0..99_999.0);
        cells.extend((1..=machines).map(|machine| seconds(size / (1000.0 * machine as f64))));
    }
    MappingProblem::new(Times::flat(cells, machines), vec![0; machines])
}

fn seconds(time: f64) -> Time {
    Time::from_seconds_f64(time).expect("a short time").max(Time::TICK)
}

fn mapping(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("mapping");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    let benchmark = matrix(512, 16);
    let heuristics: [(&str, &dyn Mapper); 3] =
        [("min-min", &MinMin), ("max-min", &MaxMin), ("sufferage", &Sufferage { greedy: false })];
    for (name, mapper) in heuristics {
        group.bench_function(format!("{name}, 512 x 16"), |bencher| {
            bencher.iter(|| black_box(mapper.map(&benchmark, &mut ChaCha8Rng::seed_from_u64(1))).len());
        });
    }
    let flow = uniform(2000, 10);
    group.bench_function("ga, 2000 x 10", |bencher| {
        bencher.iter(|| black_box(Genetic::default().map(&flow, &mut ChaCha8Rng::seed_from_u64(1))).len());
    });
    group.finish();
}

criterion_group!(benches, mapping);
criterion_main!(benches);
