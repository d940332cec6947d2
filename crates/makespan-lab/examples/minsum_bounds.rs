//! How much higher the bound on weighted completion is than that of the interval programme on its fine grid, and how
//! long each takes: `cargo run --release -p makespan-lab --example minsum_bounds`. Means over five seeds, m = 200.

use std::time::Instant;

use makespan_bounds::{Grid, weighted_completion, weighted_completion_on};
use makespan_lab::generate::{Family, MoldableOptions, generate};

const SEEDS: u64 = 5;

/// The bound over that of the intervals, the time of the latter, and the time of both with the check.
fn measured(family: Family, jobs: usize, seed: u64) -> Result<[f64; 3], Box<dyn std::error::Error>> {
    let instance = generate(&MoldableOptions { family, jobs, processors: 200, seed, arrival_rate: None })?;
    let clock = Instant::now();
    let intervals = weighted_completion_on(&instance, &Grid::fine(&instance));
    let before = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let bound = weighted_completion(&instance);
    let after = clock.elapsed().as_secs_f64();
    bound.verify(&instance)?;
    Ok([bound.value as f64 / intervals.value as f64, before, after])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("| family | jobs | bound / intervals | intervals, s | in all, s |\n|---|---|---|---|---|");
    for family in [Family::Weak, Family::High, Family::Mixed, Family::Cirne] {
        for jobs in [25, 100, 400] {
            let mut sums = [0.0; 3];
            for seed in 1..=SEEDS {
                for (sum, figure) in sums.iter_mut().zip(measured(family, jobs, seed)?) {
                    *sum += figure;
                }
            }
            let [ratio, before, after] = sums.map(|sum| sum / SEEDS as f64);
            println!("| {family:?} | {jobs} | {ratio:.3} | {before:.3} | {after:.3} |");
        }
    }
    Ok(())
}
