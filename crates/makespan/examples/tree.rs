//! Plans bags of tasks on a tree of machines. Computes the optimal steady state with its proof, and compares it with a
//! decentralised heuristic.
//!
//!     cargo run --release -p makespan --example tree

use std::error::Error;

use makespan::policy::tree::Heuristic;
use makespan::tree::TreeProblem;
use makespan::{
    EndCondition, Instance, Job, Link, NetworkOptions, Node, Objective, Plan, Platform, Profile, Time, TreeScene,
};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // The root has all data. Each node can compute and, at the same time, send to one child at a time.
    let node = |name: &str, speed, parent: Option<usize>, megabytes: f64| {
        let link = parent.map(|_| Link { bandwidth: 1e6 * megabytes, latency: Time::ZERO });
        Node { speed, parent, link, ..Node::new(name, 1) }
    };
    let nodes = vec![node("root", 1.0, None, 0.0), node("near", 2.0, Some(0), 8.0), node("far", 8.0, Some(1), 2.0)];
    let bag = |name: &str, seconds, megabytes: u64| {
        let profile = Profile::rigid(1, Time::from_seconds(seconds))?;
        Ok(Job::new(name, profile).with_count(10_000.try_into()?).with_data(1_000_000 * megabytes))
    };
    let bags = [("images", 4, 2), ("models", 10, 1)];
    let bags = bags.into_iter().map(|(name, seconds, megabytes)| bag(name, seconds, megabytes));
    let instance = Instance::new(Platform::new(nodes)?, bags.collect::<Result<_, Box<dyn Error>>>()?, vec![])?;

    let planned = makespan::plan(&instance)?;
    let Plan::Periodic(state) = &planned.plan else { return Err("bags on a tree are planned as rates".into()) };
    println!("in the steady state, each bag completes {} tasks per second", state.throughput);
    let bound = planned.bounds.first().ok_or("the throughput has a bound")?;
    bound.verify(&instance)?;
    println!(
        "a higher throughput is impossible; proven upper bound on the {}: {}",
        bound.objective,
        bound.value.decimal(Objective::Throughput)
    );

    let scene = TreeScene::of(&TreeProblem::new(&instance)?)?;
    let options = NetworkOptions { until: EndCondition::FirstApplication, ..NetworkOptions::default() };
    let run = scene.play(Heuristic::BackPressure, &options)?;
    let measured = run.measured.ok_or("a run of twenty thousand tasks is long enough to be measured")?;
    println!("nodes that decide for themselves reach {:.1} % of this throughput", 100.0 * measured.fair / scene.bound);
    Ok(())
}
