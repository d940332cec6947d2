//! Bounds for sequential jobs on machines that differ: prices for their time.
//!
//! The linear programme of R || Cmax is `min T, sum_k x_ik = 1, sum_i p_ik x_ik <= T - r_k, x >= 0`; its dual asks for prices
//! `lambda >= 0` with `sum_k lambda_k = 1` that maximise `sum_i min_k lambda_k p_ik + sum_k lambda_k r_k`. Here the minimum of each job
//! is made smooth, in logarithms, and Newton's method maximises it while the smoothing falls. Any prices are a proof:
//! [`MachinePrices`].
//!
//! A machine that is ready after the optimum cannot take part. With it `T >= r_k` and nothing else would be proved, so `T*` is sought
//! as the least `T` at which the programme of the machines with `r_k < T` alone is feasible. The others sell nothing before `T*`, so
//! their price may be as high as is needed that no job would rather run there.
//!
//! Source: the smoothing as in Y. Nesterov, "Smooth minimization of non-smooth functions", Math. Programming 103, 2005,
//! DOI 10.1007/s10107-004-0552-5.

mod newton;
mod positions;
mod taking_part;

use makespan_core::proof::{CostPrices, LateWork, MachinePrices};
use makespan_core::{Bound, Instance, JobId, Objective, Profile, Proof, Time, Unsupported};

use crate::{Clock, minsum};

pub use newton::maximise;
pub use positions::{Positions, are_meant as are_positions_meant, positions, positions_by};

/// The sum of the integer prices.
const SCALE: f64 = (1_u64 << 40) as f64;
/// The same where weights are multiplied with them.
const SMALL_SCALE: f64 = (1_u64 << 24) as f64;
/// What is nearer to the end than this is no better known: the prices are found by steps.
const NEARLY: f64 = 1e-6;
/// No price of a node that does not take part is more than so many times those of all others together: products stay in 128 bits.
const MAX_FORBIDDING: f64 = 4096.0;

/// The columns of the programme: one for each node, with as many machines as it has processors.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Machines of each column.
    pub machines: Vec<f64>,
    /// For each column the mean over its machines of the instant, after the first release, from which they are free.
    pub ready: Vec<f64>,
}

/// Whether these bounds speak of an instance: sequential jobs without a network.
///
/// # Errors
/// [`Unsupported`] says what it has besides.
pub fn check(instance: &Instance) -> Result<(), Unsupported> {
    if !instance.is_sequential() {
        return Err(Unsupported(
            "bounds on processors that differ are proved for jobs on one processor, and some job takes several".into(),
        ));
    }
    if instance.platform().is_tree() {
        return Err(Unsupported("bounds are proved for processors without a network between them".into()));
    }
    Ok(())
}

/// The bound on an objective, of an instance that [`check`] accepts: the best one of [`MachinePrices`], prices in time
/// ([`makespan_core::proof::MachineTimePrices`]) and, on the makespan of jobs that are released one after the other, [`LateWork`]; on the
/// mean flow, and the weighted completion of jobs of one weight, [`Positions`].
pub fn bound(instance: &Instance, objective: Objective) -> Bound {
    bound_until(instance, objective, &Clock::ENDLESS)
}

/// The same until the clock is over: what [`MachinePrices`] prove is found in any case.
pub(crate) fn bound_until(instance: &Instance, objective: Objective, clock: &Clock) -> Bound {
    if objective != Objective::Makespan {
        return completion_by(instance, objective, &open_prices(instance), None, clock);
    }
    let prices = prices(instance);
    let bound = bound_by(instance, objective, &prices);
    if !instance.has_release_dates() || clock.is_over() {
        return bound;
    }
    let bound = late(instance, prices).filter(|late| late.value > bound.value).unwrap_or(bound);
    let Ok(known) = i64::try_from(bound.value.integer()) else { return bound };
    minsum::refuted_until(instance, Time::from_ticks(known), clock)
        .filter(|more| more.value > bound.value)
        .unwrap_or(bound)
}

/// The bound on weighted completion or mean flow, with prices of [`open_prices`] and, if they are known, those of positions.
pub fn completion(instance: &Instance, objective: Objective, prices: &[f64], known: Option<&Positions>) -> Bound {
    completion_by(instance, objective, prices, known, &Clock::ENDLESS)
}

