//! Who decides in a run.

use makespan::policy::{Follow, Replan, policy_for};
use makespan::{Scene, SimulationOptions, simulate};
use makespan_core::{Actual, Expansion, Instance, Policy, Scheduler};
use miette::{Result, miette};

use super::Begun;
use crate::args::RunOptions;

/// The algorithm whose plan is followed, or the policy that decides without one.
pub enum Decider {
    Algorithm { spec: String, scheduler: Box<dyn Scheduler> },
    Policy { spec: String },
}

impl Decider {
    /// The one that the options name.
    pub fn new(options: &RunOptions, instance: &Instance) -> Result<Self> {
        if let Some(spec) = &options.policy {
            return Ok(Self::Policy { spec: spec.clone() });
        }
        let usual = if instance.has_compound_jobs() { "heft" } else { "demt" };
        let spec = options.algorithm.as_deref().unwrap_or(usual);
        let scheduler = makespan::scheduler(spec).map_err(|error| miette!("{error}"))?;
        Ok(Self::Algorithm { spec: spec.to_owned(), scheduler })
    }

    /// The instance as it is executed. Policies serve best effort like the rest.
    pub fn expanded(&self, instance: &Instance) -> Result<Expansion> {
        let expanded = match self {
            Self::Algorithm { .. } => Expansion::of(instance),
            Self::Policy { .. } => Expansion::without_best_effort(instance),
        };
        expanded.map_err(|error| miette!("{error}"))
    }

    /// Refuses a policy that does not drive the instance.
    pub fn check(&self, executed: &Expansion, seed: u64) -> Result<()> {
        if let Self::Policy { spec } = self {
            policy_for(spec, &executed.instance, seed).map_err(|error| miette!("{error}"))?;
        }
        Ok(())
    }

    /// What the run begins with: a plan, or what the policy would do if all times were as estimated.
    pub fn plan(
        &self,
        instance: &Instance,
        executed: &Expansion,
        seed: u64,
        mut remarks: Vec<String>,
    ) -> Result<Begun> {
        let failed = |error: &dyn std::fmt::Display| miette!("{error}");
        let spec = match self {
            Self::Algorithm { spec, .. } => {
                let planned = makespan::plan(instance, spec, seed).map_err(|error| failed(&error))?;
                remarks.extend(planned.remarks);
                let makespan::Planned { algorithm, plan, bounds, .. } = planned;
                let Some(schedule) = plan.into_schedule() else {
                    return Err(failed(&makespan::PlanError::NoSchedule { algorithm }));
                };
                return Ok(Begun { algorithm, seed, schedule, bounds, remarks });
            }
            Self::Policy { spec } => spec,
        };
        let rules = SimulationOptions::default();
        let (instance_of_tasks, actual) = (&executed.instance, &Actual::AsEstimated);
        let scene = Scene { instance: instance_of_tasks, actual, users: &[], options: &rules, seed };
        let simulated = simulate(&scene, spec, &mut makespan::Silent).map_err(|error| failed(&error))?;
        remarks.push("the plan is what the policy would do if all times were as estimated".into());
        // Those that wait for what is given up do not start either.
        let started: std::collections::BTreeSet<makespan_core::JobId> = simulated
            .simulation
            .trace
            .runs
            .iter()
            .filter(|run| !run.processors.is_empty())
            .map(|run| run.job)
            .collect();
        let given_up = executed.tasks.len() - started.len();
        if given_up > 0 {
            remarks.push(format!(
                "of {} tasks it would not start {given_up}, given up or behind one that is, which the plan leaves out",
                executed.tasks.len()
            ));
        }
        let schedule = executed.original_schedule(&simulated.simulation.trace.schedule());
        let bounds = makespan::bound(instance).map_err(|error| failed(&error))?;
        Ok(Begun { algorithm: spec.clone(), seed, schedule, bounds, remarks })
    }

    /// The policy of the run. Tasks that wait for each other keep the order of the plan; for all others what remains is
    /// planned again when the world departs from it.
    pub fn policy(self, executed: &Expansion, begun: &Begun, resume: bool) -> Result<Box<dyn Policy>> {
        let scheduler = match self {
            Self::Policy { spec } => {
                return policy_for(&spec, &executed.instance, begun.seed).map_err(|error| miette!("{error}"));
            }
            Self::Algorithm { scheduler, .. } => scheduler,
        };
        let plan = || executed.expanded_schedule(&begun.schedule);
        if executed.instance.precedence().is_some() {
            return Ok(Box::new(Follow::with_plan(scheduler, begun.seed, &executed.instance, &plan())));
        }
        Ok(Box::new(if resume {
            Replan::new(scheduler, begun.seed)
        } else {
            Replan::following(scheduler, begun.seed, &plan())
        }))
    }
}
