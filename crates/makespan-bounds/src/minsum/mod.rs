//! Lower bounds on weighted completion and mean flow: prices in continuous time, and the interval linear programme of
//! Dutot, Eyraud, Mounié and Trystram.

mod grid;
mod level;
mod prices;
mod programme;
mod rounding;

pub use grid::Grid;
pub use prices::{PriceOptions, PriceSearch, PricedChoice};

use makespan_core::proof::{IntervalPrices, TimePrices};
use makespan_core::{Bound, Instance, Objective, Proof, Time};
use programme::Programme;

/// Steps of the search for prices in a standard bound; it ends by itself before.
const STEPS: usize = 300;

/// The proven lower bound on weighted completion by prices in continuous time
/// ([`makespan_core::proof::TimePrices`], found by [`PriceSearch`]); for up to a dozen jobs, and where there are
/// too many for that, the corrected interval programme on a fine grid ([`weighted_completion_on`]) if it is better.
///
/// The former is usually 1.2 to 1.5 times the latter. It is searched for over at most some hundred jobs, a sample of a
/// larger instance, and checked once over all; for more than 800,000 jobs of some hundred allotments each it is left out.
///
/// # Panics
/// When the processors differ in speed or form a tree; [`crate::standard`] refuses such platforms.
pub fn weighted_completion(instance: &Instance) -> Bound {
    let prices = searched(instance, Objective::WeightedCompletion);
    match prices {
        Some(bound) if instance.jobs().len() > FEW_JOBS => bound,
        prices => {
            let interval = weighted_completion_on(instance, &Grid::fine(instance));
            prices.filter(|bound| bound.value > interval.value).unwrap_or(interval)
        }
    }
}

/// With more jobs than this, intervals have never been better.
const FEW_JOBS: usize = 12;

/// The proven lower bound on the mean flow: that on weighted completion by prices in continuous time when all weights
/// are one, without the release dates.
///
/// # Panics
/// As [`weighted_completion`].
pub fn mean_flow(instance: &Instance) -> Bound {
    searched(instance, Objective::MeanFlow).unwrap_or_else(|| {
        let free = TimePrices { instants: vec![Time::ZERO], prices: Vec::new(), scale: 0, horizon: None };
        Bound::proved_by(Objective::MeanFlow, Proof::TimePrices(free), instance)
            .unwrap_or_else(|error| unreachable!("prices of zero prove the shortest times: {error}"))
    })
}

fn searched(instance: &Instance, objective: Objective) -> Option<Bound> {
    let mut search = PriceSearch::new(instance, PriceOptions { objective, ..PriceOptions::default() })?;
    search.improve(STEPS);
    search.bound(instance)
}

/// The bound of the corrected interval programme on a grid of instants; [`Grid::doubling`] is the paper's.
///
/// Minimise `sum_ij c_ij x_ij` subject to `sum_j x_ij >= 1` for every job i,
/// `sum_i sum_l<=j S_il x_il <= area(b_j+1)` for every interval j but the last, and `x >= 0`, with costs `c_ij` and
/// works `S_ij` as in [`IntervalPrices`]. Its dual has one price an interval; it is maximised by a level method, and
/// the prices found are the certificate. Complexity: O(n J) for each of some tens of steps, J intervals.
///
/// # Panics
/// As [`weighted_completion`].
pub fn weighted_completion_on(instance: &Instance, grid: &Grid) -> Bound {
    let programme = Programme::corrected(instance, grid);
    let cumulated = level::maximise(&programme).prices;
    let attempt = |scale: u32| {
        let prices = IntervalPrices { ends: grid.ends().to_vec(), prices: differences(&cumulated, scale), scale };
        Bound::proved_by(Objective::WeightedCompletion, Proof::IntervalPrices(prices), instance)
    };
    match rounding::finest(&cumulated, attempt) {
        Ok(bound) => bound,
        Err(error) => {
            unreachable!("prices that are checked on {} jobs are well formed: {error}", instance.jobs().len())
        }
    }
}

/// The value of the programme as the paper prints it, in weight units times seconds: an estimate for comparison with
/// the paper's figures and **not a bound**, since a job that ends before the first instant or after the last has no
/// variable there. Only for jobs that are released together on an open platform.
pub fn printed_minsum_estimate(instance: &Instance) -> f64 {
    let grid = Grid::doubling(instance);
    level::maximise(&Programme::printed(instance, &grid)).value / 1e15
}

/// Interval prices in `2^-scale` from cumulated prices.
fn differences(cumulated: &[f64], scale: u32) -> Vec<i64> {
    let next = cumulated.iter().skip(1).chain(&[0.0]);
    cumulated.iter().zip(next).map(|(sum, later)| rounding::rounded((sum - later).max(0.0), scale)).collect()
}

#[cfg(test)]
mod tests;
