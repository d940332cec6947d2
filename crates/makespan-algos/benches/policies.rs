//! Time that simulations under EASY and conservative backfilling take: 20,000 rigid jobs on 1,000 processors at loads
//! of 0.7 and 1.1. `docs/decisions/policies.md` states how long the simulation of real logs takes.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_algos::policy::policy;
use makespan_core::{Actual, Instance, Job, Platform, Profile, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns jobs with log-uniform widths and times. The estimates are one to ten times the real times, and the gaps
/// between arrivals result in this load.
fn jobs(count: usize, processors: u32, load: f64) -> (Instance, Actual) {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let (mut jobs, mut real, mut now) = (Vec::new(), Vec::new(), 0.0);
    for index in 0..count {
        let width = f64::from(processors).powf(random.random_range(0.0..0.75)) as u32;
        let time = 10_f64.powf(random.random_range(1.0..5.0)) as i64;
        let rigid = |seconds| Profile::rigid(width, Time::from_seconds(seconds)).expect("positive figures");
        now += f64::from(width) * time as f64 / f64::from(processors) / load;
        let job = Job::new(index.to_string(), rigid(time * random.random_range(1..=10)));
        jobs.push(job.with_release(Time::from_seconds(now as i64)));
        real.push(rigid(time));
    }
    let platform = Platform::flat(processors).expect("some processors");
    (Instance::new(platform, jobs, Vec::new()).expect("a valid instance"), Actual::Profiles(real))
}

fn policies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    for load in [0.7, 1.1] {
        let (instance, actual) = jobs(20_000, 1000, load);
        for spec in ["fcfs", "easy", "easy[order=sjf]", "conservative"] {
            group.bench_function(format!("{spec}, load {load}"), |bencher| {
                bencher.iter(|| {
                    let mut policy = policy(spec, 1).expect("a spec of the catalogue");
                    let options = SimulationOptions::default();
                    black_box(simulate(&instance, &actual, policy.as_mut(), &options, &mut Silent)).is_ok()
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, policies);
criterion_main!(benches);