/// The same until the clock is over: what [`MachinePrices`] prove is found in any case.
pub fn completion_by(
    instance: &Instance,
    objective: Objective,
    prices: &[f64],
    known: Option<&Positions>,
    clock: &Clock,
) -> Bound {
    let bound = bound_by(instance, objective, prices);
    let found = (known.is_none() && !clock.is_over() && are_positions_meant(instance, objective))
        .then(|| positions_by(instance, &clock.part(0.5)));
    let of_positions = known.or(found.as_ref()).and_then(|found| found.bound(instance, objective));
    // Positions prove the very optimum of jobs that are released together.
    let is_solved = of_positions.is_some() && !instance.has_release_dates();
    let in_time = if is_solved { None } else { minsum::on_nodes_until(instance, objective, clock) };
    crate::best_of(objective, [Some(bound), of_positions, in_time].into_iter().flatten().collect())
}

/// By the work that is released from some instant on: at prices as the speeds, at these, and at those that are best for what is
/// released from the best of these instants on.
fn late(instance: &Instance, prices: Vec<f64>) -> Option<Bound> {
    let speeds = instance.platform().nodes().iter().map(|node| node.speed).collect();
    let proved = |prices: Vec<f64>| {
        let late = LateWork::best(instance, &prices);
        let from = late.from;
        Some((Bound::proved_by(Objective::Makespan, Proof::LateWork(late), instance).ok()?, from))
    };
    let first = [speeds, prices].into_iter().filter_map(proved).max_by_key(|(bound, _)| bound.value.integer())?;
    let second = proved(prices_from(instance, Some(first.1)));
    second.into_iter().chain([first]).max_by_key(|(bound, _)| bound.value.integer()).map(|(bound, _)| bound)
}

/// The bound that these prices prove, a price for each node; over the processors that take part they add up to about 1.
pub fn bound_by(instance: &Instance, objective: Objective, prices: &[f64]) -> Bound {
    let scale = if objective == Objective::Makespan { SCALE } else { SMALL_SCALE };
    let prices: Vec<i64> = prices.iter().map(|price| (price * scale) as i64).collect();
    let proof = |prices| match objective {
        Objective::Cost => Proof::CostPrices(CostPrices::default()),
        _ => Proof::MachinePrices(MachinePrices { prices }),
    };
    let proved = |prices| Bound::proved_by(objective, proof(prices), instance);
    // Figures that are too large to be checked are so with any price: without prices nothing is multiplied.
    let zero = || vec![0; instance.platform().node_count()];
    proved(prices).or_else(|_| proved(zero())).unwrap_or_else(|_| Bound {
        objective,
        value: 0.into(),
        makespan_at_most: None,
        proof: proof(zero()),
    })
}

/// Prices that nearly maximise the bound on the makespan, one for each node, adding up to 1 over all processors that take part.
///
/// Complexity: O(n m^2) a step for up to 64 nodes, O(n m) for more, and some 60 steps; fewer where n m is above 10^7. As often as
/// the logarithm of the number of machines where some are ready late.
pub fn prices(instance: &Instance) -> Vec<f64> {
    prices_from(instance, None)
}

/// The same as if all machines were ready at the first release: what the other objectives are proved with.
pub fn open_prices(instance: &Instance) -> Vec<f64> {
    prices_from(instance, Some(instance.first_release()))
}

