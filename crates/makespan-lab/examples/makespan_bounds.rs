//! How much dual-feasible functions raise the bound on the makespan, how far the best schedule of the catalogue is from
//! it, and how long it takes: `cargo run --release -p makespan-lab --example makespan_bounds`. Means over five seeds.

use std::path::Path;
use std::time::Instant;

use makespan_algos::scheduler;
use makespan_bounds::{dual, makespan};
use makespan_core::{Context, Instance, Job, Objective, Platform, Profile, Proof, Time};
use makespan_formats::{ReadOptions, read_instance};
use makespan_lab::generate::{Family, MoldableOptions, generate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SEEDS: u64 = 5;
const PROCESSORS: u32 = 200;

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// The bound without dual-feasible functions: area, rejection and the longest job.
fn before(instance: &Instance) -> i128 {
    let search = dual::search(instance.jobs().iter().map(Job::profile), instance.processors());
    let longest = instance.jobs().iter().map(|job| job.profile().shortest()).max().unwrap_or(Time::ZERO);
    let rejected =
        search.rejection.map(Proof::Rejection).and_then(|proof| proof.proves(Objective::Makespan, instance).ok());
    rejected.map_or(0, |value| value.integer()).max(i128::from(longest.ticks()))
}

/// New over old bound, the best schedule over the old and over the new bound, and the times of both bounds.
fn measured(instance: &Instance) -> Result<[f64; 5], Box<dyn std::error::Error>> {
    let clock = Instant::now();
    let old = before(instance);
    let first = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let bound = makespan(instance);
    let second = clock.elapsed().as_secs_f64();
    bound.verify(instance)?;
    let mut best = i128::MAX;
    for spec in ["sweep", "dual", "list"] {
        let plan = scheduler(spec)?.schedule(instance, &mut Context::with_seed(1))?;
        best = best.min(Objective::Makespan.value(instance, &plan.into_schedule().unwrap()));
    }
    let ratio = |a: i128, b: i128| a as f64 / b as f64;
    Ok([
        ratio(bound.value.integer(), old),
        ratio(best, old),
        ratio(best, bound.value.integer()),
        first * 1e3,
        second * 1e3,
    ])
}

/// Widths and times of jobs of one allotment each.
type Draw = fn(&mut ChaCha8Rng) -> (u32, f64);

const RIGID: [(&str, Draw); 4] = [
    ("rigid, widths and times uniform", |random| {
        (random.random_range(1..=PROCESSORS), random.random_range(1.0..=10.0))
    }),
    ("rigid, widths to a half", |random| (random.random_range(1..=PROCESSORS / 2), random.random_range(1.0..=10.0))),
    ("rigid, widths powers of two", |random| (1 << random.random_range(0..=7), random.random_range(1.0..=10.0))),
    ("sequential", |random| (1, random.random_range(1.0..=10.0))),
];

fn rigid(draw: Draw, jobs: usize, seed: u64) -> Result<Instance, Box<dyn std::error::Error>> {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = Vec::with_capacity(jobs);
    for index in 0..jobs {
        let (width, seconds) = draw(random);
        drawn.push(Job::new(index.to_string(), Profile::rigid(width, Time::from_seconds_f64(seconds)?)?));
    }
    Ok(Instance::new(Platform::flat(PROCESSORS)?, drawn, vec![])?)
}

fn row(name: &str, jobs: usize, make: impl Fn(u64) -> Result<Instance, Box<dyn std::error::Error>>) -> Outcome {
    let mut sums = [0.0; 5];
    for seed in 1..=SEEDS {
        let instance = make(seed)?;
        sums.iter_mut().zip(measured(&instance)?).for_each(|(sum, figure)| *sum += figure);
    }
    let [ratio, old, new, first, second] = sums.map(|sum| sum / SEEDS as f64);
    println!("| {name} | {jobs} | {ratio:.4} | {old:.4} | {new:.4} | {first:.1} | {second:.1} |");
    Ok(())
}

fn main() -> Outcome {
    println!(
        "| family | jobs | new / old | best / old | best / new | old, ms | new, ms |\n|---|---|---|---|---|---|---|"
    );
    for family in Family::ALL {
        for jobs in [25, 50, 100, 200, 400] {
            let options = |seed| MoldableOptions { family, jobs, processors: PROCESSORS, seed, arrival_rate: None };
            row(family.name(), jobs, |seed| Ok(generate(&options(seed))?))?;
        }
    }
    for (name, draw) in RIGID {
        for jobs in [25, 100, 400] {
            row(name, jobs, |seed| rigid(draw, jobs, seed))?;
        }
    }
    for name in std::env::args().skip(1) {
        let file = Path::new(&name);
        let instance = read_instance(file, &ReadOptions::default())?.instance;
        let [ratio, _, new, ..] = measured(&instance)?;
        let (jobs, value) = (instance.jobs().len(), Objective::Makespan.decimal(makespan(&instance).value.integer()));
        println!("| {} | {jobs} | {ratio:.4} | | {new:.4} | bound {value} s |", file.display());
    }
    Ok(())
}
