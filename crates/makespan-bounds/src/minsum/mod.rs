//! Lower bounds on weighted completion and mean flow: prices in continuous time, and the interval linear programme of
//! Dutot, Eyraud, Mounié and Trystram.

mod grid;
mod level;
mod prices;
mod programme;

pub use grid::Grid;
pub use prices::{PriceOptions, PriceSearch, PricedChoice};

use makespan_core::proof::{IntervalPrices, TimePrices};
use makespan_core::{Area, Bound, Instance, Objective, Proof, Time};
use programme::Programme;

use crate::Clock;
use crate::rounding::{finest, rounded, within_64_bits};

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
    weighted_completion_by(instance, &Clock::ENDLESS)
}

/// The same until the clock is over.
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

/// With more jobs than this, intervals have never been better.
const FEW_JOBS: usize = 12;

/// The proven lower bound on the mean flow: that on weighted completion by prices in continuous time when all weights
/// are one, without the release dates.
///
/// # Panics
/// As [`weighted_completion`].
pub fn mean_flow(instance: &Instance) -> Bound {
    mean_flow_by(instance, &Clock::ENDLESS)
}

/// The same until the clock is over.
pub(crate) fn mean_flow_by(instance: &Instance, clock: &Clock) -> Bound {
    searched(instance, Objective::MeanFlow, clock).unwrap_or_else(|| {
        let free =
            TimePrices { instants: vec![Time::ZERO], prices: Vec::new(), scale: 0, horizon: None, widths: Vec::new() };
        Bound::proved_by(Objective::MeanFlow, Proof::TimePrices(free), instance)
            .unwrap_or_else(|error| unreachable!("prices of zero prove the shortest times: {error}"))
    })
}

/// The proven lower bound on weighted completion or mean flow by prices in time for each node
/// ([`makespan_core::proof::MachineTimePrices`]) of sequential jobs on processors that differ; `None` where there are too many of both.
pub fn on_nodes(instance: &Instance, objective: Objective) -> Option<Bound> {
    on_nodes_until(instance, objective, &Clock::ENDLESS)
}

/// The same until the clock is over; `None` where it is so already.
pub(crate) fn on_nodes_until(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let mut search = PriceSearch::on_nodes(instance, PriceOptions { objective, makespan_at_most: None })?;
    improve(&mut search, clock);
    search.bound(instance)
}

/// Deadlines tried at most.
const DEADLINES: usize = 4;
/// Larger instances are not looked at: each deadline takes a check over all jobs.
const MAX_JOBS: usize = 10_000;
/// Neither are instances with more unavailable periods: each is an instant for every function of the width.
const MAX_PERIODS: usize = 1000;
/// A later deadline is not worth a try unless it is this much later.
const LATER: f64 = 2e-4;

/// The bound of the largest deadline that prices in time are found to refute, from `known` on, where jobs come late or processors are
/// closed: [`makespan_core::proof::DeadlinePrices`], or [`makespan_core::proof::MachineTimePrices`] on processors that differ. `None`
/// when not even `known` is refuted.
///
/// How much work has no place before a deadline falls ever more slowly as the deadline grows, so the line through the last two
/// deadlines tells the next, which is hardly ever too late.
pub fn refuted(instance: &Instance, known: Time) -> Option<Bound> {
    refuted_until(instance, known, &Clock::ENDLESS)
}

/// The same until the clock is over.
pub(crate) fn refuted_until(instance: &Instance, known: Time, clock: &Clock) -> Option<Bound> {
    let availability = instance.availability();
    let is_plain = availability.is_always_open() && !instance.has_release_dates();
    let is_large = instance.jobs().len() > MAX_JOBS || instance.unavailable().len() > MAX_PERIODS;
    if is_plain || is_large || known <= instance.first_release() {
        return None;
    }
    let origin = instance.first_release();
    let mut best = None;
    // The open area until the deadline, and the work without a place.
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
            // Too late, or all that there is to refute.
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

/// As many steps as a standard bound takes, until the clock is over.
fn improve(search: &mut PriceSearch, clock: &Clock) {
    for _ in 0..STEPS {
        if search.has_ended() || clock.is_over() {
            break;
        }
        search.improve(1);
    }
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
    match finest(within_64_bits(&cumulated), attempt) {
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
    cumulated.iter().zip(next).map(|(sum, later)| rounded((sum - later).max(0.0), scale)).collect()
}

#[cfg(test)]
mod tests;
