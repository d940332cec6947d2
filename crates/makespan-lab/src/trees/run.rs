//! One instance: its bound, and every heuristic in every setting.

use std::fmt;

use makespan::TreeScene;
use makespan_algos::policy::tree::{Heuristic, data_centric_rates};
use makespan_bounds::tree::{Precision, Throughput, throughput};
use makespan_core::network::Network;
use makespan_core::tree::{TreeProblem, float_of};
use makespan_generate::{Latency, TreeOptions, generate_tree};
use makespan_sim::network::{NetworkOptions, Until};
use serde::{Deserialize, Serialize};

use super::{LatencyReading, Options, Reading};
use crate::LabError;
use crate::campaign::{failed, stirred};

/// Which instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// How what the paper leaves open is read.
    pub reading: Reading,
    /// How many nodes.
    pub nodes: usize,
    /// Most children of a node.
    pub degree: usize,
    /// Which tree, from 0. The same tree serves every ratio, and every reading.
    pub tree: u32,
    /// Largest ratio of communication to computation, in millionths of a byte an operation.
    pub ratio: u32,
}

/// How a heuristic is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// Buffers of ten tasks; the tasks of the options.
    Short,
    /// Buffers of ten tasks, ten times the tasks.
    Long,
    /// Buffers of a hundred tasks, ten times the tasks.
    Roomy,
}

/// What one instance gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which instance.
    pub key: Key,
    /// Seed that draws it again.
    pub instance_seed: u64,
    /// No schedule has a larger fair throughput in the long run: tasks a second, verified.
    pub bound: f64,
    /// What was measured, by setting and heuristic.
    pub outcomes: Vec<Outcome>,
}

/// What one heuristic made of the instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its spec.
    pub heuristic: String,
    /// How it was played.
    pub setting: Setting,
    /// Fair throughput measured.
    pub fair: f64,
    /// Fair throughput of the rates that the heuristic aims at, where it has some.
    pub theory: Option<f64>,
}

impl Run {
    /// The outcome of a heuristic.
    pub fn outcome(&self, name: &str, setting: Setting) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.heuristic == name && outcome.setting == setting)
    }
}

impl Outcome {
    /// By how much less than its theory was measured, relatively.
    pub fn deviation(&self) -> Option<f64> {
        self.theory.filter(|&theory| theory > 0.0).map(|theory| 1.0 - self.fair / theory)
    }
}

impl Setting {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Short, Self::Long, Self::Roomy];
}

/// `2 applications, bits, .., 50 nodes of degree 5, tree 0, largest ratio 0.25`.
impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reading, nodes, degree, tree, ratio } = self;
        let ratio = f64::from(*ratio) / 1e6;
        write!(f, "{reading}, {nodes} nodes of degree {degree}, tree {tree}, largest ratio {ratio}")
    }
}

/// Draws the instance, bounds its throughput and plays the heuristics: in every setting under the reading of the options, in
/// short runs under others. The bound is verified.
pub(super) fn execute(options: &Options, key: Key) -> Result<Run, LabError> {
    let seed = stirred(options.seed, [key.nodes as u64, key.degree as u64, u64::from(key.tree)]);
    let latency = key.reading.latency;
    let best = proved(&drawn(key, seed, options.tasks, latency.drawn())?, key)?;
    let best_without = match latency {
        LatencyReading::Unseen => Some(proved(&drawn(key, seed, options.tasks, Latency::None)?, key)?),
        LatencyReading::None | LatencyReading::Known | LatencyReading::Window => None,
    };
    let settings = if key.reading == options.reading { &Setting::ALL[..] } else { &[Setting::Short] };
    let mut outcomes = Vec::new();
    for &setting in settings {
        let tasks = if setting == Setting::Short { options.tasks } else { 10 * options.tasks };
        let problem = drawn(key, seed, tasks, latency.drawn())?;
        let scene = TreeScene::new(&problem, &best).map_err(|error| wrong(key, error.to_string()))?;
        let scene = match &best_without {
            Some(best) => scene.unaware_of_latency(best),
            None => scene,
        };
        for heuristic in Heuristic::ALL {
            outcomes.push(play(&scene, heuristic, setting, key)?);
        }
    }
    Ok(Run { key, instance_seed: seed, bound: float_of(&best.bound), outcomes })
}

fn wrong(key: Key, reason: String) -> LabError {
    LabError::Bound { bound: "throughput", instance: key.to_string(), reason }
}

fn drawn(key: Key, seed: u64, tasks: u64, latency: Latency) -> Result<TreeProblem, LabError> {
    let Reading { applications, unit, data, .. } = key.reading;
    let largest_ratio = f64::from(key.ratio) / 1e6;
    let Key { nodes, degree, .. } = key;
    let options = TreeOptions { nodes, degree, applications, largest_ratio, tasks, unit, latency, data, seed };
    TreeProblem::new(&generate_tree(&options)?).map_err(|error| wrong(key, error.to_string()))
}

/// The best steady state, whose bound is verified.
fn proved(problem: &TreeProblem, key: Key) -> Result<Throughput, LabError> {
    let best = throughput(problem, Precision::Float);
    let proved = best.prices.proves(problem).map_err(|error| wrong(key, error.to_string()))?;
    if proved != best.bound || float_of(&best.bound) > float_of(&best.value) * (1.0 + 1e-6) {
        let reason = format!("it proves {}, and {} is feasible", float_of(&proved), float_of(&best.value));
        return Err(wrong(key, reason));
    }
    Ok(best)
}

fn play(scene: &TreeScene, heuristic: Heuristic, setting: Setting, key: Key) -> Result<Outcome, LabError> {
    let buffer = if setting == Setting::Roomy { 100 } else { 10 };
    let options = NetworkOptions { buffer, until: Until::FirstApplication, ..NetworkOptions::default() };
    let failed = |reason: String| failed(&heuristic.to_string(), key, reason);
    let played = scene.play(heuristic, &options).map_err(|error| failed(error.to_string()))?;
    if played.run.stalled {
        return Err(failed("tasks were left and nothing happened any more".into()));
    }
    let theory = match heuristic {
        Heuristic::Lp => Some(scene.rates.fair(&scene.network)),
        Heuristic::DataCentric { waves } => Some(traded(scene.believed(), waves).fair(scene.believed())),
        // All kinds but the macro-task itself are what is left at the end.
        Heuristic::Cgbc => {
            let joined = scene.believed().with_kinds(played.network.kinds()[..1].to_vec());
            let joined = joined.map_err(|error| failed(error.to_string()))?;
            let (rate, kind) = (traded(&joined, 0).throughput(1)[0], &joined.kinds()[0]);
            let tasks =
                kind.tasks.iter().map(|&(application, count)| rate * f64::from(count) / scene.weights[application]);
            Some(tasks.fold(f64::INFINITY, f64::min))
        }
        Heuristic::BackPressure => Some(scene.bound),
        Heuristic::Fcfs | Heuristic::Pbc => None,
    };
    Ok(Outcome { heuristic: heuristic.name().to_owned(), setting, fair: played.fair(), theory })
}

/// The rates of DATA-CENTRIC; without waves, the bandwidth-centric ones.
fn traded(network: &Network, waves: usize) -> makespan_algos::policy::tree::NodeRates {
    let (bandwidth, speed): (Vec<f64>, Vec<f64>) =
        network.nodes().iter().map(|node| (node.bandwidth, node.speed)).unzip();
    data_centric_rates(network, &bandwidth, &speed, waves)
}
