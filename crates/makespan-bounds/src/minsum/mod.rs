//! Lower bounds on the weighted completion and the mean flow, from prices in continuous time and from the interval
//! linear programme of Dutot, Eyraud, Mounié and Trystram.

mod grid;
mod level;
mod prices;
mod programme;

pub use grid::Grid;
pub use prices::{PriceOptions, PriceSearch, PricedChoice};

use makespan_core::{Area, Instance, Objective, Time};
use makespan_verify::proof::{IntervalPrices, TimePrices};
use makespan_verify::{Bound, Proof};
use programme::IntervalProgramme;

use crate::Clock;
use crate::rounding::{finest, rounded, within_64_bits};

/// Maximum number of steps of the search for prices in a standard bound. Most searches end earlier.
const STEPS: usize = 300;

/// Returns a proven lower bound on the weighted completion, from prices in continuous time
/// ([`makespan_verify::proof::TimePrices`], found by [`PriceSearch`]).
///
/// If the instance has at most 12 jobs, or if it is too large for these prices, also solves the corrected interval
/// programme on a fine grid ([`weighted_completion_on`]), and returns the better bound. The bound from prices in time
/// is usually 1.2 to 1.5 times the bound from the interval programme.
///
/// If the instance has more than some hundred jobs, the search uses a sample of the jobs. The check of the certificate
/// examines all jobs once. Extremely large instances, such as 800,000 jobs with some hundred allotments each, have no
/// bound from prices in time.
///
/// # Panics
/// Panics if the processors differ in speed or form a tree. [`crate::standard`] does not call this function for such
/// platforms.
pub fn weighted_completion(instance: &Instance) -> Bound {
    weighted_completion_by(instance, &Clock::ENDLESS)
}

/// Returns the bound of [`weighted_completion`], but ends the search when `clock` expires.
pub(crate) fn weighted_completion_by(instance: &Instance, clock: &Clock) -> Bound {
    let prices = searched(instance, Objective::WeightedCompletion, clock);
    match prices {
        Some(bound) if instance.jobs().len() > FEW_JOBS => bound,
        prices => {
            let interval = weighted_completion_on(instance, &Grid::fine(instance));
            prices.filter(|bound| bound.value > interval.value).unwrap_or(interval)
        }
    }
}

/// Maximum number of jobs for which the interval programme is always solved. In measurements with more jobs, the
/// interval programme never gave a better bound than prices in continuous time.
const FEW_JOBS: usize = 12;

/// Returns a proven lower bound on the mean flow, from prices in continuous time. The prices prove a bound on the sum
/// of the completion times. The bound on the mean flow is this bound minus the sum of the release dates, divided by the
/// number of jobs.
///
/// # Panics
/// Panics in the same cases as [`weighted_completion`].
pub fn mean_flow(instance: &Instance) -> Bound {
    mean_flow_by(instance, &Clock::ENDLESS)
}

/// Returns the bound of [`mean_flow`], but ends the search when `clock` expires.
pub(crate) fn mean_flow_by(instance: &Instance, clock: &Clock) -> Bound {
    searched(instance, Objective::MeanFlow, clock).unwrap_or_else(|| {
        let free =
            TimePrices { instants: vec![Time::ZERO], prices: Vec::new(), scale: 0, horizon: None, widths: Vec::new() };
        Bound::proved_by(Objective::MeanFlow, Proof::TimePrices(free), instance)
            .unwrap_or_else(|error| unreachable!("prices of zero prove the shortest times: {error}"))
    })
}

/// Returns a proven lower bound on the weighted completion or the mean flow for sequential jobs on processors that
/// differ. The proof consists of prices in time for each node ([`makespan_verify::proof::MachineTimePrices`]). Returns
/// `None` if the product of the number of jobs and the number of nodes is too large.
pub fn on_nodes(instance: &Instance, objective: Objective) -> Option<Bound> {
    on_nodes_until(instance, objective, &Clock::ENDLESS)
}

/// Returns the bound of [`on_nodes`], but ends the search when `clock` expires. Returns `None` if `clock` has already
/// expired.
pub(crate) fn on_nodes_until(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let mut search = PriceSearch::on_nodes(instance, PriceOptions { objective, makespan_at_most: None })?;
    improve(&mut search, clock);
    search.bound(instance)
}

/// Maximum number of deadlines that are tried.
const DEADLINES: usize = 4;
/// Maximum number of jobs for [`refuted`]. For each deadline, the check of the certificate examines all jobs.
const MAX_JOBS: usize = 10_000;
/// Maximum number of unavailable periods for [`refuted`]. Each period adds instants at which prices can change.
const MAX_PERIODS: usize = 1000;
/// The search ends if the open area before the next deadline would exceed the open area before the last refuted
/// deadline by less than this fraction.
const LATER: f64 = 2e-4;

/// Returns the bound from the largest deadline that prices in time refute. The search begins at `known`. The
/// certificate is [`makespan_verify::proof::DeadlinePrices`], or [`makespan_verify::proof::MachineTimePrices`] if
/// processors differ. Returns `None` if the deadline `known` is not refuted. Also returns `None` if all jobs are
/// released together and all processors are always available.
///
/// Consider the work that does not fit before a deadline, as a function of the open area before the deadline. The
/// function decreases. The next deadline is the zero of the line through the last two points of this function. The
/// function is convex, so this deadline is rarely too late to be refuted.
pub fn refuted(instance: &Instance, known: Time) -> Option<Bound> {
    refuted_until(instance, known, &Clock::ENDLESS)
}

