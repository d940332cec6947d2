//! Tests of flows of compound jobs with failing nodes, or with run times that differ from the estimates. The seeds are
//! fixed.

use makespan::{Deviation, FailureModel, Silent, Simulated, SimulationInput, SimulationOptions, simulate};
use makespan_core::{Actual, Instance};
use makespan_generate::{GraphOptions, Law, Shape, generate_graphs};

/// Generates the same flow as `generate graphs --jobs 30 --tasks 12 --gap GAP --deadline 2 --seed SEED`.
fn flow(gap: f64, seed: u64) -> Instance {
    let options = GraphOptions {
        shape: Shape::Layers { width: 8, density: 0.3 },
        tasks: 12,
        jobs: 30,
        volume: (10.0, 100.0),
        data: (1_000_000, 20_000_000),
        parallel: 1,
        law: Law::Downey,
        processors: 8,
        cores: 1,
        fastest: 3.0,
        bandwidth: 1e6,
        gap: Some(gap),
        deadline: Some(2.0),
        seed,
    };
    generate_graphs(&options).unwrap()
}

fn play(instance: &Instance, actual: &Actual, options: &SimulationOptions, spec: &str) -> Simulated {
    let scene = SimulationInput { instance, actual, options, seed: 1 };
    simulate(&scene, spec, &mut Silent).unwrap()
}

fn in_time(simulated: &Simulated) -> usize {
    simulated.compound.as_ref().unwrap().flow.in_time
}

/// Returns `true` if every task succeeded.
fn all_ended(simulated: &Simulated, instance: &Instance) -> bool {
    simulated.simulation.trace.all_succeeded(instance)
}

#[test]
fn the_metascheduler_serves_more_jobs_in_time_than_heft_when_nodes_fail() {
    check_failures(&[100.0], 4);
}

#[test]
#[ignore = "long: it simulates twelve flows"]
fn the_metascheduler_serves_more_jobs_of_many_flows_in_time_when_nodes_fail() {
    check_failures(&[300.0, 200.0, 100.0], 4);
}

#[test]
fn the_metascheduler_serves_no_fewer_jobs_in_time_than_heft_when_times_deviate() {
    check_deviations(&[100.0], 1);
}

#[test]
#[ignore = "long: it simulates six flows"]
fn the_metascheduler_serves_no_fewer_jobs_of_many_flows_in_time_when_times_deviate() {
    check_deviations(&[300.0, 100.0], 3);
}

/// Compares sums over all flows, because in a single flow, a difference of one late job may be chance.
fn check_failures(gaps: &[f64], seeds: u64) {
    let mut sums = [0; 2];
    for &gap in gaps {
        for seed in 1..=seeds {
            let instance = flow(gap, seed);
            let model = FailureModel::parse("mtbf=1000s,mttr=60s", seed).unwrap();
            let options = SimulationOptions { failure_model: Some(model), ..SimulationOptions::default() };
            for (spec, sum) in ["follow", "job-flow"].iter().zip(&mut sums) {
                let simulated = play(&instance, &Actual::AsEstimated, &options, spec);
                assert!(all_ended(&simulated, &instance), "{spec}, gap {gap}, seed {seed}");
                *sum += in_time(&simulated);
            }
        }
    }
    assert!(sums[1] > sums[0], "{sums:?}");
}

fn check_deviations(gaps: &[f64], seeds: u64) {
    let mut sums = (0, 0);
    for &gap in gaps {
        for seed in 1..=seeds {
            let instance = flow(gap, seed);
            let actual = Deviation::new(0.3, seed).unwrap().draw(instance.tasks() as usize);
            let [heft, ours] = ["follow", "job-flow"].map(|spec| {
                let simulated = play(&instance, &actual, &SimulationOptions::default(), spec);
                assert!(all_ended(&simulated, &instance), "{spec}, gap {gap}, seed {seed}");
                // Check that each run time in the trace is the actual (random) run time.
                for run in &simulated.simulation.trace.runs {
                    assert_eq!(run.end - run.start, actual.time(&instance, run.task, &run.processors), "{spec}");
                }
                let again = play(&instance, &actual, &SimulationOptions::default(), spec);
                assert_eq!(again.simulation.trace, simulated.simulation.trace, "{spec}");
                in_time(&simulated)
            });
            sums = (sums.0 + heft, sums.1 + ours);
        }
    }
    assert!(sums.1 >= sums.0, "{sums:?}");
}
