//! How long a simulation takes: `policy_speed SPEC,.. LOG` or `policy_speed SPEC,.. JOBS PROCESSORS LOAD`.
//!
//! Synthetic jobs have log-uniform widths and times,
//! exponential gaps for the load that is asked for, and estimates of one to ten times the truth.

use std::path::Path;
use std::time::Instant;

use makespan_algos::policy::policy;
use makespan_core::{Actual, Instance, Job, Platform, Profile, Time};
use makespan_formats::{ReplayOptions, read_replay};
use makespan_sim::{Silent, SimulationOptions, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Row {
    width: u32,
    estimate: i64,
    real: i64,
    release: i64,
}

fn synthetic(jobs: usize, processors: u32, load: f64) -> Vec<Row> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut rows: Vec<Row> = (0..jobs)
        .map(|_| {
            let width = f64::from(processors).powf(random.random_range(0.0..0.75)) as u32;
            let real = 10_f64.powf(random.random_range(1.0..5.0)) as i64;
            Row { width, real, estimate: real * random.random_range(1..=10), release: 0 }
        })
        .collect();
    let area: f64 = rows.iter().map(|row| f64::from(row.width) * row.real as f64).sum();
    let gap = area / f64::from(processors) / load / jobs as f64;
    let mut now = 0.0;
    for row in &mut rows {
        now -= gap * random.random_range(f64::EPSILON..1.0_f64).ln();
        row.release = now as i64;
    }
    rows
}

fn instance(arguments: &[String]) -> Result<(Instance, Actual), Box<dyn std::error::Error>> {
    let [jobs, processors, load] = arguments else {
        let path = arguments.first().ok_or("policy_speed SPEC,.. LOG | SPEC,.. JOBS PROCESSORS LOAD")?;
        let replay = read_replay(Path::new(path), &ReplayOptions::default())?;
        return Ok((replay.instance, replay.actual));
    };
    let processors = processors.parse()?;
    let rows = synthetic(jobs.parse()?, processors, load.parse()?);
    let rigid = |width, seconds| Profile::rigid(width, Time::from_seconds(seconds));
    let job = |(index, row): (usize, &Row)| {
        let job = Job::new(index.to_string(), rigid(row.width, row.estimate)?);
        Ok(job.with_release(Time::from_seconds(row.release)))
    };
    let jobs = rows.iter().enumerate().map(job).collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    let real = rows.iter().map(|row| rigid(row.width, row.real)).collect::<Result<_, _>>()?;
    Ok((Instance::new(Platform::flat(processors)?, jobs, vec![])?, Actual::Profiles(real)))
}

/// The specs between the commas that are in no bracket.
fn specs(text: &str) -> Vec<String> {
    let (mut specs, mut depth) = (vec![String::new()], 0);
    for c in text.chars() {
        depth += i32::from(c == '[') - i32::from(c == ']');
        match specs.last_mut() {
            Some(spec) if c != ',' || depth > 0 => spec.push(c),
            _ => specs.push(String::new()),
        }
    }
    specs
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (instance, actual) = instance(arguments.get(1..).unwrap_or_default())?;
    for spec in specs(&arguments[0]) {
        let mut policy = policy(&spec, 1)?;
        let begun = Instant::now();
        let done = simulate(&instance, &actual, policy.as_mut(), &SimulationOptions::default(), &mut Silent)?;
        let took = begun.elapsed().as_secs_f64();
        let wait: f64 = done.trace.runs.iter().map(|run| (run.start - instance.job(run.job).release).seconds()).sum();
        let jobs = instance.jobs().len();
        println!("{spec}: {took:.2} s, {jobs} jobs, mean wait {:.1} s", wait / jobs as f64);
    }
    Ok(())
}
