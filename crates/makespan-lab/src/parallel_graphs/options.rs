//! What to run.

use clap::Args;
use makespan_core::Instance;
use makespan_generate::{GraphOptions, Law, generate_graphs};

use super::{Family, Key};
use crate::LabError;
use crate::campaign::{Search, stirred};

/// The algorithms beside `optimise`, each as the catalogue names it.
pub const ALGORITHMS: [&str; 12] = [
    "sequential",
    "gang",
    "cpa",
    "cpa[placing=list]",
    "mcpa",
    "mcpa[placing=list]",
    "hcpa",
    "mheft",
    "mheft[share=50]",
    "lp-rounding",
    "list[order=shelf]",
    "sweep[steps=0]",
];

/// Those of the literature whose best stands for it: with the placing of their papers and with that of a list.
pub(super) const BASELINES: [&str; 5] = ["cpa", "cpa[placing=list]", "mcpa", "mcpa[placing=list]", "lp-rounding"];

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Families of graphs
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "layers,series-parallel,stages,cholesky,lu,montage,epigenomics,1000genome,bwa,soykb",
        value_name = "FAMILY,.."
    )]
    pub families: Vec<Family>,
    /// Speed-up laws of the tasks: amdahl, downey
    #[arg(long, value_delimiter = ',', default_value = "amdahl,downey", value_name = "LAW,..")]
    pub laws: Vec<Law>,
    /// Tasks of a graph, about
    #[arg(long, value_delimiter = ',', default_value = "60,250,1200", value_name = "N,..")]
    pub tasks: Vec<usize>,
    /// Processors
    #[arg(long, value_delimiter = ',', default_value = "16,64,256", value_name = "N,..")]
    pub processors: Vec<u32>,
    /// Graphs of each family, law and size for each number of processors
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub runs: u32,
    /// How long the optimiser searches.
    #[command(flatten)]
    pub search: Search,
    /// The same seed gives the same graphs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Options {
    /// Every algorithm: those of the literature, then `optimise` with each limit.
    pub fn algorithms(&self) -> Vec<String> {
        ALGORITHMS.into_iter().map(str::to_owned).chain(self.search.specs()).collect()
    }

    /// The seed of a graph: the same graph for each number of processors.
    pub(super) fn seed_of(&self, key: Key) -> u64 {
        stirred(self.seed, [key.family as u64, key.law as u64, key.tasks as u64, u64::from(key.run)])
    }

    /// One compound job on one node, where data take no time.
    pub(super) fn instance(&self, key: Key) -> Result<Instance, LabError> {
        Ok(generate_graphs(&GraphOptions {
            shape: key.family.shape(key.tasks),
            tasks: key.tasks,
            jobs: 1,
            data: (0, 0),
            parallel: key.processors,
            law: key.law,
            processors: 1,
            cores: key.processors,
            fastest: 1.0,
            seed: self.seed_of(key),
            ..GraphOptions::default()
        })?)
    }
}
