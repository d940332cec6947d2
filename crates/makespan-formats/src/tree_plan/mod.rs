//! Plan JSON of bags on a tree: what `plan` writes and `verify` reads there.
//!
//! Rates are decimals rounded down, and so still feasible; the fair throughput is theirs, rounded down, and the bound is
//! rounded up. Everything stated is checked in rationals.

mod check;
mod read;
mod svg;
#[cfg(test)]
mod tests;
mod unrolled;
mod write;

use dashu_ratio::RBig;
use makespan_core::Bound;
use makespan_core::tree::{Periodic, Rates, RatesError, TreeProblem, short_decimal};

pub use svg::write_tree_svg;
pub(crate) use svg::{FULL, shares};
pub use unrolled::write_network_csv;

/// A steady state as its file states it.
#[derive(Clone, Debug, PartialEq)]
pub struct TreePlanFile {
    /// What made it.
    pub algorithm: String,
    /// The stated fair throughput, weighted tasks a second.
    pub fair_throughput: RBig,
    /// The stated upper bound on every fair throughput, unchecked.
    pub bound: Bound,
    /// Who computes what.
    pub rates: Rates,
    /// Whole tasks in a period, where one is stated.
    pub period: Option<StatedPeriod>,
    /// What the user should know.
    pub remarks: Vec<String>,
}

/// A period with what it achieves.
#[derive(Clone, Debug, PartialEq)]
pub struct StatedPeriod {
    /// How long it is, and its tasks.
    pub periodic: Periodic,
    /// Its stated fair throughput.
    pub fair_throughput: RBig,
}

impl StatedPeriod {
    /// A period as a file states it, its throughput rounded down.
    pub fn new(problem: &TreeProblem, periodic: Periodic) -> Self {
        let fair_throughput = short_decimal(&periodic.throughput(problem), false);
        Self { periodic, fair_throughput }
    }
}

impl TreePlanFile {
    /// Rates and a bound as a file may state them: as decimals of 15 figures, rounded in the safe direction.
    ///
    /// # Errors
    /// [`RatesError`] when the rates are no steady state.
    pub fn new(problem: &TreeProblem, rates: &Rates, bound: &Bound) -> Result<Self, RatesError> {
        let decimals = rates.all().iter().map(|rate| short_decimal(rate, false)).collect();
        let rates = Rates::new(problem.applications().len(), decimals);
        let fair_throughput = short_decimal(&rates.fair_throughput(problem)?, false);
        Ok(Self {
            algorithm: "steady-state".into(),
            fair_throughput,
            bound: Bound { value: short_decimal(&bound.value.rational(), true).into(), ..bound.clone() },
            rates,
            period: None,
            remarks: Vec::new(),
        })
    }
}

/// Whether a JSON document states a steady state and no schedule.
pub fn is_tree_plan(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Head {
        fair_throughput: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Head>(bytes).is_ok_and(|head| head.fair_throughput.is_some())
}
