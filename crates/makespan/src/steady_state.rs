//! Bags of tasks on a tree: the best steady state, and a period of it.

use dashu_ratio::RBig;
use makespan_bounds::tree::{Precision, Throughput, throughput};
use makespan_core::tree::{Periodic, PeriodicError, TreeError, TreeProblem, float_of};
use makespan_core::{Instance, Time};

pub use makespan_bounds::tree::{Part, Upgrade};

/// The plan for bags of tasks on a tree.
#[derive(Clone, Debug)]
pub struct SteadyState {
    /// The instance as a tree.
    pub problem: TreeProblem,
    /// The best rates, with their proof.
    pub best: Throughput,
    /// Whole tasks in a period, the exact one where it is short.
    pub period: Result<Periodic, PeriodicError>,
}

/// Tasks of the application with the least weight in a period that is rounded: it loses about a thousandth for each node
/// that works on it for hardly a task.
const TASKS: u32 = 1000;

/// The best steady state of an instance, with an exact optimum where the tree is small enough
/// ([`makespan_bounds::tree::EXACT_NODES`]).
///
/// # Errors
/// [`TreeError`] when the instance is not one of bags on a tree.
pub fn steady_state(instance: &Instance) -> Result<SteadyState, TreeError> {
    let problem = TreeProblem::new(instance)?;
    let best = throughput(&problem, Precision::Exact);
    let period = period(&problem, &best);
    Ok(SteadyState { problem, best, period })
}

fn period(problem: &TreeProblem, best: &Throughput) -> Result<Periodic, PeriodicError> {
    let lightest = problem.applications().iter().map(|app| &app.weight).min();
    let slowest = lightest.map_or(RBig::ZERO, |weight| weight * &best.value);
    if slowest.is_zero() {
        return Err(PeriodicError::TooLong);
    }
    let seconds = float_of(&(RBig::from(TASKS) / slowest));
    let length = Time::from_seconds_f64(seconds).map_err(|_| PeriodicError::TooLong)?;
    match Periodic::exact(problem, &best.rates) {
        Ok(exact) if exact.period <= length => Ok(exact),
        _ => Periodic::rounded(problem, &best.rates, length),
    }
}
