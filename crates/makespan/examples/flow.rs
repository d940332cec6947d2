//! Compares three policies for a flow of tasks that keep arriving, on nodes that differ in speed. The policies run in
//! simulations.
//!
//!     cargo run --release -p makespan --example flow

use std::error::Error;

use makespan::{Deviation, Instance, Job, Node, Platform, Profile, SimulationInput, Time};

/// Runs the example.
pub fn main() -> Result<(), Box<dyn Error>> {
    let node = |at: usize, speed| Node { speed, ..Node::new(format!("n{at}"), 1) };
    let platform =
        Platform::new([1.0, 1.0, 2.0, 4.0].into_iter().enumerate().map(|(at, speed)| node(at, speed)).collect())?;
    // A task arrives every second, and takes from 5 to 11 s on a node of speed 1.
    let task = |at: i64| {
        let profile = Profile::rigid(1, Time::from_seconds(5 + at * 5 % 7))?;
        Ok(Job::new(format!("task-{at}"), profile).with_release(Time::from_seconds(at)))
    };
    let instance = Instance::new(platform, (0..200).map(task).collect::<Result<_, Box<dyn Error>>>()?, vec![])?;

    // The estimates are inexact: the real time of each task is its estimate multiplied by a random factor of standard
    // deviation 0.2.
    let actual = Deviation::new(0.2, 1)?.draw(instance.tasks() as usize);
    let scene = SimulationInput { actual: &actual, ..SimulationInput::new(&instance) };
    for policy in ["fcfs", "flow", "ptfs"] {
        let simulated = makespan::simulate(&scene, policy, &mut makespan::Silent)?;
        let flow = simulated.task_flow.ok_or("a flow of tasks has measures of its flow")?;
        let (measures, gap) = (&simulated.measures, 100.0 * flow.gap());
        println!("{policy}: mean flow {:.2} s, {gap:.1} % over the bound on the makespan", measures.flow.mean);
    }
    Ok(())
}
