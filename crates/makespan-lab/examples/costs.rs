//! What graphs of tasks cost under a walltime, over the cost of HEFT's plan, and what they cost at least.
//!
//!     cargo run --release -p makespan-lab --example costs -- 300 8 "critical-jobs[walltime=F]"
//!
//! The steps of the bound's search, graphs of each shape, and specs, in which F stands for the walltime.

use std::error::Error;
use std::time::Instant;

use makespan_core::{Context, Instance, Schedule, Time, cost, validate};
use makespan_lab::generate::{GraphOptions, Shape, generate_graphs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let steps: u32 = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let count: u64 = arguments.next().map_or(Ok(8), |text| text.parse())?;
    let specs: Vec<String> = arguments.collect();
    let shapes = [Shape::Layers { width: 6, density: 0.3 }, Shape::Montage, Shape::Epigenomics];
    for shape in shapes {
        for factor in [1.25, 1.5, 2.0, 3.0] {
            let mut sums = vec![0.0; specs.len() + 2];
            for seed in 0..count {
                let tasks = if matches!(shape, Shape::Layers { .. }) { 36 } else { 20 + (seed as usize * 37) % 81 };
                let instance = generate_graphs(&GraphOptions { shape, tasks, seed, ..GraphOptions::default() })?;
                let heft = plan(&instance, "heft")?;
                let horizon = Time::from_ticks((heft.makespan().ticks() as f64 * factor).ceil() as i64);
                let own = cost(&instance, &heft) as f64;
                let begin = Instant::now();
                let bound = makespan_bounds::cost::within(&instance, horizon, steps).ok_or("no bound")?;
                bound.verify(&instance)?;
                sums[0] += bound.value.integer() as f64 / own;
                sums[1] += begin.elapsed().as_secs_f64();
                for (sum, spec) in sums[2..].iter_mut().zip(&specs) {
                    let schedule = plan(&instance, &spec.replace('F', &factor.to_string()))?;
                    assert!(
                        schedule.makespan() <= horizon && cost(&instance, &schedule) >= bound.value.integer(),
                        "{spec}"
                    );
                    *sum += cost(&instance, &schedule) as f64 / own;
                }
            }
            print!("{shape:>12} {factor:>5}:");
            sums.iter().for_each(|sum| print!(" {:.4}", sum / count as f64));
            println!();
        }
    }
    println!("(bound, its seconds, {})", specs.join(", "));
    Ok(())
}

fn plan(instance: &Instance, spec: &str) -> Result<Schedule, Box<dyn Error>> {
    let schedule =
        makespan_algos::scheduler(spec)?.schedule(instance, &mut Context::with_seed(1))?.into_schedule().unwrap();
    validate(instance, &schedule).map_err(|violations| format!("{violations:?}"))?;
    Ok(schedule)
}
