//! The entrance: an instance, real times, a policy.

use makespan_core::{Actual, Failure, Instance, Platform, Policy, Profile};

use crate::engine::Engine;
use crate::{Observer, Simulation, SimulationError, SimulationOptions};

/// Plays an instance in virtual time, as a policy decides.
///
/// Every task is submitted at its release date and really takes the time that `actual` says. The policy is asked once
/// an instant ([`makespan_core::Event::order`]). A wake-up comes at its instant, also together with other events, and
/// is forgotten when the policy hears of anything before.
///
/// A task that waits for others ([`Instance::incoming`]) is submitted when it is released and they have ended with
/// success, and must not start where its data have not arrived ([`makespan_core::View::arrival`]). Data travel as soon as
/// they are made, to wherever they will be needed; transfers do not slow each other down. When it waits for one that
/// fails or is given up it fails with it, without a start.
///
/// Where the options have an [`Estimation`](makespan_core::Estimation), its estimator hears of every success, in the order of the trace,
/// before the policy does, and the policy is told of the times that it replaced. Real times are those of the beginning all the same.
///
/// An instant costs the logarithm of the number of running tasks for each event, beside what the policy does; a failure
/// looks at all running tasks.
///
/// # Errors
/// [`SimulationError`]: what does not fit together, and what the policy did wrong.
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

/// A node on which the estimate has a time and the real profile has none.
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