/// Returns the bound of [`refuted`], but ends the search when `clock` expires.
pub(crate) fn refuted_until(instance: &Instance, known: Time, clock: &Clock) -> Option<Bound> {
    let availability = instance.availability();
    let is_plain = availability.is_always_open() && !instance.has_release_dates();
    let is_large = instance.jobs().len() > MAX_JOBS || instance.unavailable().len() > MAX_PERIODS;
    if is_plain || is_large || known <= instance.first_release() {
        return None;
    }
    let origin = instance.first_release();
    let mut best = None;
    // The available area before the previous deadline, and the work that did not fit before this deadline.
    let mut before: Option<(f64, f64)> = None;
    let mut deadline = known;
    for _ in 0..DEADLINES {
        if clock.is_over() {
            break;
        }
        let options = PriceOptions { objective: Objective::Makespan, makespan_at_most: Some(deadline) };
        let search = if instance.has_equal_processors() {
            PriceSearch::new(instance, options)
        } else {
            PriceSearch::on_nodes(instance, options)
        };
        let Some(mut search) = search else { break };
        improve(&mut search, clock);
        let excess = search.excess();
        let area = availability.open_area(origin, deadline) as f64;
        let Some(bound) = (excess > 0.0).then(|| search.bound(instance)).flatten() else {
            // The deadline is not refuted: a schedule may meet the deadline, or the search is too weak. If the last
            // refuted deadline is much earlier, try a deadline between the two.
            let Some((refuted, _)) = before.filter(|(refuted, _)| area - refuted > 4.0 * LATER * area) else { break };
            deadline = availability.when_open(origin, (refuted + 0.4 * (area - refuted)) as Area);
            continue;
        };
        best = Some(bound);
        let more = match before {
            Some((earlier, more)) if more > excess => excess * (area - earlier) / (more - excess),
            _ => excess,
        };
        if more < LATER * area {
            break;
        }
        before = Some((area, excess));
        deadline = availability.when_open(origin, (area + more) as Area).max(deadline + Time::TICK);
    }
    best
}

fn searched(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    let mut search = PriceSearch::new(instance, PriceOptions { objective, ..PriceOptions::default() })?;
    improve(&mut search, clock);
    search.bound(instance)
}

/// Makes up to `STEPS` steps of a search. Stops when `clock` expires.
fn improve(search: &mut PriceSearch, clock: &Clock) {
    for _ in 0..STEPS {
        if search.has_ended() || clock.is_over() {
            break;
        }
        search.improve(1);
    }
}

/// Returns the bound from the corrected interval programme on a grid of instants. The grid of the paper is
/// [`Grid::doubling`].
///
/// Let `x_ij` be 1 if job i ends in interval j, and 0 otherwise. Interval j ends at `b_(j+1)`. [`IntervalPrices`]
/// defines the costs `c_ij` and the works `S_ij`. The programme is
///
/// ```text
/// minimise    sum_ij c_ij x_ij
/// subject to  sum_j x_ij >= 1                                  for every job i
///             sum_i sum_(l <= j) S_il x_il <= area(b_(j+1))    for every interval j except the last
///             x >= 0
/// ```
///
/// The dual of the programme has one price for each interval. The level method maximises the dual, and the best prices
/// are the certificate. Complexity: some tens of steps in O(n J) each, for n jobs and J intervals.
///
/// # Panics
/// Panics in the same cases as [`weighted_completion`].
pub fn weighted_completion_on(instance: &Instance, grid: &Grid) -> Bound {
    let programme = IntervalProgramme::corrected(instance, grid);
    let cumulated = level::maximise(&programme).prices;
    let attempt = |scale: u32| {
        let prices = IntervalPrices { ends: grid.ends().to_vec(), prices: differences(&cumulated, scale), scale };
        Bound::proved_by(Objective::WeightedCompletion, Proof::IntervalPrices(prices), instance)
    };
    match finest(within_64_bits(&cumulated), attempt) {
        Ok(bound) => bound,
        Err(error) => {
            unreachable!("prices that are checked on {} jobs are well formed: {error}", instance.jobs().len())
        }
    }
}

/// Returns the value of the programme as printed in the paper of Dutot et al., in weight units times seconds.
///
/// The value is **not a bound**, because the programme has no variables for a job that ends before the first instant or
/// after the last one. The value makes comparisons with the figures of the paper possible. It is meaningful only if all
/// jobs are released together and all processors are always available.
pub fn printed_minsum_estimate(instance: &Instance) -> f64 {
    let grid = Grid::doubling(instance);
    level::maximise(&IntervalProgramme::printed(instance, &grid)).value / 1e15
}

/// Converts cumulated prices to the prices of intervals, which are integers in units of `2^-scale`.
fn differences(cumulated: &[f64], scale: u32) -> Vec<i64> {
    let next = cumulated.iter().skip(1).chain(&[0.0]);
    cumulated.iter().zip(next).map(|(sum, later)| rounded((sum - later).max(0.0), scale)).collect()
}

#[cfg(test)]
mod tests;
