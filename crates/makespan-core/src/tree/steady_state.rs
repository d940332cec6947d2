//! Steady states of a tree of machines.

use dashu_ratio::RBig;

use super::{Optimum, Periodic, PeriodicError, Rates, RatesError, TreeProblem};

/// Rates that the machines of a tree can sustain, with a period of whole tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// The rates, which are feasible in exact arithmetic.
    pub rates: Rates,
    /// Exact fair throughput of the rates, in weighted tasks per second.
    pub throughput: RBig,
    /// The proved optimum, if it was found. It contains the same rates.
    pub optimum: Option<Optimum>,
    /// A period of whole tasks: the exact period if it is short.
    pub period: Result<Periodic, PeriodicError>,
}

impl SteadyState {
    /// Checks that no node exceeds its capacity and that the throughput matches the rates, in rationals without
    /// tolerance.
    ///
    /// # Errors
    /// [`RatesError`] names the node, or reports that the throughput differs.
    pub fn check(&self, problem: &TreeProblem) -> Result<(), RatesError> {
        if self.rates.fair_throughput(problem)? == self.throughput { Ok(()) } else { Err(RatesError::Throughput) }
    }
}
