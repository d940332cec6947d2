//! Bags of tasks on trees: compares decentralised heuristics with the best steady state.
//!
//! O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus distributed
//! schedulers for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 5.
//!
//! The trees have 5 to 100 nodes with at most 2, 5 or 15 children. Each application has 200 tasks, and a random ratio
//! of communication to computation, up to the largest ratio of the instance. The campaign simulates every heuristic of
//! the paper, and back-pressure. It compares the measured fair throughput with a proved bound on the throughput in the
//! long run.
//!
//! The paper does not state the values of some parameters. A [`PaperReading`] is one interpretation of the paper: a
//! choice of these values. For the interpretation that the user selects, the campaign runs simulations in every
//! [`Setting`]. For other interpretations, it runs only short simulations. For each interpretation, the statements of
//! section 5.2 are tested.

mod claims;
mod figures;
mod points;
mod reading;
mod report;
mod statements;

use std::fmt;

use clap::Args;
use makespan::TreeScene;
use makespan_algos::policy::tree::{Heuristic, NodeRates, data_centric_rates};
use makespan_bounds::tree::{Precision, Throughput, throughput};
use makespan_core::network::Network;
use makespan_core::tree::{TreeProblem, float_of};
use makespan_generate::{Latency, TreeOptions, generate_tree};
use makespan_sim::network::{EndCondition, NetworkOptions};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{self, Campaign, CampaignReport, failed, positive, refuse, stirred};
use reading::{LatencyReading, PaperReading};
use statements::Evidence;

/// The largest ratios of communication to computation for which the campaign generates instances, in millionths of a
/// byte per operation. The first value is near the paper's smallest ratio, and the last value is the paper's largest
/// ratio.
const RATIOS: [u32; 6] = [2_000, 10_000, 50_000, 250_000, 1_000_000, 4_600_000];
/// The numbers of nodes of the trees.
const NODES: [usize; 5] = [5, 10, 20, 50, 100];
/// The limits on the number of children of a node. Each limit applies to a third of the trees.
const DEGREES: [usize; 3] = [2, 5, 15];

/// The options of the campaign. By default, the campaign has 150 trees, six ranges of ratios, and all interpretations
/// of the paper.
#[derive(Args, Clone, Debug)]
pub struct TreeCampaignOptions {
    /// Number of trees for each of 15 shapes; the paper has 10 for each
    #[arg(long, default_value_t = 10)]
    pub trees: u32,
    /// Number of tasks of each application; the long runs have ten times as many
    #[arg(long, default_value_t = 200)]
    pub tasks: u64,
    /// The values that the paper does not print.
    #[command(flatten)]
    pub reading: PaperReading,
    /// Simulate only the values that these options choose; do not compare them with other values in short runs
    #[arg(long)]
    pub alone: bool,
    /// Number of threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// The same seed gives the same results
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl TreeCampaignOptions {
    /// Returns the interpretations of the paper for which simulations run. The interpretation that the user selected is
    /// the first.
    fn readings(&self) -> Vec<PaperReading> {
        let others = PaperReading::grid().into_iter().filter(|&reading| !self.alone && reading != self.reading);
        std::iter::once(self.reading).chain(others).collect()
    }
}

/// The parameters of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TreeKey {
    pub reading: PaperReading,
    pub nodes: usize,
    /// The largest number of children of a node.
    pub degree: usize,
    /// The number of the tree, from 0. The tree does not depend on `ratio` and `reading`.
    pub tree: u32,
    /// The largest ratio of communication to computation, in millionths of a byte per operation.
    pub ratio: u32,
}

/// The buffers and the number of tasks of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Setting {
    /// Buffers of ten tasks, and the number of tasks from the options.
    Short,
    /// Buffers of ten tasks, and ten times the number of tasks from the options.
    Long,
    /// Buffers of a hundred tasks, and ten times the number of tasks from the options.
    Roomy,
}

