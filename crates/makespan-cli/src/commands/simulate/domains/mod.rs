//! Simulates a metascheduler over domains with owners.

mod join;
mod report;

use std::collections::BTreeMap;

use makespan::policy::{DomainMeasures, DomainRules, DomainScene, Domains, JobFlowRules, UserJobMeasures};
use makespan::{Observer, Simulated, SimulationInput, simulate_policy};
use makespan_core::{Instance, JobId, Trace, counted};
use miette::{Result, miette};

pub use join::{join, without_owners};

/// Default metascheduler.
pub const USUAL: &str = "job-flow";

/// The domains of a simulation or a run, and the jobs of users.
#[derive(Clone)]
pub struct DomainSetup {
    /// The name of the file, for errors.
    file: String,
    rules: Vec<DomainRules>,
    budgets: BTreeMap<JobId, i64>,
    users: Vec<JobId>,
}

impl DomainSetup {
    /// Returns a note about each domain of a run.
    pub fn notes(&self) -> impl Iterator<Item = String> + '_ {
        self.rules.iter().map(|domain| {
            let price = f64::from(domain.price) / 1e3;
            format!(
                "domain `{}`: {}, price {price}",
                domain.name,
                counted(domain.processors.len() as usize, "processor")
            )
        })
    }

    /// Returns a line about the charges of each job with a budget, and a line about the charges of all jobs.
    pub fn charges(&self, instance: &Instance, trace: &Trace) -> Vec<String> {
        let scene = DomainScene { instance, rules: &self.rules, users: &self.users, budgets: &self.budgets };
        let measures = DomainMeasures::of(&scene, trace, &[]);
        let money = |thousandths: i64| thousandths as f64 / 1e3;
        let of_job = |user: &UserJobMeasures| {
            let (name, budget) = (&instance.job(user.job).name, user.budget?);
            Some(format!("job `{name}`: charged {} of its budget of {}", money(user.charge), money(budget)))
        };
        let all: i64 = measures.users.iter().map(|user| user.charge).sum();
        let lines = measures.users.iter().filter_map(of_job);
        lines.chain([format!("charges of all jobs: {}", money(all))]).collect()
    }

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
