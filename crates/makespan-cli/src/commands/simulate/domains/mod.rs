//! Simulates a metascheduler over domains with owners.

mod join;
mod report;

use std::collections::BTreeMap;

use makespan::policy::{DomainRules, Domains, JobFlowRules};
use makespan::{Observer, Simulated, SimulationInput, simulate_policy};
use makespan_core::{Instance, JobId};
use miette::{Result, miette};

pub use join::join;

/// Default metascheduler.
pub const USUAL: &str = "job-flow";

/// The domains of a simulation, and the jobs of users.
pub struct DomainSetup {
    /// The name of the file, for errors.
    file: String,
    rules: Vec<DomainRules>,
    budgets: BTreeMap<JobId, i64>,
    users: Vec<JobId>,
}

impl DomainSetup {
    /// Returns the metascheduler with this spec.
    pub fn policy(&self, spec: &str, instance: &Instance, seed: u64) -> Result<Domains> {
        let flow = JobFlowRules::parse(spec).map_err(|error| miette!("--policy: {error}; with --domains, --policy states the metascheduler, and the file states the local policies"))?;
        Domains::new(instance, self.rules.clone(), self.budgets.clone(), flow, seed)
            .map_err(|error| miette!("{}: {error}", self.file))
    }

    /// Simulates the input `scene` under the metascheduler with this spec.
    pub fn simulate(&self, scene: &SimulationInput<'_>, spec: &str, observer: &mut dyn Observer) -> Result<Simulated> {
        let mut policy = self.policy(spec, scene.instance, scene.seed)?;
        simulate_policy(scene, spec, &mut policy, observer).map_err(|error| miette!("{error}"))
    }
}
