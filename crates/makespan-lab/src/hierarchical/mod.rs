//! Clusters of SMPs (nodes of several processors): compares the paper's algorithm with general algorithms, checks the
//! guarantee of the paper's algorithm, and draws the paper's figures.
//!
//! The paper is P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks" (SPAA 2001, pages
//! 199-208, HAL inria-00001082). The paper has no experiments, so the experiments are ours. The platforms have m SMPs
//! of k processors, and each job runs in a best placement. There are two kinds of random jobs: jobs of the families of
//! `makespan generate`, and adversarial jobs. The campaign compares makespans with verified bounds.
//!
//! The paper's algorithm guesses the makespan. If its construction accepts a guess, the campaign checks the guarantee
//! (2 - 2/k, or 3/2 for k = 2). If the construction refutes a guess, the campaign verifies the certificate. The figures
//! that show the construction are drawn from real plans.

mod claims;
mod constructions;
mod guesses;
mod population;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use clap::{Args, Command};
use makespan_algos::kernel::hierarchical::Cluster;
use makespan_core::{Instance, Objective};
use serde::{Deserialize, Serialize};

use crate::LabError;
use crate::campaign::{
    self, Campaign, CampaignReport, SearchOptions, at_least, cells, failed, positive, refuse, scheduled, stirred,
    verified,
};
use crate::statistics::{mean, range};
use guesses::{Guesses, attempt};
use population::Population;

/// The spec of the paper's algorithm.
const SHELVES: &str = "shelves";

/// The options of the campaign.
#[derive(Args, Clone, Debug)]
pub struct HierarchicalOptions {
    /// Number of instances for each combination of platform, family and number of jobs
    #[arg(long, default_value_t = 1)]
    pub runs: u32,
    /// Families of the generator, and adversarial jobs: linear, flat, steps, caps
    #[arg(
        long = "families",
        value_delimiter = ',',
        default_value = "weak,high,mixed,cirne,linear,flat,steps,caps",
        value_name = "FAMILY,.."
    )]
    pub populations: Vec<Population>,
    /// Numbers of processors of an SMP, powers of two
    #[arg(long = "processors-per-node", value_delimiter = ',', default_value = "2,4,8,16", value_name = "K,..")]
    pub each: Vec<u32>,
    /// Numbers of SMPs
    #[arg(long, value_delimiter = ',', default_value = "4,16,64", value_name = "M,..")]
    pub nodes: Vec<u32>,
    /// Numbers of jobs for each SMP; at least one job is drawn
    #[arg(long, value_delimiter = ',', default_value = "0.5,2,12.5", value_name = "N,..")]
    pub jobs_per_node: Vec<f64>,
    /// The limits of the optimiser.
    #[command(flatten)]
    pub search: SearchOptions,
    /// The same seed gives the same instances
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl HierarchicalOptions {
    /// Returns the specs in the order of the results: the paper's algorithm, general algorithms, and the optimiser.
    fn algorithms(&self) -> Vec<String> {
        let plain = [SHELVES, "list[order=shelf]", "sweep[steps=0]", "sweep"].map(String::from);
        plain.into_iter().chain(self.search.specs()).collect()
    }
}

/// The key of an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HierarchicalKey {
    /// The kind of jobs.
    pub population: Population,
    /// Number of processors of an SMP: k.
    pub each: u32,
    /// Number of SMPs: m.
    pub nodes: u32,
    /// Number of jobs.
    pub jobs: usize,
    /// Number of the repetition, from 0.
    pub run: u32,
}

/// Formats a key, such as `family weak, 16 SMPs of 4, 32 jobs, run 0`.
impl fmt::Display for HierarchicalKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { population, each, nodes, jobs, run } = self;
        write!(f, "family {population}, {nodes} SMPs of {each}, {jobs} jobs, run {run}")
    }
}

/// Facts about an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Verified lower bound on the makespan, in ticks.
    bound: i128,
    guesses: Guesses,
}