/// The same for the jobs that are released from an instant on, whatever the machines do before it.
fn prices_from(instance: &Instance, from: Option<Time>) -> Vec<f64> {
    let nodes = instance.platform().node_count();
    let mut ready = taking_part::ready(instance);
    if from.is_some() {
        ready.iter_mut().flatten().for_each(|ready| *ready = 0);
    }
    let late = |id: &JobId| from.is_none_or(|from| instance.job(*id).release >= from);
    let jobs: Vec<JobId> = instance.ids().filter(late).collect();
    let counts: Vec<f64> = jobs.iter().map(|&id| instance.job(id).tasks() as f64).collect();
    let time_on = |job: usize, node: usize| match rows(instance, jobs[job]) {
        Some(row) => row[node],
        None => instance.time_on(instance.job(jobs[job]).first(), node).unwrap_or(Profile::CANNOT_RUN),
    };
    if jobs.is_empty() {
        return vec![1.0 / f64::from(instance.processors().max(1)); nodes];
    }
    // A node on which no job can run has price 0, and the programme contains no variable for its price.
    let is_used = |node: &usize| (0..jobs.len()).any(|job| time_on(job, *node) < Profile::CANNOT_RUN);
    let used: Vec<usize> = (0..nodes).filter(is_used).collect();
    let time = |job: usize, at: usize| time_on(job, used[at]);
    let ready: Vec<Vec<i64>> = used.iter().map(|&node| std::mem::take(&mut ready[node])).collect();
    // Of these instants the last counts that is before the end of everything on the machines which are ready by then.
    let mut instants: Vec<i64> = ready.iter().flatten().copied().collect();
    instants.sort_unstable();
    instants.dedup();
    if instants.len() > 1
        && let Some(end) = taking_part::some_end(&ready, &jobs, instance, time)
    {
        instants.truncate(instants.partition_point(|&instant| instant < end).max(1));
    }
    let with = |instant: i64| {
        let columns = taking_part::columns(&ready, instant);
        let prices = maximise(&columns, &counts, used.len(), time);
        let is_before = instant as f64 * (1.0 + NEARLY) < priced_end(&columns, &counts, &prices, time);
        (is_before, columns, prices)
    };
    let (mut low, mut high) = (0, instants.len() - 1);
    let (is_before, mut columns, mut prices) = with(instants[high]);
    if !is_before {
        // Of the first instant it is true: every task takes some time.
        (_, columns, prices) = with(instants[low]);
        while high - low > 1 {
            let middle = usize::midpoint(low, high);
            match with(instants[middle]) {
                (true, its_columns, its_prices) => (low, columns, prices) = (middle, its_columns, its_prices),
                (false, ..) => high = middle,
            }
        }
    }
    let mut all = vec![0.0; nodes];
    for (&node, price) in used.iter().zip(forbidding(&columns, prices, jobs.len(), time)) {
        all[node] = price;
    }
    all
}

/// What these prices prove, in ticks: the priced sum of the jobs and of what machines are not ready for.
fn priced_end(columns: &Columns, counts: &[f64], prices: &[f64], time: impl Fn(usize, usize) -> Time) -> f64 {
    let taking = || (0..prices.len()).filter(|&node| columns.machines[node] > 0.0);
    let all: f64 = taking().map(|node| prices[node] * columns.machines[node]).sum();
    let ready: f64 = taking().map(|node| prices[node] * columns.machines[node] * columns.ready[node]).sum();
    let jobs: f64 = counts.iter().enumerate().map(|(job, count)| count * paid(columns, prices, job, &time)).sum();
    (jobs + ready) / all
}

/// What a job pays at least on machines that take part; infinite where it can run on none.
fn paid(columns: &Columns, prices: &[f64], job: usize, time: impl Fn(usize, usize) -> Time) -> f64 {
    let able = (0..prices.len()).filter(|&node| columns.machines[node] > 0.0 && time(job, node) < Profile::CANNOT_RUN);
    able.map(|node| prices[node] * time(job, node).ticks() as f64).fold(f64::INFINITY, f64::min)
}

/// The same prices, and for nodes that do not take part such that no job would rather run there.
fn forbidding(columns: &Columns, mut prices: Vec<f64>, jobs: usize, time: impl Fn(usize, usize) -> Time) -> Vec<f64> {
    let closed: Vec<usize> = (0..prices.len()).filter(|&node| columns.machines[node] <= 0.0).collect();
    if closed.is_empty() {
        return prices;
    }
    closed.iter().for_each(|&node| prices[node] = 0.0);
    for job in 0..jobs {
        let paid = paid(columns, &prices, job, &time);
        for &node in closed.iter().filter(|_| paid.is_finite()) {
            prices[node] = prices[node].max((paid / time(job, node).ticks() as f64 * (1.0 + 1e-9)).min(MAX_FORBIDDING));
        }
    }
    prices
}

/// The times of a job as they are, where they need no look at speed and walltime.
fn rows(instance: &Instance, job: JobId) -> Option<&[Time]> {
    instance.profile_of(job).machine_times().filter(|_| instance.job(job).walltime.is_none())
}

#[cfg(test)]
mod tests;
