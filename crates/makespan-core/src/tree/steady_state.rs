//! What a tree of machines does as long as there are tasks.

use dashu_ratio::RBig;

use super::{Optimum, Periodic, PeriodicError, Rates, RatesError, TreeProblem};

/// Rates that the machines of a tree keep up, and a period of them in whole tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Who computes what: feasible in exact arithmetic.
    pub rates: Rates,
    /// The fair throughput of the rates, weighted tasks a second, exactly.
    pub throughput: RBig,
    /// The proved optimum where it was found; the rates are its rates then.
    pub optimum: Option<Optimum>,
    /// Whole tasks in a period, the exact one where it is short.
    pub period: Result<Periodic, PeriodicError>,
}

impl SteadyState {
    /// Whether no node does more than it can, and the throughput is that of the rates: in rationals, without tolerance.
    ///
    /// # Errors
    /// [`RatesError`] names the node, or says that the throughput is another.
    pub fn check(&self, problem: &TreeProblem) -> Result<(), RatesError> {
        if self.rates.fair_throughput(problem)? == self.throughput { Ok(()) } else { Err(RatesError::Throughput) }
    }
}
