//! Measures the speed of the engine with a policy that does very little. Target: a million events in well under a
//! second.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use makespan_core::{Actual, Decision, Event, Instance, Job, Platform, Policy, ProcSet, Profile, Time, View};
use makespan_sim::{FailureModel, Silent, SimulationOptions, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A policy that starts tasks in the order of their arrival.
#[derive(Default)]
struct FirstCome {
    free: ProcSet,
}

impl Policy for FirstCome {
    fn on(&mut self, _events: &[Event], view: &View<'_>, decisions: &mut Vec<Decision>) {
        if view.waiting.is_empty() {
            return;
        }
        self.free.clone_from(view.free);
        for task in view.waiting.iter() {
            let wanted = view.instance.profile(task).min_processors();
            let Some(processors) = self.free.take(wanted) else { break };
            decisions.push(Decision::Start { task, processors });
        }
    }
}

/// Builds rigid jobs with log-uniform numbers of processors and log-uniform run times. The jobs arrive at a rate that
/// keeps 70 % of the processors busy. Each estimate is up to three times the real time.
fn workload(jobs: u32, processors: u32) -> (Instance, Actual) {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let (mut arrival, mut real) = (0.0, Vec::new());
    let widest = f64::from(processors) / 16.0;
    let job = |id: u32| {
        let width = widest.powf(random.random_range(0.0..1.0)) as u32;
        let seconds = 10_f64.powf(random.random_range(1.0..5.0));
        let (mean_width, mean_time) = (widest / widest.ln(), 1e5 / 1e4_f64.ln());
        arrival += random.random_range(0.0..2.0) * mean_width * mean_time / (0.7 * f64::from(processors));
        let profile = |seconds: f64| {
            Profile::rigid(width, Time::from_seconds_f64(seconds).expect("a short time")).expect("a positive time")
        };
        real.push(profile(seconds));
        let release = Time::from_seconds_f64(arrival).expect("a short time");
        Job::new(id.to_string(), profile(seconds * random.random_range(1.0..3.0))).with_release(release)
    };
    let jobs = (0..jobs).map(job).collect();
    let platform = Platform::flat(processors).expect("some processors");
    (Instance::new(platform, jobs, Vec::new()).expect("a valid instance"), Actual::Profiles(real))
}

fn simulations(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("500,000 jobs, a million events");
    group.sample_size(10);
    for processors in [256, 10_000] {
        let (instance, actual) = &workload(500_000, processors);
        let options = SimulationOptions::default();
        group.bench_function(format!("{processors} processors"), |bencher| {
            bencher.iter(|| {
                let policy = &mut FirstCome::default();
                let simulation = simulate(black_box(instance), actual, policy, &options, &mut Silent);
                assert_eq!(simulation.expect("no defect").events, 1_000_000);
            });
        });
        let model = FailureModel::parse("mtbf=60d,mttr=4h,shape=0.7,processors=16", 1).expect("a model");
        let options = SimulationOptions { failure_model: Some(model), ..SimulationOptions::default() };
        group.bench_function(format!("{processors} processors, with failures"), |bencher| {
            bencher.iter(|| {
                let policy = &mut FirstCome::default();
                simulate(black_box(instance), actual, policy, &options, &mut Silent).expect("no defect")
            });
        });
    }
    group.finish();
}

criterion_group!(benches, simulations);
criterion_main!(benches);
