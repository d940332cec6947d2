//! Compares schedules on trees with latencies with the proven throughput bound.

use std::num::NonZeroU64;

use makespan_bounds::tree::{Precision, throughput};
use makespan_core::tree::{TreeProblem, float_of};
use makespan_core::{Instance, Job, Link, Node, Platform, Profile, Time, Weight};
use makespan_sim::network::{MeasuredThroughput, NetworkOptions, NetworkRun, Silent, simulate};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

/// Returns a random tree of two to seven nodes, and two applications. Latencies are up to 2 s, about as long as the
/// transfer of the bytes.
fn drawn(seed: u64, tasks: u64) -> TreeProblem {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let nodes = stream.random_range(2..8);
    let node = |at: usize| {
        let parent = (at > 0).then(|| stream.random_range(0..at));
        let (bandwidth, latency) = (stream.random_range(1.0..20.0_f64), stream.random_range(0..2_000_000_000));
        let latency = if stream.random_range(0..4) == 0 { 0 } else { latency };
        let link = parent.map(|_| Link { bandwidth: bandwidth.round(), latency: Time::from_ticks(latency) });
        let processors = if at == 0 { 1 } else { stream.random_range(0..3) };
        Node { speed: stream.random_range(1..5).into(), parent, link, ..Node::new(at.to_string(), processors) }
    };
    let nodes: Vec<Node> = (0..nodes).map(node).collect();
    let job = |at: u64| {
        let work = Time::from_seconds(stream.random_range(1..20));
        let weight = stream.random_range(1..3);
        let job = Job::new(at.to_string(), Profile::rigid(1, work).unwrap()).with_data(stream.random_range(0..12));
        let job = job.with_weight(Weight::from_millionths(weight * 1_000_000).unwrap());
        job.with_count(NonZeroU64::new(weight * tasks).unwrap())
    };
    let jobs = (0..2).map(job).collect();
    TreeProblem::new(&Instance::new(Platform::new(nodes).unwrap(), jobs, vec![]).unwrap()).unwrap()
}

/// Returns a run, its measured throughput, and the proven bound.
fn beside_the_bound(problem: &TreeProblem, heuristic: Heuristic, buffer: u32) -> (NetworkRun, MeasuredThroughput, f64) {
    let best = throughput(problem, Precision::Float);
    let network = Network::of(problem).unwrap();
    let rates = NodeRates::from_origin(&network, &best.floats());
    let mut setup = heuristic.setup(&network, buffer, Some(&rates)).unwrap();
    let options = NetworkOptions { buffer: setup.buffer, lanes: setup.lanes, ..NetworkOptions::default() };
    let run = simulate(&setup.network, &mut setup.policies, &options, &mut Silent).unwrap();
    assert_eq!((run.unfinished(), run.stalled), (0, false), "{heuristic}");
    let weights: Vec<f64> = network.kinds().iter().map(|kind| kind.weight).collect();
    let measured = run.measured(&weights, 0.1).unwrap();
    (run, measured, float_of(&best.bound))
}

/// At the beginning, all buffers are empty. So from the beginning to any instant, no schedule completes more tasks
/// than the bound allows. In a later part of a run, a schedule may also complete tasks that were in buffers at the
/// beginning of this part.
#[test]
fn no_schedule_on_a_tree_with_latencies_passes_the_proved_bound() {
    for seed in 0..60 {
        let problem = drawn(seed, 150);
        for heuristic in Heuristic::ALL {
            let (run, measured, bound) = beside_the_bound(&problem, heuristic, 10);
            let weights: Vec<f64> = problem.applications().iter().map(|app| float_of(&app.weight)).collect();
            for at in run.completions.iter().flatten() {
                let done = |of: &Vec<Time>| of.partition_point(|done| done <= at) as f64;
                let each = run.completions.iter().zip(&weights).map(|(of, weight)| done(of) / weight);
                let fair = each.fold(f64::INFINITY, f64::min) / at.seconds();
                assert!(fair <= bound * (1.0 + 1e-9), "seed {seed}: {heuristic} does {fair} by {at}; proved {bound}");
            }
            let lanes = if heuristic == Heuristic::Pbc { 2.0 } else { 1.0 };
            let held: f64 = problem.nodes().iter().map(|node| lanes * 11.0 + f64::from(node.processors)).sum();
            let window = 0.8 * measured.first_done.seconds();
            assert!(measured.fair <= bound * (1.0 + 1e-9) + held / window, "seed {seed}: {heuristic}");
        }
    }
}

/// Checks that the bound is nearly reached, because the linear programme takes latency into account.
#[test]
fn lp_reaches_the_proved_bound_on_long_runs_with_latencies() {
    let mut logarithms = 0.0;
    for seed in 0..40 {
        let (_, measured, bound) = beside_the_bound(&drawn(seed, 3000), Heuristic::Lp, 100);
        let reached = measured.fair / bound;
        assert!((0.85..1.03).contains(&reached), "seed {seed}: {reached}");
        logarithms += reached.ln();
    }
    let mean = (logarithms / 40.0_f64).exp();
    assert!(mean > 0.97, "{mean}");
}
