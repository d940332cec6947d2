//! What to run.

use clap::Args;
use makespan::{Planned, Planner};
use makespan_core::{Instance, Objective};

use crate::campaign::{Instances, Search, Setting};

/// Plans an instance by the algorithm that a spec names, with a seed, or says why not.
pub type PlanOf = fn(&Instance, &str, u64) -> Result<Planned, String>;

/// A campaign.
#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Which instances.
    #[command(flatten)]
    pub instances: Instances,
    /// For weighted completion each limit; for the makespan the first.
    #[command(flatten)]
    pub search: Search,
    /// Not an option of the command line: the catalogue.
    #[arg(skip = catalogue as PlanOf)]
    pub plan: PlanOf,
}

impl Options {
    /// The settings, in the order of the results.
    pub fn settings(&self) -> Vec<Setting> {
        let limits = &self.search.limits.0;
        let weighted = limits.iter().map(|&limit| (Objective::WeightedCompletion, limit));
        let makespan = limits.first().map(|&limit| (Objective::Makespan, limit));
        weighted.chain(makespan).map(|(objective, limit)| Setting { objective, limit }).collect()
    }
}

fn catalogue(instance: &Instance, spec: &str, seed: u64) -> Result<Planned, String> {
    Planner::new().algorithm(spec).seed(seed).plan(instance).map_err(|error| error.to_string())
}
