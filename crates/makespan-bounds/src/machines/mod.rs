//! Bounds for sequential jobs on machines that differ, by prices for machine time.
//!
//! Let `p_ik` be the time of job i on machine k, `r_k` the instant from which machine k is ready, `x_ik` the fraction
//! of job i that machine k runs, and T the makespan. The linear programme of R || Cmax is
//!
//! ```text
//! minimise    T
//! subject to  sum_k x_ik = 1                  for every job i
//!             sum_i p_ik x_ik <= T - r_k      for every machine k
//!             x >= 0
//! ```
//!
//! Its dual maximises `sum_i min_k lambda_k p_ik + sum_k lambda_k r_k` over prices `lambda >= 0` with
//! `sum_k lambda_k = 1`. The search replaces the minimum for each job by a smooth function of the logarithms of the
//! prices. Then it maximises the sum by Newton's method while the smoothing decreases. The bound is valid for all
//! prices, even if the search does not find the best ones: see [`MachinePrices`].
//!
//! A machine that is ready only after the optimal makespan must be excluded. Otherwise the constraint of this machine
//! would force `T >= r_k`, although the machine need not run any job. So the search finds `T*`: the least `T` at which
//! the programme is feasible with only the machines with `r_k < T`. A machine that is ready only after `T*` has no
//! capacity before `T*`. So its price can be so high that every job prefers another machine.
//!
//! Source: the smoothing as in Y. Nesterov, "Smooth minimization of non-smooth functions", Math. Programming 103,
//! 2005, DOI 10.1007/s10107-004-0552-5.

mod newton;
mod positions;
mod taking_part;

use makespan_core::{Instance, JobId, Objective, Profile, Time, Unsupported};
use makespan_verify::proof::{CostPrices, MachinePrices};
use makespan_verify::{Bound, Proof};

use crate::release_area::late_work;
use crate::{Clock, minsum};

pub use newton::maximise;
pub use positions::{Positions, are_meant as are_positions_meant, positions, positions_by};

/// The sum of the integer prices of all processors, if the objective is the makespan.
const SCALE: f64 = (1_u64 << 40) as f64;
/// The sum of the integer prices of all processors, if the objective is not the makespan. This sum is less than
/// `SCALE`, because the check multiplies these prices by the weights of jobs.
const SMALL_SCALE: f64 = (1_u64 << 24) as f64;
/// Relative tolerance for comparisons of an instant with a bound from prices. The tolerance is necessary, because the
/// search does not find exactly the best prices.
const NEARLY: f64 = 1e-6;
/// The maximum price of an excluded node, if the prices of all other processors sum to 1. This limit keeps products
/// within 128 bits.
const MAX_FORBIDDING: f64 = 4096.0;

/// The columns of the linear programme, one for each node. The machines of a column are the processors of its node.
#[derive(Clone, Debug)]
pub struct NodeColumns {
    /// Number of machines of each column.
    pub machines: Vec<f64>,
    /// For each column, the mean ready time of its machines, measured from the first release.
    pub ready: Vec<f64>,
}

/// Checks that the bounds of this module support an instance: all jobs are sequential, and there is no network.
///
/// # Errors
/// Returns [`Unsupported`] with the feature of the instance that the bounds do not support.
pub fn check(instance: &Instance) -> Result<(), Unsupported> {
    if !instance.is_sequential() {
        return Err(Unsupported(
            "on processors of different speeds, bounds are proved only if each job takes one processor; at least one job takes several"
                .into(),
        ));
    }
    if instance.platform().is_tree() {
        return Err(Unsupported(
            "bounds of this kind are proved only without a network, but the platform has one".into(),
        ));
    }
    Ok(())
}

/// Returns the best bound on an objective for an instance that [`check`] accepts.
///
/// The candidates are [`MachinePrices`] and prices in time ([`makespan_verify::proof::MachineTimePrices`]). For the
/// makespan of jobs with different release dates, [`makespan_verify::proof::LateWork`] is another candidate. For the
/// mean flow, and for the weighted completion of jobs of equal weight, [`Positions`] is another candidate.
pub fn bound(instance: &Instance, objective: Objective) -> Bound {
    bound_until(instance, objective, &Clock::ENDLESS)
}

/// Returns the bound of [`bound`], but ends the searches when `clock` expires. The bound from [`MachinePrices`] is
/// always computed.
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

/// Returns the bound on the weighted completion or the mean flow. `prices` are the prices from [`open_prices`].
/// `known` are the prices of positions, if the caller has computed them already.
pub fn completion(instance: &Instance, objective: Objective, prices: &[f64], known: Option<&Positions>) -> Bound {
    completion_by(instance, objective, prices, known, &Clock::ENDLESS)
}

/// Returns the bound of [`completion`], but ends the searches when `clock` expires. The bound from [`MachinePrices`]
/// is always computed.
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
    // If all jobs are released together, the bound `of_positions` is the optimum, so no other bound can be larger.
    let is_solved = of_positions.is_some() && !instance.has_release_dates();
    let in_time = if is_solved { None } else { minsum::on_nodes_until(instance, objective, clock) };
    crate::best_of(objective, [Some(bound), of_positions, in_time].into_iter().flatten().collect())
}

