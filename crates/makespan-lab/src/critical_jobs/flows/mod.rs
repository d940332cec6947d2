//! Simulations of flows of jobs, planned by the metascheduler (the policy `job-flow`).

mod at_most;
mod report;

use makespan::{Silent, SimulationInput, SimulationOptions, simulate};
use makespan_core::{Actual, CompoundMeasures, Instance, Schedule};

use super::{CriticalJobsOutcome, Served};
use crate::LabError;
use crate::campaign::{failed, valid};

pub(super) use at_most::at_most;
pub(super) use report::{claims, text};

/// The policies. `ONE_BY_ONE` plans each job when the job arrives. `BUFFER` and `HANDOVER` collect jobs in a buffer
/// before planning. `HANDOVER` counts a deadline from the instant at which the buffer hands over the job. `REPLAN` and
/// `UTILISATION` plan all jobs again at each arrival. `UTILISATION` chooses the plans with the highest utilisation, as
/// the paper does.
pub(super) const POLICIES: [&str; 5] = [ONE_BY_ONE, BUFFER, HANDOVER, REPLAN, UTILISATION];
const ONE_BY_ONE: &str = "job-flow[serve=arrival,starts=reserved]";
const BUFFER: &str = "job-flow[buffer=20s,starts=reserved]";
const HANDOVER: &str = "job-flow[buffer=20s,clock=handover,starts=reserved]";
const REPLAN: &str = "job-flow[serve=replan,starts=reserved]";
const UTILISATION: &str = "job-flow[serve=replan,flow=utilisation,starts=reserved]";

/// Returns the outcome of a policy on a flow of jobs with deadlines.
pub(super) fn outcome(instance: &Instance, policy: &str) -> Result<CriticalJobsOutcome, LabError> {
    let flow = serve(instance, policy)?.1.flow;
    Ok(CriticalJobsOutcome {
        makespan: flow.to.seconds(),
        cost: flow.cost as f64 / 1e3,
        on_time: flow.in_time,
        fallbacks: flow.fallbacks,
        served: Some(Served {
            utilisation: flow.load.mean,
            balance: flow.load.balance,
            as_told: flow.as_told,
            collisions: flow.collisions,
            penalty: flow.penalty as f64,
        }),
    })
}

/// Simulates a flow, with actual run times equal to the expected run times. Validates the executed schedule, and
/// returns the schedule and its measures.
pub(super) fn serve(instance: &Instance, policy: &str) -> Result<(Schedule, CompoundMeasures), LabError> {
    let unusable = |reason: String| failed(policy, "a flow", reason);
    let options = SimulationOptions::default();
    let scene = SimulationInput { instance, actual: &Actual::AsEstimated, options: &options, seed: 1 };
    let simulated = simulate(&scene, policy, &mut Silent).map_err(|error| unusable(error.to_string()))?;
    let schedule = simulated.simulation.trace.schedule();
    valid(instance, &schedule).map_err(unusable)?;
    let measures = simulated.compound.ok_or_else(|| unusable("no job has a graph of tasks".into()))?;
    Ok((schedule, measures))
}
