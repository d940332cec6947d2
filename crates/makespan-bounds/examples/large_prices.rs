//! How high the bound on weighted completion is on large instances and how long it takes to find and to check:
//! `cargo run --release -p makespan-bounds --example large_prices [JOBS] [PROCESSORS]`, of which 100,000 and 10,000 are
//! meant without them. One line for each speed-up law.

use std::time::Instant;

use makespan_bounds::{PriceOptions, PriceSearch};
use makespan_core::{Bound, Instance, Job, Platform, Profile, Proof, SpeedupLaw, Time, Weight};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

type Law = fn(&mut ChaCha8Rng) -> SpeedupLaw;

/// Sequential times uniform on [10, 10,000] s and weights uniform on [1, 10]. Release dates, if there are any, are
/// spread evenly over the time that the machine is full at least.
fn instance(jobs: usize, processors: u32, law: Law, released: bool) -> Instance {
    let random = &mut ChaCha8Rng::seed_from_u64(1);
    let seconds = |time: f64| Time::from_seconds_f64(time).expect("a short time");
    let job = |index: usize| {
        let sequential = seconds(random.random_range(10.0..=10_000.0));
        let weight = Weight::from_f64(random.random_range(1.0..=10.0)).expect("a small weight");
        let profile = Profile::law(sequential, law(random), 1, processors).expect("parameters in range");
        let full = 5_000.0 * jobs as f64 / f64::from(processors);
        let release = if released { random.random_range(0.0..full) } else { 0.0 };
        Job::new(index.to_string(), profile).with_weight(weight).with_release(seconds(release))
    };
    let jobs = (0..jobs).map(job).collect();
    Instance::new(Platform::flat(processors).expect("some processors"), jobs, Vec::new()).expect("a valid instance")
}

/// Seconds and the outcome.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let clock = Instant::now();
    let outcome = work();
    (clock.elapsed().as_secs_f64(), outcome)
}

fn searched(instance: &Instance) -> Option<PriceSearch> {
    let mut search = PriceSearch::new(instance, PriceOptions::default())?;
    search.improve(300);
    Some(search)
}

/// How many instants prove the bound.
fn instants(bound: &Bound) -> usize {
    match &bound.proof {
        Proof::TimePrices(prices) => prices.instants.len(),
        _ => 0,
    }
}

fn amdahl(random: &mut ChaCha8Rng) -> SpeedupLaw {
    SpeedupLaw::Amdahl { serial: random.random_range(0.001..=0.1) }
}

fn power(random: &mut ChaCha8Rng) -> SpeedupLaw {
    SpeedupLaw::Power { exponent: random.random_range(0.5..=1.0) }
}

fn downey(random: &mut ChaCha8Rng) -> SpeedupLaw {
    let parallelism = 10_000_f64.powf(random.random_range(0.0..=1.0));
    SpeedupLaw::Downey { parallelism, sigma: random.random_range(0.0..=2.0) }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let jobs = arguments.next().map_or(Ok(100_000), |text| text.parse())?;
    let processors = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    println!("| law | released | bound | instants | search, s | bound, s | check, s |");
    println!("|---|---|---|---|---|---|---|");
    let laws: [(&str, Law); 3] = [("Amdahl", amdahl), ("power", power), ("Downey", downey)];
    for (name, law) in laws {
        for released in [false, true] {
            let instance = instance(jobs, processors, law, released);
            let (search, found) = timed(|| searched(&instance));
            let (bounded, bound) = timed(|| found.and_then(|found| found.bound(&instance)));
            let Some(bound) = bound else {
                println!("| {name} | {released} | none | | {search:.2} | | |");
                continue;
            };
            let (check, verdict) = timed(|| bound.verify(&instance));
            verdict?;
            let (value, count) = (bound.objective.decimal(bound.value.integer()), instants(&bound));
            println!("| {name} | {released} | {value} | {count} | {search:.2} | {bounded:.2} | {check:.2} |");
        }
    }
    Ok(())
}
