//! The period of a steady state that is written when nobody asks for another.

use dashu_ratio::RBig;
use makespan_core::Time;
use makespan_core::tree::{Periodic, PeriodicError, SteadyState, TreeProblem, float_of};

use super::Throughput;

/// Tasks of the application with the least weight in a period that is rounded: it loses about a thousandth for each node
/// that works on it for hardly a task.
const TASKS: u32 = 1000;

impl Throughput {
    /// The rates as a plan, with a period of them.
    pub fn steady_state(self, problem: &TreeProblem) -> SteadyState {
        let period = period(problem, &self);
        SteadyState { rates: self.rates, throughput: self.value, optimum: self.optimum, period }
    }
}

/// The exact period where it is short; else one of [`TASKS`] tasks.
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
