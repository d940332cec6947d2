//! How far the optimiser of graphs comes below HEFT, on drawn graphs of 20 to 100 tasks on 8 processors.
//!
//!     cargo run --release -p makespan-lab --example graphs -- 1s 96

use std::error::Error;

use makespan_core::{Context, Instance, Objective, validate};
use makespan_lab::generate::{GraphOptions, Shape, generate_graphs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let limit = arguments.next().unwrap_or("1s".into());
    let count: u64 = arguments.next().map_or(Ok(24), |text| text.parse())?;
    let rest = arguments.next().map_or(String::new(), |rest| format!(",{rest}"));
    let key = if limit.ends_with('s') { "time-limit" } else { "steps" };
    let spec = format!("optimise[objective=makespan,{key}={limit}{rest}]");
    let specs = ["cpop", "peft", spec.as_str()];
    let shapes = Shape::ALL.into_iter().filter(|&shape| shape != Shape::Chain);
    let mut all = vec![Vec::new(); specs.len() + 1];
    for shape in shapes {
        let mut sums = vec![Vec::new(); specs.len() + 1];
        for seed in 0..count / 5 {
            let tasks = 20 + (seed as usize * 37) % 81;
            let instance = generate_graphs(&GraphOptions { shape, tasks, seed, ..GraphOptions::default() })?;
            let heft = makespan(&instance, "heft")?;
            let bound = makespan_bounds::best(&instance, Objective::Makespan)?.value.integer() as f64 / 1e9;
            sums[0].push(bound / heft);
            for (sum, spec) in sums[1..].iter_mut().zip(specs) {
                sum.push(makespan(&instance, spec)? / heft);
            }
        }
        print!("{shape:>12}");
        for (sum, all) in sums.iter().zip(&mut all) {
            print!(" {:.4}", sum.iter().sum::<f64>() / sum.len() as f64);
            all.extend(sum.iter().copied());
        }
        println!();
    }
    print!("{:>12}", "all");
    for sum in all {
        print!(" {:.4}", sum.iter().sum::<f64>() / sum.len() as f64);
    }
    println!("  (bound, {}; over heft)", specs.join(", "));
    Ok(())
}

fn makespan(instance: &Instance, spec: &str) -> Result<f64, Box<dyn Error>> {
    let schedule =
        makespan_algos::scheduler(spec)?.schedule(instance, &mut Context::with_seed(1))?.into_schedule().unwrap();
    validate(instance, &schedule).map_err(|violations| format!("{violations:?}"))?;
    Ok(schedule.makespan().seconds())
}