/// Returns the bound from the work that is released at or after some instant. First tries `prices`, and prices in
/// proportion to the speeds. The larger of these two bounds determines the instant. Then tries the best prices for the
/// jobs that are released at or after this instant.
fn late(instance: &Instance, prices: Vec<f64>) -> Option<Bound> {
    let speeds = instance.platform().nodes().iter().map(|node| node.speed).collect();
    let proved = |prices: Vec<f64>| {
        let late = late_work(instance, &prices);
        let from = late.from;
        Some((Bound::proved_by(Objective::Makespan, Proof::LateWork(late), instance).ok()?, from))
    };
    let first = [speeds, prices].into_iter().filter_map(proved).max_by_key(|(bound, _)| bound.value.integer())?;
    let second = proved(prices_from(instance, Some(first.1)));
    second.into_iter().chain([first]).max_by_key(|(bound, _)| bound.value.integer()).map(|(bound, _)| bound)
}

/// Returns the bound from `prices`. This list contains one price for each node. The prices of all processors that take
/// part must sum to about 1.
pub fn bound_by(instance: &Instance, objective: Objective, prices: &[f64]) -> Bound {
    let scale = if objective == Objective::Makespan { SCALE } else { SMALL_SCALE };
    let prices: Vec<i64> = prices.iter().map(|price| (price * scale) as i64).collect();
    let proof = |prices| match objective {
        Objective::Cost => Proof::CostPrices(CostPrices::default()),
        _ => Proof::MachinePrices(MachinePrices { prices }),
    };
    let proved = |prices| Bound::proved_by(objective, proof(prices), instance);
    // If numbers are too large for the check, use prices of zero. Then no product overflows.
    let zero = || vec![0; instance.platform().node_count()];
    proved(prices).or_else(|_| proved(zero())).unwrap_or_else(|_| Bound {
        objective,
        value: 0.into(),
        makespan_at_most: None,
        proof: proof(zero()),
    })
}

/// Returns prices that nearly maximise the bound on the makespan, one for each node. A processor takes part if it is
/// ready before the optimal makespan. The prices of all processors that take part sum to 1.
///
/// Complexity for n jobs on m nodes: about 60 steps, each in O(n m^2) for up to 64 nodes and in O(n m) for more nodes.
/// If n m is above 10^7, there are fewer steps. If some machines are ready late, the search is repeated O(log m)
/// times.
pub fn prices(instance: &Instance) -> Vec<f64> {
    prices_from(instance, None)
}

/// Returns the prices that [`prices`] would return if all machines were ready at the first release. The bounds on all
/// objectives except the makespan use these prices.
pub fn open_prices(instance: &Instance) -> Vec<f64> {
    prices_from(instance, Some(instance.first_release()))
}

/// Returns prices for the jobs that are released at or after `from`, as if all machines were ready at `from`. If `from`
/// is `None`, returns the prices of [`prices`].
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
    // A node on which no job can run has the price 0. The programme contains no variable for this price.
    let is_used = |node: &usize| (0..jobs.len()).any(|job| time_on(job, *node) < Profile::CANNOT_RUN);
    let used: Vec<usize> = (0..nodes).filter(is_used).collect();
    let time = |job: usize, at: usize| time_on(job, used[at]);
    let ready: Vec<Vec<i64>> = used.iter().map(|&node| std::mem::take(&mut ready[node])).collect();
    // Consider the instants r at which some machine becomes ready. Find the last r such that the machines that are
    // ready at r or earlier cannot run all jobs by r.
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
        // Every task takes some time. So the machines that are ready at the first instant cannot run all tasks by this
        // instant.
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

/// Returns the bound from prices, in ticks from the first release. The bound is a sum divided by the sum of the prices
/// of all machines. The sum consists of the least payments of all jobs and, for each machine, the price of the time
/// before the machine is ready.
fn priced_end(columns: &NodeColumns, counts: &[f64], prices: &[f64], time: impl Fn(usize, usize) -> Time) -> f64 {
    let taking = || (0..prices.len()).filter(|&node| columns.machines[node] > 0.0);
    let all: f64 = taking().map(|node| prices[node] * columns.machines[node]).sum();
    let ready: f64 = taking().map(|node| prices[node] * columns.machines[node] * columns.ready[node]).sum();
    let jobs: f64 = counts.iter().enumerate().map(|(job, count)| count * paid(columns, prices, job, &time)).sum();
    (jobs + ready) / all
}

/// Returns the least payment of a job on the machines that take part, or infinity if the job can run on none of these
/// machines.
fn paid(columns: &NodeColumns, prices: &[f64], job: usize, time: impl Fn(usize, usize) -> Time) -> f64 {
    let able = (0..prices.len()).filter(|&node| columns.machines[node] > 0.0 && time(job, node) < Profile::CANNOT_RUN);
    able.map(|node| prices[node] * time(job, node).ticks() as f64).fold(f64::INFINITY, f64::min)
}

/// Raises the prices of the excluded nodes until every job prefers a node that takes part.
fn forbidding(
    columns: &NodeColumns,
    mut prices: Vec<f64>,
    jobs: usize,
    time: impl Fn(usize, usize) -> Time,
) -> Vec<f64> {
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

/// Returns the machine times of a job, or `None` if run times also depend on speeds or on the walltime of the job.
fn rows(instance: &Instance, job: JobId) -> Option<&[Time]> {
    instance.profile_of(job).machine_times().filter(|_| instance.job(job).walltime.is_none())
}

#[cfg(test)]
mod tests;
