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

use makespan_core::certificate::{CostPrices, MachinePrices};
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

/// The bound on an objective, of an instance that [`check`] accepts.
pub fn bound(instance: &Instance, objective: Objective) -> Bound {
    bound_by(instance, objective, &prices(instance))
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
    let nodes = instance.platform().nodes();
    let columns = columns(instance);
    let jobs = instance.ids().map(|id| instance.job(id).tasks() as f64).collect::<Vec<_>>();
    let time = |job: usize, node: usize| match rows(instance, job) {
        Some(row) => row[node],
        None => instance.time_on(JobId(job as u32), node).unwrap_or(Profile::CANNOT_RUN),
    };
    maximise(&columns, &jobs, nodes.len(), time)
}

/// The times of a job as they are, where they need no look at speed and walltime.
fn rows(instance: &Instance, job: usize) -> Option<&[Time]> {
    let job = &instance.jobs()[job];
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