/// The outcome of an algorithm on an instance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HierarchicalOutcome {
    /// The makespan in ticks, or the reason why the algorithm does not support the instance.
    makespan: Result<i128, String>,
    /// True if the makespan is at most the bound times the guarantee of the algorithm. `None` if the algorithm has no
    /// guarantee, or does not support the instance.
    within_guarantee: Option<bool>,
    /// Planning time in seconds.
    seconds: f64,
}

type Run = campaign::GridRun<HierarchicalKey, Facts, HierarchicalOutcome>;

/// A group of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// Instances of the four families, on platforms with this number of processors in each SMP.
    Families(u32),
    /// Instances of the adversarial shapes, on platforms with this number of processors in each SMP.
    Shapes(u32),
    /// A family or shape, on all platforms.
    Population(Population),
    /// All instances of the four families.
    All,
}

fn groups(run: &Run) -> Vec<Group> {
    let HierarchicalKey { population, each, .. } = run.key;
    match population {
        Population::Family(_) => vec![Group::Families(each), Group::Population(population), Group::All],
        Population::Shape(_) => vec![Group::Shapes(each), Group::Population(population)],
    }
}

/// Summary of the plans of an algorithm: the ratios of makespan to bound, and the planning times.
#[derive(Clone, Debug, Default, PartialEq)]
struct Figures {
    plans: usize,
    /// Number of instances that the algorithm does not support.
    refused: usize,
    min: f64,
    mean: f64,
    max: f64,
    seconds: f64,
    longest: f64,
}

impl Figures {
    fn of<G>(cell: &campaign::GridCell<'_, G, Run>) -> Self {
        let ratios = cell.sample(|(run, _, outcome)| {
            outcome.makespan.as_ref().ok().map(|&value| value as f64 / run.facts.bound as f64)
        });
        let times = cell.sample(|(.., outcome)| outcome.makespan.is_ok().then_some(outcome.seconds));
        let (plans, refused) = (ratios.len(), cell.rows.len() - ratios.len());
        let (Some(mean), Some(seconds)) = (mean(&ratios), mean(&times)) else {
            return Self { refused, ..Self::default() };
        };
        let ((min, max), (_, longest)) = (range(&ratios), range(&times));
        Self { plans, refused, min, mean, max, seconds, longest }
    }
}

/// Sums the counts of guesses, for each number of processors of an SMP.
fn guesses(runs: &[Run]) -> BTreeMap<u32, Guesses> {
    let mut guesses: BTreeMap<u32, Guesses> = BTreeMap::new();
    for run in runs {
        let sum = guesses.entry(run.key.each).or_default();
        *sum = sum.and(&run.facts.guesses);
    }
    guesses
}

/// Writes three tables (`results.csv`, `summary.csv` and `guesses.csv`), the figures of the paper (such as
/// `figure2.svg`), and two figures of ratios (`ratio-families.svg` and `ratio-adversarial.svg`).
impl Campaign for HierarchicalOptions {
    const NAME: &'static str = "hierarchical";
    const PAPER: &'static str = "Dutot, Trystram: scheduling on hierarchical clusters using malleable tasks (SPAA 2001), \
                                 compared with general algorithms";
    const UNIT: &'static str = "instances";
    const MEASURES_TIME: bool = true;
    type Run = Run;

    fn arguments(command: Command) -> Command {
        Self::augment_args(command).mut_arg("limits", |arg| arg.default_value("1s"))
    }

