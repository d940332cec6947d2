//! What to run.

use clap::Args;
use makespan::split_specs;
use makespan_core::{Context, Instance, Schedule};

use crate::campaign::Instances;

/// The specs of the paper's algorithms.
pub mod algorithm {
    /// The paper's own.
    pub const DEMT: &str = "demt";
    /// One job after the other, each on all processors.
    pub const GANG: &str = "gang";
    /// Each job on one processor, the longest first.
    pub const SEQUENTIAL: &str = "sequential";
    /// Graham's list in the order of the dual approximation's shelves.
    pub const SHELF: &str = "list[order=shelf]";
    /// Graham's list by increasing weight over time: the reading of "weighted LPTF" that gives the paper's curves.
    pub const LPTF: &str = "list[order=weighted-lptf]";
    /// Graham's list by decreasing weight over time: the other reading, Smith's rule.
    pub const SMITH: &str = "list[order=smith]";
    /// Graham's list by increasing area.
    pub const SAF: &str = "list[order=saf]";
    /// The paper's own with the first schedule: all jobs of a batch start together.
    pub const RAW: &str = "demt[compaction=raw]";
    /// With the second: each job starts as soon as its processors are idle.
    pub const SHIFT: &str = "demt[compaction=shift]";
    /// With the third, a list in the order of the batches.
    pub const UNSHUFFLED: &str = "demt[shuffles=0]";
    /// With jobs shuffled within the batches, in place of the batches: not the paper's.
    pub const SHUFFLED_JOBS: &str = "demt[shuffle=jobs]";
    /// The stages of the paper's own, which its figures do not show.
    pub const STAGES: [&str; 4] = [RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
    /// All of them, in the order of reports.
    pub const ALL: [&str; 11] =
        [DEMT, GANG, SEQUENTIAL, SHELF, LPTF, SMITH, SAF, RAW, SHIFT, UNSHUFFLED, SHUFFLED_JOBS];
}

/// Schedules an instance by the algorithm that a spec names, with a seed, or says why not.
pub type Solve = fn(&Instance, &str, u64) -> Result<Schedule, String>;

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which instances.
    #[command(flatten)]
    pub instances: Instances,
    /// Algorithms, separated by commas [default: the paper's, and the stages of its own]
    #[arg(long, short, value_name = "SPEC,..")]
    pub algorithms: Option<String>,
    /// How many threads [default: all cores]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Not an option of the command line: the algorithms of the catalogue.
    #[arg(skip = catalogue as Solve)]
    pub solve: Solve,
}

impl Options {
    /// The specs, in the order of reports.
    pub fn algorithms(&self) -> Vec<String> {
        self.algorithms.as_ref().map_or_else(|| algorithm::ALL.map(String::from).to_vec(), |list| split_specs(list))
    }
}

fn catalogue(instance: &Instance, spec: &str, seed: u64) -> Result<Schedule, String> {
    let scheduler = makespan_algos::scheduler(spec).map_err(|error| error.to_string())?;
    let plan = scheduler.schedule(instance, &mut Context::with_seed(seed)).map_err(|error| error.to_string())?;
    plan.into_schedule().ok_or_else(|| "it plans no placements".to_owned())
}
