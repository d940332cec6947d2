//! The default period of a steady state.

use dashu_ratio::RBig;
use makespan_core::Time;
use makespan_core::tree::{Periodic, PeriodicError, Rates, SteadyState, TreeProblem, float_of};

use super::Throughput;

/// Number of tasks in a rounded period that belong to the slowest application. On each node, rounding
/// down loses less than one task of this application. This loss is at most about a thousandth of the throughput.
const TASKS: u32 = 1000;

impl Throughput {
    /// Returns the rates as a plan with a period.
    pub fn steady_state(self, problem: &TreeProblem) -> SteadyState {
        let period = period(problem, &self.rates);
        SteadyState { rates: self.rates, throughput: self.value, optimum: self.optimum, fairness: None, period }
    }
}

/// Returns the exact period if it is no longer than the rounded period. Otherwise, returns the rounded period, in which
/// the slowest application has about [`TASKS`] tasks.
pub(super) fn period(problem: &TreeProblem, rates: &Rates) -> Result<Periodic, PeriodicError> {
    let slowest = rates.totals(problem).into_iter().min().unwrap_or(RBig::ZERO);
    if slowest.is_zero() {
        return Err(PeriodicError::TooLong);
    }
    let seconds = float_of(&(RBig::from(TASKS) / slowest));
    let length = Time::from_seconds_f64(seconds).map_err(|_| PeriodicError::TooLong)?;
    match Periodic::exact(problem, rates) {
        Ok(exact) if exact.period <= length => Ok(exact),
        _ => Periodic::rounded(problem, rates, length),
    }
}
