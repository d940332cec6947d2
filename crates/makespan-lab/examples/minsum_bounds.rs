//! How high the bound on weighted completion is and how long it takes:
//! `cargo run --release -p makespan-lab --example minsum_bounds`. Means over five seeds, m = 200.
//!
//! The columns: the bound over that of the interval programme on its fine grid; how far the search was from its end after
//! 10, 20 and 30 steps; the time of the interval programme, of 20 steps with the check, and of the whole bound.

use std::time::Instant;

use makespan_bounds::{Grid, PriceOptions, PriceSearch, weighted_completion, weighted_completion_on};
use makespan_core::Instance;
use makespan_lab::generate::{Family, MoldableOptions, generate};

const SEEDS: u64 = 5;
const STEPS: [usize; 3] = [10, 20, 30];

/// Seconds and the outcome.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let clock = Instant::now();
    let outcome = work();
    (clock.elapsed().as_secs_f64(), outcome)
}

/// The value after so many steps of a new search.
fn after(instance: &Instance, steps: usize) -> Option<f64> {
    let mut search = PriceSearch::new(instance, PriceOptions::default())?;
    search.improve(steps);
    Some(search.bound(instance)?.value.as_f64())
}

/// The columns of one instance.
fn measured(family: Family, jobs: usize, seed: u64) -> Result<[f64; 7], Box<dyn std::error::Error>> {
    let instance = generate(&MoldableOptions { family, jobs, processors: 200, seed, arrival_rate: None })?;
    let (intervals, interval) = timed(|| weighted_completion_on(&instance, &Grid::fine(&instance)));
    let (whole, bound) = timed(|| weighted_completion(&instance));
    bound.verify(&instance)?;
    let value = bound.value.integer() as f64;
    let short = |steps| after(&instance, steps).map_or(0.0, |reached| 100.0 * (1.0 - reached / value));
    let (twenty, second) = timed(|| short(STEPS[1]));
    Ok([value / interval.value.integer() as f64, short(STEPS[0]), second, short(STEPS[2]), intervals, twenty, whole])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!(
        "| family | jobs | bound / intervals | short of it, %: 10 steps | 20 | 30 | intervals, s | 20 steps, s | whole, s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for family in [Family::Weak, Family::High, Family::Mixed, Family::Cirne] {
        for jobs in [25, 100, 400] {
            let mut sums = [0.0; 7];
            for seed in 1..=SEEDS {
                for (sum, figure) in sums.iter_mut().zip(measured(family, jobs, seed)?) {
                    *sum += figure;
                }
            }
            let [ratio, ten, twenty, thirty, intervals, second, whole] = sums.map(|sum| sum / SEEDS as f64);
            println!(
                "| {family:?} | {jobs} | {ratio:.3} | {ten:.2} | {twenty:.2} | {thirty:.2} \
                 | {intervals:.3} | {second:.3} | {whole:.3} |"
            );
        }
    }
    Ok(())
}
