//! Measures the time to compute bounds on instances as large as in the experiments of the DEMT paper. Targets: the dual
//! search in 1 ms, 20 steps of the price search in 0.2 s, and the bound on weighted completion in 1 s.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_bounds::{PriceOptions, PriceSearch, dual, makespan, weighted_completion};
use makespan_core::{Instance, Job, Platform, Profile, Time, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Builds jobs with sequential times that are uniform on [1, 10] s. The time on k processors is
/// `t(k) = t(k - 1) (X + k - 1) / k`, with X uniform on [x, x + 0.2]. The DEMT paper uses this recursion with a
/// different distribution of X. If x is near 0, jobs speed up well on more processors. If x is near 0.8, jobs hardly
/// speed up.
fn instance(jobs: usize, processors: u32, x: f64) -> Instance {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let job = |index: usize| {
        let mut time: f64 = random.random_range(1.0..=10.0);
        let mut times = vec![time];
        for k in 2..=processors {
            time *= (random.random_range(x..x + 0.2) + f64::from(k - 1)) / f64::from(k);
            times.push(time);
        }
        let times = times.iter().map(|&time| Time::from_seconds_f64(time).expect("a short time")).collect();
        let weight = Weight::from_f64(random.random_range(1.0..=10.0)).expect("a small weight");
        Job::new(index.to_string(), Profile::table(times).expect("positive times")).with_weight(weight)
    };
    let jobs = (0..jobs).map(job).collect();
    Instance::new(Platform::flat(processors).expect("some processors"), jobs, Vec::new()).expect("a valid instance")
}

fn bounds(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("n=400 m=200");
    group.sample_size(20);
    for (family, x) in [("weak", 0.8), ("high", 0.0)] {
        let instance = &instance(400, 200, x);
        group.bench_function(format!("dual search, {family}"), |bencher| {
            bencher.iter(|| dual::search(black_box(instance).simple_jobs().map(|job| job.profile()), 200));
        });
        group.bench_function(format!("makespan, {family}"), |bencher| {
            bencher.iter(|| makespan(black_box(instance)));
        });
        group.bench_function(format!("weighted_completion, {family}"), |bencher| {
            bencher.iter(|| weighted_completion(black_box(instance)));
        });
        group.bench_function(format!("20 steps of the price search, {family}"), |bencher| {
            bencher.iter(|| {
                let mut search =
                    PriceSearch::new(black_box(instance), PriceOptions::default()).expect("equal processors");
                search.improve(20);
                search
            });
        });
        let mut search = PriceSearch::new(instance, PriceOptions::default()).expect("equal processors");
        search.improve(20);
        group.bench_function(format!("choices, {family}"), |bencher| {
            bencher.iter(|| search.choices(black_box(instance)));
        });
        let proved = weighted_completion(instance);
        group.bench_function(format!("verify weighted_completion, {family}"), |bencher| {
            bencher.iter(|| proved.verify(black_box(instance)));
        });
    }
    group.finish();
}

criterion_group!(benches, bounds);
criterion_main!(benches);