    fn check(&self) -> Result<(), LabError> {
        if self.populations.is_empty() {
            let expected = "name at least one of weak, high, mixed, cirne, linear, flat, steps, caps";
            refuse("families", "empty", expected)?;
        }
        // Larger SMPs would need tables for more than 65,536 processors.
        if self.each.is_empty() || self.each.iter().any(|each| !each.is_power_of_two() || !(2..=1024).contains(each)) {
            refuse("processors of an SMP", format!("{:?}", self.each), "give powers of two from 2 to 1024")?;
        }
        if self.nodes.is_empty() || self.nodes.iter().any(|nodes| !(1..=1024).contains(nodes)) {
            refuse("nodes", format!("{:?}", self.nodes), "give numbers from 1 to 1024")?;
        }
        let usable = |per_node: &f64| (0.0..=1000.0).contains(per_node) && *per_node > 0.0;
        if self.jobs_per_node.is_empty() || !self.jobs_per_node.iter().all(usable) {
            let value = format!("{:?}", self.jobs_per_node);
            refuse("jobs per node", value, "give positive numbers of at most 1000")?;
        }
        positive(&[("runs", self.runs as usize)])?;
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} at once; {}", self.seed, self.search.at_once, self.algorithms().join(" "))
    }

    fn search(&self) -> Option<&SearchOptions> {
        Some(&self.search)
    }

    fn keys(&self) -> Vec<HierarchicalKey> {
        let mut keys = BTreeSet::new();
        for &population in &self.populations {
            for (&each, &nodes) in self.each.iter().flat_map(|each| self.nodes.iter().map(move |nodes| (each, nodes))) {
                for per_node in &self.jobs_per_node {
                    let jobs = (per_node * f64::from(nodes)).round().max(1.0) as usize;
                    keys.extend((0..self.runs).map(|run| HierarchicalKey { population, each, nodes, jobs, run }));
                }
            }
        }
        keys.into_iter().collect()
    }

    /// Generates the instance, computes its bound, plans it with every algorithm, and attempts guesses. Verifies the
    /// bound, and validates every schedule, including best placement. Returns an error if a makespan is below the
    /// bound.
    fn measure(&self, key: HierarchicalKey) -> Result<Run, LabError> {
        let HierarchicalKey { population, each, nodes, jobs, run } = key;
        let at = Population::ALL.iter().position(|&known| known == population).unwrap_or_default();
        let parts = [at as u64, u64::from(each), u64::from(nodes), jobs as u64, u64::from(run)];
        let seed = stirred(self.seed, parts);
        let instance = population.draw(Cluster { nodes, each }, jobs, seed)?;
        let proof = makespan_bounds::makespan(&instance);
        let bound = verified(&proof, &instance, key)?;
        let mut outcomes = Vec::new();
        for algorithm in self.algorithms() {
            let outcome =
                measure(&instance, bound, &algorithm, seed).map_err(|reason| failed(&algorithm, key, reason))?;
            if let Ok(makespan) = outcome.makespan {
                at_least(bound, Objective::Makespan, makespan, &algorithm, key)?;
            }
            outcomes.push((algorithm, outcome));
        }
        let guesses = attempt(&instance, key, &proof)?;
        Ok(Run { key, seed, facts: Facts { bound, guesses }, outcomes })
    }

    fn report(&self, runs: &[Run]) -> Result<CampaignReport, LabError> {
        let (cells, guesses) = (cells(runs, groups), guesses(runs));
        let drawings = constructions::all()?;
        let text = report::text(self, runs, &cells, &guesses, &drawings);
        let mut files = report::figures(self, &cells)?;
        files.extend([report::results(runs), report::summary(runs), report::guesses(runs)]);
        files.extend(drawings.into_iter().map(|drawing| drawing.svg));
        Ok(CampaignReport { text, claims: claims::all(self, runs, &cells, &guesses), files })
    }
}

fn measure(instance: &Instance, bound: i128, spec: &str, seed: u64) -> Result<HierarchicalOutcome, String> {
    let scheduler = makespan::scheduler(spec).map_err(|error| error.to_string())?;
    if let Err(reason) = scheduler.supports(instance) {
        return Ok(HierarchicalOutcome { makespan: Err(reason.to_string()), within_guarantee: None, seconds: 0.0 });
    }
    let (schedule, _, seconds) = scheduled(instance, spec, seed)?;
    let value = Objective::Makespan.value(instance, &schedule);
    let guarantee = scheduler.guarantee(instance, Objective::Makespan);
    let within_guarantee = guarantee.map(|guarantee| guarantee.holds(value, bound));
    Ok(HierarchicalOutcome { makespan: Ok(value), within_guarantee, seconds })
}

#[cfg(test)]
mod tests;
