//! Prices for machines. At these prices, all tasks together pay as much as possible, relative to the price of all
//! processors.

use super::{NEVER, TaskArrays};

/// Maximum number of rounds of the search.
const ROUNDS: usize = 80;
/// The largest price.
const SCALE: f64 = 4_294_967_296.0;

/// Returns the price of a processor-tick for each kind of node. The prices are integers. Let the payment of a task be
/// the minimum of price times run time over all kinds of nodes. The prices nearly maximise a quotient: the sum of the
/// payments of all tasks, divided by the sum of the prices of all processors. This quotient is a lower bound on the
/// makespan of the tasks.
///
/// The first prices are in proportion to the speeds, so that equal work has equal costs on every kind. If the machines
/// differ only in speed, these prices are optimal. In each round, each task chooses the kind on which it pays least.
/// The price of a kind then rises if the load of the kind is above the mean load, and falls if this load is below the
/// mean load.
pub(crate) fn prices(tasks: &TaskArrays) -> Vec<u64> {
    let mut prices = relative_speeds(tasks);
    let (mut best, mut most) = (prices.clone(), 0.0);
    for round in 0..if tasks.kinds > 1 { ROUNDS } else { 1 } {
        let (worth, loads) = assign(tasks, &prices);
        let cost: f64 = prices.iter().zip(&tasks.processors).map(|(price, &count)| price * f64::from(count)).sum();
        if worth / cost > most {
            most = worth / cost;
            best.clone_from(&prices);
        }
        let mean = worth / cost;
        let step = 0.5 / (1.0 + round as f64 * 0.3);
        for ((price, load), &count) in prices.iter_mut().zip(&loads).zip(&tasks.processors) {
            // The load of each processor of this kind, as a multiple of the mean load.
            let load = load / f64::from(count) / mean.max(f64::MIN_POSITIVE);
            *price *= (step * (load - 1.0).clamp(-1.0, 1.0)).exp();
        }
    }
    let highest = best.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    best.into_iter().map(|price| (price / highest * SCALE).round().max(1.0) as u64).collect()
}

/// Assigns each task to the kind of node on which it pays least. Returns the sum of the payments, and the total time
/// on each kind.
fn assign(tasks: &TaskArrays, prices: &[f64]) -> (f64, Vec<f64>) {
    let mut loads = vec![0.0; tasks.kinds];
    let mut worth = 0.0;
    for (row, &count) in tasks.times.iter().zip(&tasks.counts) {
        let cost = |kind: usize| row[kind] as f64 * prices[kind];
        let able = (0..tasks.kinds).filter(|&kind| row[kind] < NEVER);
        let Some(kind) = able.min_by(|&a, &b| cost(a).total_cmp(&cost(b))) else { continue };
        worth += cost(kind) * count as f64;
        loads[kind] += row[kind] as f64 * count as f64;
    }
    (worth, loads)
}

/// Returns the relative speed of each kind: the mean of `fastest / time` over the tasks. `time` is the time of the
/// task on this kind, and `fastest` the time on the task's fastest kind.
fn relative_speeds(tasks: &TaskArrays) -> Vec<f64> {
    let mut speeds = vec![0.0; tasks.kinds];
    for (row, &fastest) in tasks.times.iter().zip(&tasks.fastest) {
        for (speed, &time) in speeds.iter_mut().zip(row) {
            *speed += if time == NEVER { 0.0 } else { fastest as f64 / time.max(1) as f64 };
        }
    }
    speeds.into_iter().map(|speed: f64| (speed / tasks.len().max(1) as f64).max(f64::MIN_POSITIVE)).collect()
}
