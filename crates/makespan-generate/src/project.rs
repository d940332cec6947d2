//! Projects of activities with precedence constraints and shared resources.
//!
//! Source: R. Kolisch, A. Sprecher and A. Drexl, "Characterization and generation of a general class of
//! resource-constrained project scheduling problems", Management Science 41(10), 1995, DOI 10.1287/mnsc.41.10.1693.
//! Three parameters determine the difficulty of a project:
//!
//! * *Network complexity* is the number of non-redundant edges divided by the number of activities. In both numbers,
//!   the start and the end of the project are included as activities.
//! * *Resource factor* is the number of resources that an activity needs, on average, divided by the number of all
//!   resources.
//! * *Resource strength* is the available amount of a resource, on a scale from 0 to 1. At strength 0, the amount is
//!   the smallest one for which the project is feasible. At strength 1, the amount is so large that no activity waits
//!   for the resource.
//!
//! The numbers of predecessors and successors, and the ranges of durations and needs, are as in the library PSPLIB.
//! Durations and needs are from 1 to 10. Three activities have no predecessors, and three have no successors. No
//! activity has more than three predecessors or more than three successors. The random values are drawn in an order of
//! our own, so that the generator does not reproduce the instances of PSPLIB.

mod network;
#[cfg(test)]
mod tests;

use makespan_core::{Edge, Graph, Instance, Job, NamedTask, Need, Needs, Payload, Platform, Profile, Resources, Time};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::GenerateError;
use network::Network;

/// Maximum number of activities of a project.
const MOST: usize = 1000;
/// Maximum duration of an activity in periods, and maximum amount of each resource that an activity needs.
const LONGEST: u64 = 10;

/// Options for a project, which becomes one compound job. A mode is one of several ways to execute an activity. An
/// activity in its `k`-th mode occupies `k` processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProjectOptions {
    /// Number of activities, not counting the start and the end of the project.
    pub activities: usize,
    /// Number of modes of each activity, from 1 to 10. The modes of an activity have distinct durations, and a faster
    /// mode needs at least as much of each resource as a slower mode.
    pub modes: usize,
    /// Number of renewable resources. An activity occupies a renewable resource while the activity runs.
    pub renewable: usize,
    /// Number of nonrenewable resources, which activities use up and do not return.
    pub nonrenewable: usize,
    /// Network complexity, from 1 to 3: the average number of edges for each activity.
    pub complexity: f64,
    /// Resource factor, from 0 to 1: the average fraction of the resources that an activity needs.
    pub factor: f64,
    /// Resource strength: the available amount of each resource, on a scale from 0 (the minimum for a feasible project)
    /// to 1 (so much that no activity waits for the resource).
    pub strength: f64,
    /// Seed; the same seed gives the same instance.
    pub seed: u64,
}

impl Default for ProjectOptions {
    /// Returns options for 30 activities with one mode each and for four renewable resources. The resource factor and
    /// the resource strength are 0.5.
    fn default() -> Self {
        Self {
            activities: 30,
            modes: 1,
            renewable: 4,
            nonrenewable: 0,
            complexity: 1.5,
            factor: 0.5,
            strength: 0.5,
            seed: 1,
        }
    }
}

/// An activity. Each mode has a shorter duration than the previous mode, and needs at least as much of each resource.
struct Activity {
    durations: Vec<u64>,
    /// For each resource, the amount that the activity needs in each mode.
    needs: Vec<Vec<u64>>,
}

/// Generates a project.
///
/// # Errors
/// [`GenerateError`] if an option is out of its range.
pub fn project(options: &ProjectOptions) -> Result<Instance, GenerateError> {
    check(options)?;
    let mut random = ChaCha8Rng::seed_from_u64(options.seed);
    let network = Network::draw(options.activities, options.complexity, &mut random);
    let activities = activities(options, &mut random);
    let amounts = amounts(options, &network, &activities);
    let refused = |error: String| GenerateError::Option {
        name: "project",
        value: error,
        expected: "no valid project was drawn, which is a defect of Makespan; please report it",
    };
    let graph = graph(options, &network, &activities).map_err(refused)?;
    let platform = platform(options, &amounts).map_err(refused)?;
    Ok(Instance::new(platform, vec![Job::compound("project", graph)], Vec::new())?)
}

fn check(options: &ProjectOptions) -> Result<(), GenerateError> {
    let wrong = |name, value: String, expected| Err(GenerateError::Option { name, value, expected });
    let ProjectOptions { activities, modes, renewable, nonrenewable, complexity, factor, strength, .. } = *options;
    if activities == 0 || activities > MOST {
        return wrong("activities", activities.to_string(), "it must be from 1 to 1000");
    }
    if modes == 0 || modes as u64 > LONGEST {
        return wrong(
            "modes",
            modes.to_string(),
            "it must be from 1 to 10, because the modes have distinct durations from 1 to 10",
        );
    }
    if renewable + nonrenewable > 100 {
        let expected = "there may be at most 100 renewable and nonrenewable resources together";
        return wrong("number of resources", (renewable + nonrenewable).to_string(), expected);
    }
    if !(1.0..=3.0).contains(&complexity) {
        return wrong("complexity", complexity.to_string(), "it must be from 1 to 3; PSPLIB uses 1.5, 1.8 and 2.1");
    }
    for (name, share) in [("factor", factor), ("strength", strength)] {
        if !(0.0..=1.0).contains(&share) {
            return wrong(name, share.to_string(), "it must be from 0 to 1");
        }
    }
    Ok(())
}

