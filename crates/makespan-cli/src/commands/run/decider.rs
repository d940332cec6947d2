//! The algorithm or the policy that decides when the jobs of a run start.

use makespan::policy::policy_for;
use makespan::{Planner, SimulationInput, SimulationOptions, simulate};
use makespan_core::{Actual, Instance, Objective, Policy};
use miette::{Result, miette};

use super::BegunPlan;
use super::job_changes::SLOTS;
use crate::args::RunOptions;
use crate::commands::simulate::domains::{DomainSetup, USUAL, without_owners};

/// The algorithm that makes the plan of a run, or the policy that decides without a plan.
pub enum Decider {
    /// The default algorithm. It improves its plan during the run.
    Default {
        spec: String,
    },
    Algorithm {
        spec: String,
    },
    Policy {
        spec: String,
        /// True if the user named the policy.
        is_stated: bool,
    },
    /// A metascheduler over domains.
    Domains {
        spec: String,
        setup: DomainSetup,
    },
}

/// The policy that starts jobs in the order of the list.
const IN_ORDER: &str = "fcfs";

/// Returns true if only one job can run at a time and the run minimises the makespan. Every order of the jobs then
/// gives the same makespan. The run therefore keeps the order of the list, as `parallel -j1` does.
fn runs_one_by_one(instance: &Instance) -> bool {
    let slots = instance.platform().licences().iter().find(|(name, _)| *name == SLOTS);
    let is_alone = instance.processors() == 1 || slots.is_some_and(|(_, amount)| amount == 1);
    is_alone && are_free(instance) && makespan::objective_of_run(instance) == Objective::Makespan
}

/// Returns true if every job is one task and waits for no other job.
fn are_free(instance: &Instance) -> bool {
    !instance.has_compound_jobs() && !instance.has_edges_between_jobs()
}

/// Returns true if the run time of at least one task is known. Otherwise, the values and bounds of a plan mean nothing.
pub fn knows_times(instance: &Instance) -> bool {
    instance.guesses() < instance.different_tasks()
}

impl Decider {
    /// Returns the algorithm or the policy that the options select. Without such options, returns the default for the
    /// instance.
    pub fn new(options: &RunOptions, instance: &Instance) -> Result<Self> {
        if let Some(path) = &options.domains {
            let spec = options.policy.clone().unwrap_or_else(|| USUAL.to_owned());
            return Ok(Self::Domains { spec, setup: without_owners(path, instance)? });
        }
        if let Some(spec) = &options.policy {
            return Ok(Self::Policy { spec: spec.clone(), is_stated: true });
        }
        let keeps_order = options.source.shuf || options.algorithm.is_none() && runs_one_by_one(instance);
        if keeps_order {
            return Ok(Self::Policy { spec: IN_ORDER.to_owned(), is_stated: false });
        }
        let Some(spec) = &options.algorithm else {
            return Ok(Self::Default { spec: makespan::algorithm_of_run(instance) });
        };
        makespan::scheduler(spec).map_err(|error| miette!("{error}"))?;
        Ok(Self::Algorithm { spec: spec.to_owned() })
    }

    /// Returns the decider for jobs that arrive during the run. These jobs start in the order of their lines, unless
    /// the options name a policy.
    pub fn of_stream(options: &RunOptions) -> Self {
        let spec = options.policy.clone().unwrap_or_else(|| IN_ORDER.to_owned());
        Self::Policy { spec, is_stated: options.policy.is_some() }
    }

    /// Returns the decider for `rest`, the remaining part of an instance.
    pub fn of_rest(&self, rest: &Instance) -> Self {
        match self {
            Self::Default { .. } => Self::Default { spec: makespan::algorithm_of_run(rest) },
            Self::Algorithm { spec } => Self::Algorithm { spec: spec.clone() },
            Self::Policy { spec, is_stated } => Self::Policy { spec: spec.clone(), is_stated: *is_stated },
            Self::Domains { spec, setup } => Self::Domains { spec: spec.clone(), setup: setup.clone() },
        }
    }

    /// Returns the domains of the run, if it has domains.
    pub fn domains(&self) -> Option<&DomainSetup> {
        if let Self::Domains { setup, .. } = self { Some(setup) } else { None }
    }

    /// Returns true if jobs start in the order of the list while no run times are known.
    pub fn starts_in_order(&self) -> bool {
        match self {
            Self::Default { spec } => makespan::minimised(spec) == [Objective::Makespan],
            Self::Algorithm { .. } | Self::Domains { .. } => false,
            Self::Policy { spec, .. } => spec == IN_ORDER,
        }
    }

