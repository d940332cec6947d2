//! Steady states of a tree of machines.

use dashu_ratio::RBig;

use super::{Fairness, Optimum, Periodic, PeriodicError, Rates, RatesError, TreeProblem};

/// Rates that the machines of a tree can sustain, with a period of whole tasks.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// The rates, which are feasible in exact arithmetic.
    pub rates: Rates,
    /// Exact fair throughput of the rates, in weighted tasks per second.
    pub throughput: RBig,
    /// The optimum with its proof, if the optimum was found. The rates of the optimum equal `rates`.
    pub optimum: Option<Optimum>,
    /// The proof of fairness, if the rates are alpha-fair instead of having the largest fair throughput.
    pub fairness: Option<Fairness>,
    /// A period in which nodes compute whole numbers of tasks. If the exact period of the rates is short, this field
    /// contains the exact period. Otherwise, the rates are rounded.
    pub period: Result<Periodic, PeriodicError>,
}

impl SteadyState {
    /// Checks, exactly in rationals, that no node exceeds its capacity and that the stated throughput is the throughput
    /// of the rates.
    ///
    /// # Errors
    /// [`RatesError`] names the node that exceeds its capacity, or reports that the throughput differs.
    pub fn check(&self, problem: &TreeProblem) -> Result<(), RatesError> {
        if self.rates.fair_throughput(problem)? == self.throughput { Ok(()) } else { Err(RatesError::Throughput) }
    }
}
