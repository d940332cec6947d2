//! Reads and writes Plan JSON for bags on a tree, the file format that `plan` writes and `verify` reads.
//!
//! Rates are decimals that are rounded down, so they remain feasible. The fair throughput is the throughput of the
//! rounded rates, rounded down. The bound is rounded up. All stated values are checked with rational numbers.

mod check;
mod read;
#[cfg(test)]
mod tests;
mod write;

use dashu_ratio::RBig;
use makespan_core::tree::{Fairness, Periodic, Rates, RatesError, SteadyState, TreeProblem, short_decimal};

use crate::Bound;
use crate::native::origin::PlanOrigin;

/// A steady state and all other data in its file.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePlanFile {
    /// Spec of the algorithm.
    pub algorithm: String,
    /// Stated fair throughput, in weighted tasks per second.
    pub fair_throughput: RBig,
    /// Stated upper bound on the fair throughput of any steady state. Reading a file does not check the certificate.
    pub bound: Bound,
    /// Rates at which the nodes compute tasks.
    pub rates: Rates,
    /// Proof that the rates are nearly alpha-fair, if the file states one.
    pub fairness: Option<StatedFairness>,
    /// Period with whole numbers of tasks, if the file states one.
    pub period: Option<StatedPeriod>,
    /// Remarks for the user.
    pub remarks: Vec<String>,
    /// Program, algorithm and instance, if the file states them.
    pub origin: Option<PlanOrigin>,
}

/// A proof of fairness and the number that it proves.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedFairness {
    /// The proof.
    pub fairness: Fairness,
    /// Stated number e: every steady state completes tasks of at most 1 + e times the value.
    pub excess: RBig,
}

/// A period and its stated throughput.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedPeriod {
    /// Length of the period, and the number of tasks of each node and application in the period.
    pub periodic: Periodic,
    /// Stated fair throughput of the period, in weighted tasks per second.
    pub fair_throughput: RBig,
}

impl StatedPeriod {
    /// Returns a period with its throughput, rounded down as in files.
    pub fn new(problem: &TreeProblem, periodic: Periodic) -> Self {
        let fair_throughput = short_decimal(&periodic.throughput(problem), false);
        Self { periodic, fair_throughput }
    }
}

impl TreePlanFile {
    /// Returns a file with the rates of this state and this bound, as decimals of 15 digits. Rates are rounded down, and
    /// the bound and the distance from fairness are rounded up, so all of them remain valid. The caller adds the period.
    ///
    /// # Errors
    /// [`RatesError`] if the rates are not a steady state.
    pub fn new(problem: &TreeProblem, state: &SteadyState, bound: &Bound) -> Result<Self, RatesError> {
        let decimals = state.rates.all().iter().map(|rate| short_decimal(rate, false)).collect();
        let rates = Rates::new(problem.applications().len(), decimals);
        let fair_throughput = short_decimal(&rates.fair_throughput(problem)?, false);
        Ok(Self {
            algorithm: state
                .fairness
                .as_ref()
                .map_or_else(|| "steady-state".into(), |fairness| format!("steady-state[alpha={}]", fairness.alpha)),
            fair_throughput,
            fairness: state.fairness.as_ref().and_then(|fairness| {
                let excess = short_decimal(&fairness.excess(problem, &rates).ok()?, true);
                Some(StatedFairness { fairness: fairness.clone(), excess })
            }),
            bound: Bound { value: short_decimal(&bound.value.rational(), true).into(), ..bound.clone() },
            rates,
            period: None,
            remarks: Vec::new(),
            origin: None,
        })
    }
}

/// Returns true if a JSON document is a plan for a tree. Such a plan has rates and no schedule.
pub fn is_tree_plan(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        fair_throughput: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Head>(bytes).is_ok_and(|head| head.fair_throughput.is_some())
}