fn activities(options: &ProjectOptions, random: &mut ChaCha8Rng) -> Vec<Activity> {
    let resources = options.renewable + options.nonrenewable;
    // The resource factor is the fraction of all pairs (activity, resource) in which the activity needs the resource.
    let pairs = options.activities * resources;
    let mut asks = vec![false; pairs];
    let mut order: Vec<usize> = (0..pairs).collect();
    for at in 0..(options.factor * pairs as f64).round() as usize {
        let other = random.random_range(at..pairs);
        order.swap(at, other);
        asks[order[at]] = true;
    }
    let mut draw = |own: &[bool]| {
        let mut durations: Vec<u64> = (1..=LONGEST).collect();
        for at in 0..options.modes {
            let other = random.random_range(at..durations.len());
            durations.swap(at, other);
        }
        durations.truncate(options.modes);
        durations.sort_unstable_by(|a, b| b.cmp(a));
        let mut amounts = |asked: bool| {
            let mut amounts: Vec<u64> = (0..options.modes).map(|_| random.random_range(1..=LONGEST)).collect();
            amounts.sort_unstable();
            if asked { amounts } else { vec![0; options.modes] }
        };
        Activity { durations, needs: own.iter().map(|&asked| amounts(asked)).collect() }
    };
    (0..options.activities).map(|at| draw(&asks[at * resources..(at + 1) * resources])).collect()
}

/// Returns the available amount of each resource. Renewable resources come first.
fn amounts(options: &ProjectOptions, network: &Network, activities: &[Activity]) -> Vec<u64> {
    let between =
        |(least, most): (u64, u64)| least + (options.strength * most.saturating_sub(least) as f64).round() as u64;
    let renewable = |at: usize| {
        // In its slowest mode (number 0), an activity needs the smallest amount of each resource.
        let least = activities.iter().map(|activity| activity.needs[at][0]).max().unwrap_or(0);
        (least, peak(network, activities, at).max(least))
    };
    let nonrenewable = |at: usize| {
        let sum = |mode: usize| activities.iter().map(|activity| activity.needs[at][mode]).sum();
        (sum(0), sum(options.modes - 1))
    };
    let used_up = options.renewable..options.renewable + options.nonrenewable;
    (0..options.renewable).map(renewable).chain(used_up.map(nonrenewable)).map(between).collect()
}

/// Returns the maximum use of a resource in the earliest schedule. In this schedule, each activity starts as early as
/// the edges allow, and runs in a mode with the largest need for the resource.
fn peak(network: &Network, activities: &[Activity], resource: usize) -> u64 {
    // If several modes need the largest amount, the activity runs in the slowest of these modes.
    let mode = |activity: &Activity| {
        activity.needs[resource].partition_point(|need| need < activity.needs[resource].last().unwrap_or(&0))
    };
    let mut starts = vec![0; activities.len()];
    let mut changes: Vec<(u64, i64)> = Vec::new();
    for (at, activity) in activities.iter().enumerate() {
        let duration = activity.durations[mode(activity)];
        let need = activity.needs[resource][mode(activity)] as i64;
        changes.extend([(starts[at], need), (starts[at] + duration, -need)]);
        for &to in &network.successors[at] {
            starts[to] = starts[to].max(starts[at] + duration);
        }
    }
    // At each instant, decreases come before increases: an amount that is released at an instant is available to
    // activities that start at this instant.
    changes.sort_unstable();
    let (mut held, mut most) = (0, 0);
    for (_, change) in changes {
        held += change;
        most = most.max(held);
    }
    most.unsigned_abs()
}

fn graph(options: &ProjectOptions, network: &Network, activities: &[Activity]) -> Result<Graph, String> {
    let names: Vec<String> = names(options).collect();
    let task = |(at, activity): (usize, &Activity)| {
        let times = activity.durations.iter().map(|&duration| Time::from_seconds(duration as i64)).collect();
        let profile = Profile::table(times).map_err(|error| error.to_string())?;
        let need = |(name, amounts): (&String, &Vec<u64>)| {
            let last = *amounts.last()?;
            let need = if amounts[0] == last { Need::whole(last) } else { Need::ByAllotment(amounts.clone().into()) };
            (last > 0).then(|| (name.clone(), need))
        };
        let needs = names.iter().zip(&activity.needs).filter_map(need);
        let mut task = NamedTask::new((at + 1).to_string(), profile);
        task.task.needs = Needs::new(needs).map_err(|error| error.to_string())?;
        Ok(task)
    };
    let tasks = activities.iter().enumerate().map(task).collect::<Result<Vec<NamedTask>, String>>()?;
    let edge = |(from, to): (usize, usize)| Edge { from: from as u32, to: to as u32, payload: Payload::Bytes(0) };
    Graph::new(tasks, network.edges().map(edge).collect()).map_err(|error| error.to_string())
}

/// Returns the names of the resources, renewable resources first.
fn names(options: &ProjectOptions) -> impl Iterator<Item = String> {
    let renewable = (1..=options.renewable).map(|number| format!("R{number}"));
    renewable.chain((1..=options.nonrenewable).map(|number| format!("N{number}")))
}

/// Returns a platform with enough processors to run all activities at the same time in any modes.
fn platform(options: &ProjectOptions, amounts: &[u64]) -> Result<Platform, String> {
    let stocks: Vec<(String, u64)> = names(options).zip(amounts.iter().copied()).collect();
    let (licences, consumables) = stocks.split_at(options.renewable);
    let resources = |stocks: &[(String, u64)]| Resources::new(stocks.to_vec()).map_err(|error| error.to_string());
    let (licences, consumables) = (resources(licences)?, resources(consumables)?);
    let platform = Platform::flat((options.activities * options.modes) as u32);
    let platform = platform.and_then(|platform| platform.with_licences(licences)?.with_consumables(consumables));
    platform.map_err(|error| error.to_string())
}
