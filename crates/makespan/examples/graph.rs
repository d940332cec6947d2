//! Plans a graph of tasks by two algorithms, then proves bounds and simulates the plans. The machines differ in speed,
//! and the tasks send data to each other.
//!
//!     cargo run --release -p makespan --example graph

use std::error::Error;

use makespan::{
    Edge, Graph, Instance, Job, Link, NamedTask, Node, Objective, Payload, Planner, Platform, Profile, SimulationInput,
    Time,
};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    // The platform has two slow nodes and a fast node. A transfer of 10 MB between two nodes takes a second.
    let link = Link { bandwidth: 1e7, latency: Time::ZERO };
    let node = |name: &str, processors, speed| Node { speed, ..Node::new(name, processors) };
    let nodes = vec![node("old-0", 2, 1.0), node("old-1", 2, 1.0), node("new", 1, 3.0)];
    let platform = Platform::new(nodes)?.with_interconnect(link)?;

    let task = |name: &str, seconds| Ok(NamedTask::new(name, Profile::rigid(1, Time::from_seconds(seconds))?));
    let tasks = [("read", 10), ("left", 60), ("right", 45), ("join", 20)];
    let tasks = tasks.into_iter().map(|(name, seconds)| task(name, seconds)).collect::<Result<_, Box<dyn Error>>>()?;
    let megabytes = |from, to, count: u64| Edge { from, to, payload: Payload::Bytes(1_000_000 * count) };
    let edges = vec![megabytes(0, 1, 50), megabytes(0, 2, 20), megabytes(1, 3, 5), megabytes(2, 3, 5)];
    let job = Job::compound("survey", Graph::new(tasks, edges)?);
    let instance = Instance::new(platform, vec![job], vec![])?;

    for algorithm in ["heft", "optimise[steps=500]"] {
        let planned = Planner::new().algorithm(algorithm).plan(&instance)?;
        let ratio = planned.ratio(&instance, Objective::Makespan).ok_or("the makespan has a bound")?;
        println!("{}: at most {ratio:.3} times the shortest makespan", planned.algorithm);
        for placement in planned.schedule().iter().flat_map(|schedule| schedule.placements()) {
            println!("  {} on {} from {} s", instance.name(placement.task), placement.processors, placement.start);
        }
    }
    let simulated =
        makespan::simulate(&SimulationInput::new(&instance), "follow[scheduler=heft]", &mut makespan::Silent)?;
    println!("in a simulation that follows this plan, the last task ends at {} s", simulated.measures.makespan);
    Ok(())
}