    /// Returns an error if the policy does not support the instance.
    pub fn check(&self, instance: &Instance, seed: u64) -> Result<()> {
        match self {
            Self::Policy { spec, .. } => {
                policy_for(spec, instance, seed).map_err(|error| miette!("{error}"))?;
            }
            Self::Domains { spec, setup } => drop(setup.policy(spec, instance, seed)?),
            Self::Default { .. } | Self::Algorithm { .. } => {}
        }
        Ok(())
    }

    /// Returns the plan with which the run begins, and bounds if `is_proved` is true. If a policy controls the run, the
    /// plan is a simulation in which all run times equal their estimates.
    pub fn plan(&self, instance: &Instance, seed: u64, mut remarks: Vec<String>, is_proved: bool) -> Result<BegunPlan> {
        let failed = |error: &dyn std::fmt::Display| miette!("{error}");
        let (spec, is_stated) = match self {
            Self::Algorithm { spec } | Self::Default { spec } => {
                let is_default = matches!(self, Self::Default { .. });
                // If no time is known, a search gains nothing over a list schedule.
                let is_quick =
                    !is_proved && is_default && self.starts_in_order() && are_free(instance) && !knows_times(instance);
                let planner = Planner::new().algorithm(if is_quick { "list" } else { spec }).seed(seed);
                let planned = if is_proved { planner.plan(instance) } else { planner.plan_unproved(instance) };
                let mut planned = planned.map_err(|error| failed(&error))?;
                remarks.append(&mut planned.remarks);
                let (algorithm, bounds) = (planned.algorithm.clone(), std::mem::take(&mut planned.bounds));
                let schedule = planned.into_schedule().map_err(|error| failed(&error))?;
                return Ok(BegunPlan { algorithm, seed, schedule, bounds, remarks });
            }
            Self::Policy { spec, is_stated } => (spec, *is_stated),
            Self::Domains { spec, setup } => {
                remarks.extend(setup.notes());
                (spec, true)
            }
        };
        let rules = SimulationOptions::default();
        let scene = SimulationInput { instance, actual: &Actual::AsEstimated, options: &rules, seed };
        let simulated = match self.domains() {
            Some(setup) => setup.simulate(&scene, spec, &mut makespan::Silent)?,
            None => simulate(&scene, spec, &mut makespan::Silent).map_err(|error| failed(&error))?,
        };
        if is_stated {
            remarks
                .push("the plan is a simulation of the policy, in which each job takes its expected run time".into());
        }
        // Tasks that depend on a cancelled task do not start either.
        let started: std::collections::BTreeSet<makespan_core::TaskId> = simulated
            .simulation
            .trace
            .runs
            .iter()
            .filter(|run| !run.processors.is_empty())
            .map(|run| run.task)
            .collect();
        let given_up = instance.tasks() - started.len() as u64;
        if given_up > 0 {
            remarks.push(format!(
                "the plan does not contain {given_up} of {} tasks, because the policy would cancel them or a task on \
                 which they depend",
                instance.tasks()
            ));
        }
        let schedule = simulated.simulation.trace.schedule();
        // Only the standard bounds, because other bounds would delay the first job.
        let standard = || makespan::bounds_for(instance, &std::iter::empty());
        let bounds = if is_proved { standard().map_err(|error| failed(&error))? } else { Vec::new() };
        Ok(BegunPlan { algorithm: spec.clone(), seed, schedule, bounds, remarks })
    }

    /// Returns the policy that controls the run. If the options name an algorithm, the policy follows the plan of this
    /// algorithm. If tasks depend on each other, the policy keeps the order of the plan. Otherwise, the policy plans
    /// the remaining jobs again when the run departs from the plan.
    pub fn policy(&self, instance: &Instance, begun: &BegunPlan, resume: bool) -> Result<Box<dyn Policy>> {
        let scheduler = match self {
            Self::Policy { spec, .. } => {
                return policy_for(spec, instance, begun.seed).map_err(|error| miette!("{error}"));
            }
            Self::Domains { spec, setup } => return Ok(Box::new(setup.policy(spec, instance, begun.seed)?)),
            Self::Default { .. } => return Ok(makespan::policy_of_run(instance, begun.seed, &begun.schedule)),
            Self::Algorithm { spec } => makespan::scheduler(spec).map_err(|error| miette!("{error}"))?,
        };
        Ok(makespan::policy_of_plan(scheduler, begun.seed, instance, &begun.schedule, resume))
    }
}
