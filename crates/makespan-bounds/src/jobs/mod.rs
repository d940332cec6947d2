//! Bounds on the weighted completion, the mean flow and the weighted lateness of jobs that are graphs: prices in time that all tasks of a
//! job pay, while the job chooses when it ends.
//!
//! The bound of [`JobPrices`] is concave in the prices. The search begins with those of a fluid machine that does the jobs one after another
//! ([`fluid`]); the least of each task and each job is made smooth, and Adam's steps climb it while the smoothing falls ([`ascent`]). Any
//! prices are a proof. Machines that differ cost shares of one price in time, at which the same work costs about the same everywhere.
//!
//! Source: as [`crate::cost`], of jobs that choose when they end.

mod ascent;
mod flat;
mod fluid;
mod programme;
#[cfg(test)]
mod tests;

use makespan_core::proof::{JobPrices, Places, Spans};
use makespan_core::{Bound, CertificateError, Instance, JobId, Objective, Proof};

use crate::Clock;
use crate::windows::{Tasks, prices::prices};
use programme::Programme;

/// The largest price is a whole number of about so many binary places.
const PLACES: i32 = 34;
/// The same of the shares of machines.
const SHARE: u64 = 1 << 16;

/// The part of the time that is left for steps; the rest is for the check.
const CLIMBED: f64 = 0.6;

/// The best bound of this kind; `None` where nothing follows, of objectives of which it does not speak, and where there is
/// no time at all.
pub(crate) fn best(instance: &Instance, objective: Objective, clock: &Clock) -> Option<Bound> {
    if clock.is_over() {
        return None;
    }
    let spans = Spans::new(&Places::new(instance), instance);
    let ids: Vec<JobId> = instance.ids().collect();
    let tasks = Tasks::of(instance, &ids, &spans, false);
    let shares = shares(&tasks);
    let programme = flat::programme(instance, &spans, &shares, objective)?;
    // What is not checked is worth nothing, and a check looks at all ways to run all tasks, as a step does.
    let prices = ascent::climb(&programme, &clock.part(CLIMBED))?;
    proved(instance, objective, &programme, &shares, &prices)
}

/// For each node what a processor costs beside the dearest.
fn shares(tasks: &Tasks) -> Vec<u64> {
    if tasks.kinds == 1 {
        return vec![1; tasks.kind_of.len()];
    }
    let by_kind = prices(tasks);
    let highest = by_kind.iter().copied().max().unwrap_or(1).max(1);
    let share = |kind: usize| (u128::from(by_kind[kind]) * u128::from(SHARE) / u128::from(highest)).max(1) as u64;
    tasks.kind_of.iter().map(|kind| kind.map_or(0, share)).collect()
}

/// With as many places as 128 bits have room for.
fn proved(
    instance: &Instance,
    objective: Objective,
    programme: &Programme,
    shares: &[u64],
    prices: &[f64],
) -> Option<Bound> {
    let prices: Vec<f64> = prices.iter().map(|&price| programme.price_in_ticks(price)).collect();
    let highest = prices.iter().copied().fold(0.0, f64::max);
    let finest = PLACES.saturating_sub(highest.log2().ceil() as i32).clamp(0, 64) as u32;
    let equal = shares.iter().all(|&share| share == 1);
    (0..=finest).rev().step_by(8).find_map(|scale| {
        let proof = Proof::JobPrices(JobPrices {
            instants: programme.instants(),
            prices: prices.iter().map(|price| (price * 2.0_f64.powi(scale as i32)).round() as i64).collect(),
            shares: if equal { Vec::new() } else { shares.to_vec() },
            scale,
        });
        match Bound::proved_by(objective, proof, instance) {
            Err(CertificateError::Overflow) => None,
            proved => Some(proved.ok()),
        }
    })?
}
