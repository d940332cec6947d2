//! How long a simulation takes: `policy_speed SPEC,.. LOG.swf.gz` or `policy_speed SPEC,.. JOBS PROCESSORS LOAD`.
//!
//! The log is read as it is (jobs without processors or time are left out); synthetic jobs have log-uniform widths and times,
//! exponential gaps for the load that is asked for, and estimates of one to ten times the truth.

use std::io::Read;
use std::time::Instant;

use makespan_algos::policy::policy;
use makespan_core::{Actual, Instance, Job, Platform, Profile, Time};
use makespan_sim::{Silent, SimulationOptions, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Row {
    width: u32,
    estimate: i64,
    real: i64,
    release: i64,
}

fn log(path: &str) -> Result<(u32, Vec<Row>), Box<dyn std::error::Error>> {
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path)?).read_to_end(&mut text)?;
    let (mut processors, mut rows) = (0, Vec::new());
    for line in String::from_utf8_lossy(&text).lines() {
        if let Some(most) = line.strip_prefix("; MaxProcs:") {
            processors = most.trim().parse()?;
        }
        let field: Vec<i64> =
            line.split_whitespace().map_while(|field| field.parse::<f64>().ok()).map(|x| x as i64).collect();
        if field.len() < 18 {
            continue;
        }
        let width = if field[7] > 0 { field[7] } else { field[4] };
        if width > 0 && field[3] > 0 && width <= i64::from(processors) {
            let estimate = if field[8] > 0 { field[8] } else { field[3] };
            rows.push(Row { width: width as u32, estimate, real: field[3], release: field[1] });
        }
    }
    Ok((processors, rows))
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (processors, rows) = match arguments.as_slice() {
        [_, path] => log(path)?,
        [_, jobs, processors, load] => {
            let processors = processors.parse()?;
            (processors, synthetic(jobs.parse()?, processors, load.parse()?))
        }
        _ => return Err("policy_speed SPEC,.. LOG.swf.gz | SPEC,.. JOBS PROCESSORS LOAD".into()),
    };
    let rigid = |width, seconds| Profile::rigid(width, Time::from_seconds(seconds));
    let job = |(index, row): (usize, &Row)| {
        let job = Job::new(index.to_string(), rigid(row.width, row.estimate)?);
        Ok(job.with_release(Time::from_seconds(row.release)))
    };
    let jobs = rows.iter().enumerate().map(job).collect::<Result<Vec<_>, Box<dyn std::error::Error>>>()?;
    let instance = Instance::new(Platform::flat(processors)?, jobs, vec![])?;
    let actual = Actual::Profiles(rows.iter().map(|row| rigid(row.width, row.real)).collect::<Result<_, _>>()?);
    for spec in arguments[0].split(',') {
        let mut policy = policy(spec, 1)?;
        let begun = Instant::now();
        let done = simulate(&instance, &actual, policy.as_mut(), &SimulationOptions::default(), &mut Silent)?;
        let took = begun.elapsed().as_secs_f64();
        let wait: f64 = done.trace.runs.iter().map(|run| (run.start - instance.job(run.job).release).seconds()).sum();
        println!("{spec}: {took:.2} s, {} jobs, mean wait {:.1} s", rows.len(), wait / rows.len() as f64);
    }
    Ok(())
}