/// A run. Its `facts` field is a verified upper bound on the fair throughput of every schedule in the long run, in
/// tasks per second. Each outcome is the result of one heuristic in one setting.
type Run = campaign::GridRun<TreeKey, f64, TreeOutcome>;

/// The result of one heuristic in one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeOutcome {
    setting: Setting,
    /// The measured fair throughput.
    fair: f64,
    /// The theoretical fair throughput: the fair throughput of the heuristic's target rates. `None` if the heuristic
    /// has no target rates.
    theory: Option<f64>,
}

/// Returns the outcome of a heuristic in a setting.
fn outcome<'a>(run: &'a Run, name: &str, setting: Setting) -> Option<&'a TreeOutcome> {
    let own = run.outcomes.iter().find(|(heuristic, outcome)| heuristic == name && outcome.setting == setting);
    own.map(|(_, outcome)| outcome)
}

impl TreeOutcome {
    /// Returns the fraction by which the measured throughput is below the theoretical throughput.
    pub fn deviation(&self) -> Option<f64> {
        self.theory.filter(|&theory| theory > 0.0).map(|theory| 1.0 - self.fair / theory)
    }
}

impl Setting {
    const ALL: [Self; 3] = [Self::Short, Self::Long, Self::Roomy];
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// Formats a key such as `2 applications, bits, .., 50 nodes of degree 5, tree 0, largest ratio 0.25`.
impl fmt::Display for TreeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reading, nodes, degree, tree, ratio } = self;
        let ratio = f64::from(*ratio) / 1e6;
        write!(f, "{reading}, {nodes} nodes of degree {degree}, tree {tree}, largest ratio {ratio}")
    }
}

/// Writes `results.csv`, `summary.csv` and the figures `figure2-*.svg` and `figure3-*.svg`.
impl Campaign for TreeCampaignOptions {
    const NAME: &'static str = "trees";
    const PAPER: &'static str = "Beaumont, Carter, Ferrante, Legrand, Marchal, Robert: schedulers for bags of tasks on trees \
                                 (IPDPS 2006)";
    const UNIT: &'static str = "instances";
    type Run = Run;

