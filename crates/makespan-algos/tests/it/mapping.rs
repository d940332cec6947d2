//! Tests of the mapping heuristics on the benchmark of Braun et al., if its data are present.

use std::path::PathBuf;

use makespan_algos::Context;
use makespan_algos::scheduler;
use makespan_core::{Instance, Job, Objective, Platform, Profile, Time, validate};

/// Returns a matrix of the reference data. If it is not present, prints a message and returns `None`.
fn matrix(name: &str) -> Option<Instance> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/etc").join(name);
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: {} is not present", path.display());
        return None;
    };
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(file), &mut text).unwrap();
    let mut numbers = text.split_whitespace();
    let mut header = || numbers.next().unwrap().parse::<usize>().unwrap();
    let (tasks, machines, _) = (header(), header(), header());
    let times: Vec<Time> = numbers.map(|number| Time::parse(number).unwrap()).collect();
    let job = |(at, row): (usize, &[Time])| Job::new(format!("t{at}"), Profile::on_machines(row).unwrap());
    let jobs: Vec<Job> = times.chunks(machines).enumerate().map(job).collect();
    assert_eq!(jobs.len(), tasks);
    Some(Instance::new(Platform::cluster(machines as u32, 1).unwrap(), jobs, vec![]).unwrap())
}

#[test]
fn published_makespans_are_met_exactly() {
    let Some(instance) = matrix("u_c_hihi.0.gz") else { return };
    let published =
        [("min-min", 8_460_675.0), ("sufferage", 10_908_697.8), ("max-min", 12_385_671.8), ("mct", 11_422_624.5)];
    for (spec, expect) in published {
        let plan = scheduler(spec).unwrap().schedule(&instance, &mut Context::with_seed(1)).unwrap();
        let schedule = plan.into_schedule().unwrap();
        assert_eq!(validate(&instance, &schedule), Ok(()));
        let makespan = schedule.makespan().seconds();
        assert!((makespan - expect).abs() < 0.05, "{spec}: {makespan}, published {expect}");
    }
}

/// Bounds of the linear programme, as found by other solvers.
const FILES: [(&str, f64); 6] = [
    ("u_c_hihi.0.gz", 7_346_524.2),
    ("u_c_lolo.0.gz", 5132.8),
    ("u_i_hilo.0.gz", 73_057.9),
    ("u_i_lohi.0.gz", 101_063.4),
    ("u_s_hilo.0.gz", 95_419.0),
    ("u_s_lohi.0.gz", 120_452.3),
];

#[test]
fn prices_reach_the_linear_programme() {
    for (name, expect) in FILES {
        let Some(instance) = matrix(name) else { return };
        let begin = std::time::Instant::now();
        let bound = makespan_bounds::best(&instance, Objective::Makespan).unwrap();
        println!("{name}: {:.3} s", begin.elapsed().as_secs_f64());
        assert_eq!(bound.verify(&instance), Ok(()));
        let ratio = bound.value.integer() as f64 / 1e9 / expect;
        assert!((ratio - 1.0).abs() < 1e-5, "{name}: {ratio}");
    }
}
