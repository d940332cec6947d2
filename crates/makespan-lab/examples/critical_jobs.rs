//! How often the critical jobs method finds a plan of its own within the walltime, and what it costs: 96 graphs of 20 to
//! 82 tasks on 8 processors of 4 types.
//!
//!     cargo run --release -p makespan-lab --example critical_jobs -- 1.5 96

use std::error::Error;
use std::time::Instant;

use makespan_core::{Context, Instance, Node, Platform, cost, validate};
use makespan_lab::generate::{GraphOptions, Shape, generate_graphs};

const SPECS: [&str; 4] = ["start=empty", "start=empty,cpus=types", "start=both", "start=both,cpus=types"];
const SPEEDS: [f64; 8] = [1.0, 1.0, 1.5, 1.5, 2.0, 2.0, 3.0, 3.0];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let factor = arguments.next().unwrap_or("1.5".into());
    let count: u32 = arguments.next().map_or(Ok(96), |text| text.parse())?;
    // Of six graphs three are layered.
    let layered = Shape::Layers { width: 8, density: 0.3 };
    let shapes = [layered, Shape::Montage, layered, Shape::Epigenomics, layered, Shape::CyberShake];
    let instances = (0..count).map(|number| instance(shapes[number as usize % shapes.len()], number));
    let instances: Vec<(Shape, Instance)> = instances.collect::<Result<_, _>>()?;
    println!("walltime {factor} times HEFT's makespan; makespan and cost over HEFT's where a plan was found");
    println!("{:<46} {:>8} {:>7} {:>9} {:>7} {:>8}", "", "layered", "others", "makespan", "cost", "seconds");
    for rest in SPECS {
        let spec = format!("critical-jobs[walltime={factor},{rest}]");
        let began = Instant::now();
        let (mut found, mut sums) = ([(0, 0); 2], (0.0, 0.0));
        for (shape, instance) in &instances {
            let own = planned(instance, &spec)?;
            let heft = planned(instance, "heft")?;
            let kind = &mut found[usize::from(*shape != layered)];
            kind.1 += 1;
            if own.2 {
                kind.0 += 1;
                sums = (sums.0 + own.0 / heft.0, sums.1 + own.1 / heft.1);
            }
        }
        let all = f64::from(found[0].0 + found[1].0).max(1.0);
        let share = |(found, of): (i32, i32)| format!("{found}/{of}");
        let (makespan, cost, seconds) = (sums.0 / all, sums.1 / all, began.elapsed().as_secs_f64());
        println!("{spec:<46} {:>8} {:>7} {makespan:>9.3} {cost:>7.3} {seconds:>8.1}", share(found[0]), share(found[1]));
    }
    Ok(())
}

fn instance(shape: Shape, number: u32) -> Result<(Shape, Instance), Box<dyn Error>> {
    let tasks = 20 + (number as usize * 37) % 63;
    let drawn = generate_graphs(&GraphOptions { shape, tasks, seed: number.into(), ..GraphOptions::default() })?;
    let node = |(index, &speed): (usize, &f64)| Node {
        name: format!("n{index}"),
        processors: 1,
        speed,
        parent: None,
        link: None,
    };
    let mut platform = Platform::new(SPEEDS.iter().enumerate().map(node).collect())?;
    if let Some(link) = drawn.platform().interconnect() {
        platform = platform.with_interconnect(link)?;
    }
    Ok((shape, Instance::new(platform, drawn.jobs().to_vec(), Vec::new())?))
}

/// Makespan, cost, and whether the plan is the method's own.
fn planned(instance: &Instance, spec: &str) -> Result<(f64, f64, bool), Box<dyn Error>> {
    let mut context = Context::with_seed(1);
    let schedule = makespan_algos::scheduler(spec)?.schedule(instance, &mut context)?.into_schedule().unwrap();
    validate(instance, &schedule).map_err(|violations| format!("{violations:?}"))?;
    let fallback = context.remarks.iter().any(|remark| remark.contains("HEFT's places are taken"));
    Ok((schedule.makespan().seconds(), cost(instance, &schedule) as f64, !fallback))
}
