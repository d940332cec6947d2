//! Bounds on the weighted completion, the mean flow and the weighted tardiness of jobs that are graphs.
//!
//! Each task pays a price for each processor and tick. Each task chooses its cheapest run, and each job chooses its
//! cheapest end. The resulting bound ([`JobPrices`]) is concave in the prices. The search begins with the prices of a
//! fluid machine that runs the jobs one after another ([`fluid`]). Then it replaces the minimum over the choices of
//! each task and each job by a smooth function. It maximises this smooth bound with the gradient steps of Adam. The
//! smoothing decreases from step to step. If some job is represented by its blocks ([`makespan_verify::proof::JobSpans`]), prices never rise in
//! time. The bound is valid for all prices, even if the search does not find the best
//! ones.
//!
//! If machines differ, the price of an instant is multiplied by a factor for each machine. With these factors, equal
//! work has about equal costs on all machines.
//!
//! Sources: see [`crate::cost`]. Unlike in [`crate::cost`], the jobs choose their ends.

pub(crate) mod constant;
mod flat;
mod fluid;
mod programme;
#[cfg(test)]
mod tests;

use makespan_verify::proof::{JobPrices, NodeKinds, Spans};
use std::time::Instant;

use makespan_core::{Instance, JobId, Objective};
use makespan_verify::{Bound, Proof};

use crate::Clock;
use crate::ascent::{Ascent, AscentParameters};
use crate::rounding::{finest, places, rounded};
use crate::windows::{TaskArrays, prices::prices};
use programme::JobProgramme;

/// Approximate number of binary digits of the largest price in a certificate.
const PLACES: i32 = 34;
/// Parameters of the search. The step lengths are relative to the mean price of the fluid machine. The smoothing
/// widths are relative to the mean payment of a task at the prices of this machine.
const PACE: AscentParameters = AscentParameters { kept: (0.8, 0.95), length: (0.08, 0.004), width: (0.2, 0.003) };
/// Maximum number of steps.
const STEPS: usize = 80;
/// Approximate number of pairs of a run and an instant that all steps together examine.
const LOOKED_AT: usize = 8_000_000;
/// The time that is reserved for the check of the certificate, as a multiple of the time of the first step.
const CHECK: u32 = 4;
/// The largest factor by which the price is multiplied for a machine.
const SHARE: u64 = 1 << 16;

/// The fraction of the remaining time that the search may take. The check of the certificate may take the remaining
/// part of this time.
const CLIMBED: f64 = 0.6;

/// Returns a bound from the best prices that the search finds. Returns `None` if the objective is not a sum over jobs,
/// if all weights are zero, if the search finds no proof, or if no time is left.
pub(crate) fn best(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let spans = Spans::new(&NodeKinds::new(instance), instance);
    let ids: Vec<JobId> = instance.ids().collect();
    let tasks = TaskArrays::of(instance, &ids, &spans, false);
    let shares = shares(&tasks);
    let programme = flat::programme(instance, &spans, &shares, objective)?;
    // The check of the certificate takes as long as several steps, so reserve time for the check.
    let prices = climb(&programme, &clock.part(CLIMBED))?;
    proved(instance, objective, &programme, &shares, &prices)
}

/// Returns the best prices that the search finds, one for each period. Returns `None` if too little time remains for a
/// check of the certificate.
fn climb(programme: &JobProgramme, clock: &Clock) -> Option<Vec<f64>> {
    let begin = Instant::now();
    let prices = fluid::prices(programme);
    let paid: f64 = prices.iter().zip(&programme.open).map(|(price, open)| price * open).sum();
    let mean = prices.iter().sum::<f64>() / prices.len() as f64;
    let mut ascent = Ascent::new(PACE, prices, (mean, paid / programme.tasks()));
    let (mut step, mut steps) = (0, STEPS);
    if programme.has_blocks {
        ascent.flatten_rises();
    }
    while step <= steps && (step == 0 || !clock.is_over()) {
        let done = step as f64 / steps as f64;
        let point = programme.evaluate(ascent.prices(), ascent.width(done));
        if step == 0 {
            if clock.left().is_some_and(|left| left < CHECK * begin.elapsed()) {
                return None;
            }
            steps = (LOOKED_AT / point.looked_at.max(1)).clamp(1, STEPS);
        }
        step += 1;
        ascent.step(done, point.value, point.rise.iter(), |_| 1.0);
        if programme.has_blocks {
            ascent.flatten_rises();
        }
    }
    Some(ascent.best().to_vec())
}

/// Returns, for each node, the factor of the price of its processors. The largest factor is `SHARE`, or 1 if all nodes
/// are of one kind.
fn shares(tasks: &TaskArrays) -> Vec<u64> {
    if tasks.kinds == 1 {
        return vec![1; tasks.kind_of.len()];
    }
    let by_kind = prices(tasks);
    let highest = by_kind.iter().copied().max().unwrap_or(1).max(1);
    let share = |kind: usize| (u128::from(by_kind[kind]) * u128::from(SHARE) / u128::from(highest)).max(1) as u64;
    tasks.kind_of.iter().map(|kind| kind.map_or(0, share)).collect()
}

/// Proves the bound at the given prices. Rounds the prices to as many binary places as the check supports in 128 bits.
fn proved(
    instance: &Instance,
    objective: Objective,
    programme: &JobProgramme,
    shares: &[u64],
    prices: &[f64],
) -> Option<Bound> {
    let prices: Vec<f64> = prices.iter().map(|&price| programme.price_in_ticks(price)).collect();
    let equal = shares.iter().all(|&share| share == 1);
    let attempt = |scale| {
        let prices = JobPrices {
            instants: programme.instants(),
            prices: prices.iter().map(|&price| rounded(price, scale)).collect(),
            shares: if equal { Vec::new() } else { shares.to_vec() },
            scale,
        };
        Bound::proved_by(objective, Proof::JobPrices(prices), instance)
    };
    finest(places(prices.iter().copied(), PLACES), attempt).ok()
}
