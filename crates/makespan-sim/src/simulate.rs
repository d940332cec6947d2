//! The main function of this crate.

use makespan_core::{Actual, Failure, Instance, Platform, Policy, Profile};

use crate::engine::Engine;
use crate::{Observer, Simulation, SimulationError, SimulationOptions};

/// Simulates an instance in virtual time with the decisions of a policy.
///
/// Every task is submitted at its release date and really takes the time in `actual`. The policy is called once for
/// each instant ([`makespan_core::Event::order`]). A wake-up comes at the requested instant, possibly together with
/// other events. If the policy receives an event before this instant, the wake-up is dropped.
///
/// A task with predecessors ([`Instance::incoming`]) is submitted when it is released and all predecessors have
/// succeeded. The task must not start on a node before its data have arrived there ([`makespan_core::View::arrival`]).
/// As soon as a task has produced data, the data are sent to every node that may need them. Transfers do not slow each
/// other down. If a predecessor fails or is cancelled, the task fails without a start.
///
/// If the options have an [`Estimation`](makespan_core::Estimation), the estimator receives every successful run before
/// the policy does, in the order of the trace. If the estimator changes the estimated times of a task, the policy
/// receives an event for this task. The real times do not change.
///
/// Apart from the time that the policy itself takes, each event takes time proportional to the logarithm of the number
/// of running tasks. A failure examines all running tasks.
///
/// # Errors
/// [`SimulationError`] if the instance, the real times and the options do not match, or if the policy violates its
/// contract.
pub fn simulate(
    instance: &Instance,
    actual: &Actual,
    policy: &mut dyn Policy,
    options: &SimulationOptions,
    observer: &mut dyn Observer,
) -> Result<Simulation, SimulationError> {
    instance.check_task_names()?;
    check_actual(instance, actual)?;
    check_failures(instance, &options.failures)?;
    let mut engine = Engine::new(instance, actual, options);
    engine.run(policy, observer)?;
    Ok(engine.into_simulation())
}

fn check_actual(instance: &Instance, actual: &Actual) -> Result<(), SimulationError> {
    let known = match actual {
        Actual::AsEstimated => return Ok(()),
        Actual::Profiles(profiles) => profiles.len(),
        Actual::Factors(factors) => factors.len(),
    };
    let tasks = instance.tasks();
    if tasks != known as u64 {
        return Err(SimulationError::Profiles { tasks, profiles: known });
    }
    let Actual::Profiles(profiles) = actual else { return Ok(()) };
    for (task, real) in instance.task_ids().zip(profiles) {
        let estimate = instance.profile(task);
        let (min, max) = (estimate.min_processors(), estimate.max_processors());
        let (from, to) = (real.min_processors(), real.max_processors());
        if min < from || max > to {
            return Err(SimulationError::RealTimes { job: instance.name(task).into_owned(), min, max, from, to });
        }
        if let Some(node) = unknown_machine(instance.platform(), estimate, real) {
            return Err(SimulationError::RealMachine { job: instance.name(task).into_owned(), node });
        }
    }
    Ok(())
}

/// Returns the name of a node on which the estimated profile has a time but the real profile has none.
fn unknown_machine(platform: &Platform, estimate: &Profile, real: &Profile) -> Option<String> {
    if estimate.machine_times().is_none() && real.machine_times().is_none() {
        return None;
    }
    let mut nodes = (0..platform.nodes().len()).filter(|&node| platform.nodes()[node].processors > 0);
    let unknown = |&node: &usize| platform.time_on(estimate, node).is_some() && platform.time_on(real, node).is_none();
    nodes.find(unknown).map(|node| platform.nodes()[node].name.clone())
}

fn check_failures(instance: &Instance, failures: &[Failure]) -> Result<(), SimulationError> {
    let last = instance.processors() - 1;
    let fits = |failure: &Failure| failure.processors.last().is_some_and(|id| id <= last) && failure.down < failure.up;
    match failures.iter().position(|failure| !fits(failure)) {
        Some(index) => Err(SimulationError::Failure { index, last }),
        None => Ok(()),
    }
}