    fn check(&self) -> Result<(), LabError> {
        let PaperReading { applications, data, .. } = self.reading;
        positive(&[("applications", applications), ("data", data as usize), ("trees", self.trees as usize)])?;
        if !(10..=1_000_000).contains(&self.tasks) {
            refuse("tasks", self.tasks.to_string(), "give a number from 10 to 1000000")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        format!("seed {}; {} tasks; in full: {}", self.seed, self.tasks, self.reading)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<TreeKey> {
        let mut keys = Vec::new();
        for reading in self.readings() {
            for nodes in NODES.into_iter().rev() {
                for degree in DEGREES {
                    let trees = (0..self.trees).flat_map(|tree| RATIOS.map(|ratio| (tree, ratio)));
                    keys.extend(trees.map(|(tree, ratio)| TreeKey { reading, nodes, degree, tree, ratio }));
                }
            }
        }
        keys
    }

    /// Generates the instance, proves a bound on its throughput, verifies the bound, and simulates the heuristics. If
    /// the key has the interpretation of the paper that the user selected, the heuristics are simulated in every
    /// setting. Otherwise, they are simulated only in short runs.
    fn measure(&self, key: TreeKey) -> Result<Run, LabError> {
        let seed = stirred(self.seed, [key.nodes as u64, key.degree as u64, u64::from(key.tree)]);
        let latency = key.reading.latency;
        let best = proved(&drawn(key, seed, self.tasks, latency.drawn())?, key)?;
        let best_without = match latency {
            LatencyReading::Unseen => Some(proved(&drawn(key, seed, self.tasks, Latency::None)?, key)?),
            LatencyReading::None | LatencyReading::Known | LatencyReading::Window => None,
        };
        let settings = if key.reading == self.reading { &Setting::ALL[..] } else { &[Setting::Short] };
        let mut outcomes = Vec::new();
        for &setting in settings {
            let tasks = if setting == Setting::Short { self.tasks } else { 10 * self.tasks };
            let problem = drawn(key, seed, tasks, latency.drawn())?;
            let scene = TreeScene::new(&problem, &best).map_err(|error| wrong(key, error.to_string()))?;
            let scene = match &best_without {
                Some(best) => scene.unaware_of_latency(best),
                None => scene,
            };
            for heuristic in Heuristic::ALL {
                outcomes.push((heuristic.name().to_owned(), play(&scene, heuristic, setting, key)?));
            }
        }
        Ok(Run { key, seed, facts: float_of(&best.bound), outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let points = points::points(runs);
        let readings = self.readings().into_iter();
        let evidence: Vec<_> = readings.map(|reading| Evidence::new(reading, runs, &points)).collect();
        let claims = evidence.first().map(claims::all).unwrap_or_default();
        let text = report::text(self, &evidence);
        let mut files = figures::all(self, runs)?;
        files.extend([points::results(runs), points::summary(&points)]);
        Ok(CampaignReport { text, claims, files })
    }
}

fn wrong(key: TreeKey, reason: String) -> LabError {
    LabError::Bound { bound: "throughput", instance: key.to_string(), reason }
}

fn drawn(key: TreeKey, seed: u64, tasks: u64, latency: Latency) -> Result<TreeProblem, LabError> {
    let PaperReading { applications, unit, data, .. } = key.reading;
    let largest_ratio = f64::from(key.ratio) / 1e6;
    let TreeKey { nodes, degree, .. } = key;
    let options = TreeOptions { nodes, degree, applications, largest_ratio, tasks, unit, latency, data, seed };
    TreeProblem::new(&generate_tree(&options)?).map_err(|error| wrong(key, error.to_string()))
}

/// Returns the best steady state, and verifies its bound.
fn proved(problem: &TreeProblem, key: TreeKey) -> Result<Throughput, LabError> {
    let best = throughput(problem, Precision::Float);
    let proved = best.prices.fair_throughput(problem).map_err(|error| wrong(key, error.to_string()))?;
    if proved != best.bound || float_of(&best.bound) > float_of(&best.value) * (1.0 + 1e-6) {
        let reason = format!("it proves {}, and {} is feasible", float_of(&proved), float_of(&best.value));
        return Err(wrong(key, reason));
    }
    Ok(best)
}

fn play(scene: &TreeScene, heuristic: Heuristic, setting: Setting, key: TreeKey) -> Result<TreeOutcome, LabError> {
    let buffer = if setting == Setting::Roomy { 100 } else { 10 };
    let options = NetworkOptions { buffer, until: EndCondition::FirstApplication, ..NetworkOptions::default() };
    let failed = |reason: String| failed(&heuristic.to_string(), key, reason);
    let played = scene.play(heuristic, &options).map_err(|error| failed(error.to_string()))?;
    if played.run.stalled {
        return Err(failed("tasks remain, but the policies of the nodes start no more of them".into()));
    }
    let theory = match heuristic {
        Heuristic::Lp => Some(scene.rates.fair(&scene.network)),
        Heuristic::DataCentric { waves } => Some(traded(scene.believed(), waves).fair(scene.believed())),
        // The first kind is the macro-task, and all other kinds are single tasks, which CGBC sends when some
        // application has too few tasks left for a macro-task. The theoretical throughput uses only macro-tasks.
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
    Ok(TreeOutcome { setting, fair: played.fair(), theory })
}

/// Returns the target rates of DATA-CENTRIC. With `waves` = 0, these are the bandwidth-centric rates.
fn traded(network: &Network, waves: usize) -> NodeRates {
    let (bandwidth, speed): (Vec<f64>, Vec<f64>) =
        network.nodes().iter().map(|node| (node.bandwidth, node.speed)).unzip();
    data_centric_rates(network, &bandwidth, &speed, waves)
}

#[cfg(test)]
mod tests;
