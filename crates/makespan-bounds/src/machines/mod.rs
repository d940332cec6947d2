//! Bounds for sequential jobs on machines that differ: prices for their time.
//!
//! The linear programme of R || Cmax is `min T, sum_k x_ik = 1, sum_i p_ik x_ik <= T - r_k, x >= 0`; its dual asks for prices
//! `lambda >= 0` with `sum_k lambda_k = 1` that maximise `sum_i min_k lambda_k p_ik + sum_k lambda_k r_k`. Here the minimum of each job
//! is made smooth, in logarithms, and Newton's method maximises it while the smoothing falls. Any prices are a proof:
//! [`MachinePrices`].
//!
//! Source: the smoothing as in Y. Nesterov, "Smooth minimization of non-smooth functions", Math. Programming 103, 2005,
//! DOI 10.1007/s10107-004-0552-5.

mod newton;

use makespan_core::certificate::{CostPrices, LateWork, MachinePrices};
use makespan_core::{Bound, Certificate, Instance, JobId, Objective, Profile, Time, Unsupported};

pub use newton::maximise;

/// The sum of the integer prices.
const SCALE: f64 = (1_u64 << 40) as f64;
/// The same where weights are multiplied with them.
const SMALL_SCALE: f64 = (1_u64 << 24) as f64;

/// The columns of the programme: one for each node, with as many machines as it has processors.
#[derive(Clone, Debug)]
pub struct Columns {
    /// Machines of each column.
    pub machines: Vec<f64>,
    /// For each column the mean over its machines of the instant, after the first release, from which they are free, as far
    /// as they are unavailable at the beginning.
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
    if instance.platform().nodes().iter().any(|node| node.parent.is_some()) {
        return Err(Unsupported("bounds are proved for processors without a network between them".into()));
    }
    Ok(())
}

/// The bound on an objective, of an instance that [`check`] accepts. On the makespan of jobs that are released one after the other
/// it is the better one of [`MachinePrices`] and [`LateWork`].
pub fn bound(instance: &Instance, objective: Objective) -> Bound {
    let prices = prices(instance);
    let bound = bound_by(instance, objective, &prices);
    if objective != Objective::Makespan || !instance.has_release_dates() {
        return bound;
    }
    late(instance, prices).filter(|late| late.value > bound.value).unwrap_or(bound)
}

/// By the work that is released from some instant on: at prices as the speeds, at these, and at those that are best for what is
/// released from the best of these instants on.
fn late(instance: &Instance, prices: Vec<f64>) -> Option<Bound> {
    let speeds = instance.platform().nodes().iter().map(|node| node.speed).collect();
    let proved = |prices: Vec<f64>| {
        let late = LateWork::best(instance, &prices);
        let from = late.from;
        Some((Bound::proved_by(Certificate::LateWork(late), instance).ok()?, from))
    };
    let first = [speeds, prices].into_iter().filter_map(proved).max_by_key(|(bound, _)| bound.value)?;
    let second = proved(prices_from(instance, Some(first.1)));
    second.into_iter().chain([first]).max_by_key(|(bound, _)| bound.value).map(|(bound, _)| bound)
}

/// The bound that these prices prove, a price for each node; they need not add up to anything.
pub fn bound_by(instance: &Instance, objective: Objective, prices: &[f64]) -> Bound {
    let scale = if objective == Objective::Makespan { SCALE } else { SMALL_SCALE };
    let sum: f64 = prices.iter().zip(instance.platform().nodes()).map(|(p, node)| p * f64::from(node.processors)).sum();
    let whole = |price: &f64| (price / sum.max(f64::MIN_POSITIVE) * scale) as i64;
    let prices: Vec<i64> = prices.iter().map(whole).collect();
    let certificate = |prices| match objective {
        Objective::Makespan => Certificate::MachinePrices(prices),
        Objective::WeightedCompletion => Certificate::MachineCompletion(prices),
        Objective::MeanFlow => Certificate::MachineFlow(prices),
        Objective::Cost => Certificate::CostPrices(CostPrices::default()),
    };
    let proved = |prices| Bound::proved_by(certificate(MachinePrices { prices }), instance);
    // Figures that are too large to be checked are so with any price: without prices nothing is multiplied.
    let zero = || vec![0; instance.platform().nodes().len()];
    proved(prices).or_else(|_| proved(zero())).unwrap_or_else(|_| Bound {
        objective,
        value: 0,
        makespan_at_most: None,
        certificate: certificate(MachinePrices { prices: zero() }),
    })
}

/// Prices that nearly maximise the bound on the makespan, one for each node, adding up to 1 over all processors.
///
/// Complexity: O(n m^2) a step for up to 64 nodes, O(n m) for more, and some 60 steps; fewer where n m is above 10^7.
pub fn prices(instance: &Instance) -> Vec<f64> {
    prices_from(instance, None)
}

/// The same for the jobs that are released from an instant on, whatever the machines do before it.
fn prices_from(instance: &Instance, from: Option<Time>) -> Vec<f64> {
    let nodes = instance.platform().nodes();
    let mut columns = columns(instance);
    if from.is_some() {
        columns.ready.fill(0.0);
    }
    let late = |id: &JobId| from.is_none_or(|from| instance.job(*id).release >= from);
    let jobs: Vec<JobId> = instance.ids().filter(late).collect();
    let counts: Vec<f64> = jobs.iter().map(|&id| instance.job(id).tasks() as f64).collect();
    let time = |job: usize, node: usize| match rows(instance, jobs[job]) {
        Some(row) => row[node],
        None => instance.time_on(jobs[job], node).unwrap_or(Profile::CANNOT_RUN),
    };
    maximise(&columns, &counts, nodes.len(), time)
}

/// The times of a job as they are, where they need no look at speed and walltime.
fn rows(instance: &Instance, job: JobId) -> Option<&[Time]> {
    let job = instance.job(job);
    job.profile().machine_times().filter(|_| job.walltime.is_none())
}

fn columns(instance: &Instance) -> Columns {
    let platform = instance.platform();
    let first = instance.first_release();
    let mut ready = vec![Time::ZERO; instance.processors() as usize];
    for period in instance.unavailable().iter().filter(|period| period.start <= first) {
        for id in period.processors.iter() {
            ready[id as usize] = ready[id as usize].max(period.end.max(first) + Time::from_ticks(-first.ticks()));
        }
    }
    let of = |node: usize| {
        let own = platform.processors_of(node);
        own.iter().map(|id| ready[id as usize].ticks() as f64).sum::<f64>() / f64::from(own.len().max(1))
    };
    Columns {
        machines: platform.nodes().iter().map(|node| f64::from(node.processors)).collect(),
        ready: (0..platform.nodes().len()).map(of).collect(),
    }
}

#[cfg(test)]
mod tests;
