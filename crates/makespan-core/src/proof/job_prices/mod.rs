//! Prices in time that jobs of many tasks pay together.

mod curve;
mod ways;

use serde::{Deserialize, Serialize};

use super::capacity::open_cost;
use super::prefix::Prefix;
use super::prices::{self, Sum};
use super::time_window::Known;
use super::{CertificateError, Kind, Scope, Value};
use crate::model::{Instance, Job, Rows, Time};
use crate::schedule::Objective;

/// Prices for the time of processors, paid by every task of every job, where a job chooses when it ends.
///
/// Let `lambda(t) >= 0` be a price in time and `a_k >= 0` the share of it that a processor of node k costs. With `open_k(t)` the
/// open processors of node k, every schedule in which job j ends at `C_j` has
///
/// `sum_j f_j(C_j)  >=  sum_j min_C [ f_j(C) + sum over tasks i of j of m_i(C) ]  -  sum_k integral of a_k lambda open_k`,
///
/// where `f_j(C)` is `w_j C` for the weighted completion, C for the mean flow, and `w_j max(0, C - d_j)` for the weighted lateness, and
/// `m_i(C)` is the least that task i can pay if the job ends by C: the minimum, over the ways to run it and over the starts s from
/// its earliest one until `C - tail - t`, of its processors times the integral of `a lambda` over `[s, s + t]`. Heads and tails
/// are the longest paths, for sequential tasks with the transfers that no placement avoids ([`super::Reaching`]); a task that holds several
/// processors pays the least price of a node that is as fast as the slowest of them.
///
/// *Proof.* In a schedule each task of job j lies between its head and `C_j - tail`, so it pays at least `m_i(C_j)`. What all tasks
/// pay together is at most the last sum, since no more processors of a node are held at any instant than are open. Adding what is paid
/// and subtracting this sum lowers the value, and what comes out is a sum over jobs, each at least its minimum. ∎
///
/// Unlike the prices of [`super::TimePrices`] these speak of graphs and of unequal processors: the tasks of a job are bound to each other by
/// the end of the job. Source: Lagrangian relaxation of the processors in a time-indexed programme, as in R. H. Möhring, A. S.
/// Schulz, F. Stork, M. Uetz, Management Science 49(3), 2003, DOI 10.1287/mnsc.49.3.330.12737, with one window a task in place of
/// their edges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPrices {
    /// `t_0 .. t_J`, ascending, not negative.
    pub instants: Vec<Time>,
    /// The price from `t_j` to `t_j+1`, in `2^-scale` millionths of weight; zero before and after.
    pub prices: Vec<i64>,
    /// For each node the share that one of its processors costs; left out, one for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u64>,
    /// The binary places of the prices.
    pub scale: u32,
}

impl Kind for JobPrices {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::SUMS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// A fraction proves the next integer. O(a^2 J) for each task that can run in a <= 16 ways, J prices, and a sort.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check(instance)?;
        let shape = objective.shape().ok_or(CertificateError::OtherObjective { objective })?;
        let sum = if objective.is_mean() {
            // In ticks.
            prices::flow(self.sum(instance, |_| (1, Time::ZERO))?, instance)
        } else {
            self.sum(instance, |job| {
                let cost = shape.cost(job);
                (cost.weight, Time::from_ticks(cost.from))
            })?
        };
        Ok(Value::Integer(sum.max(0)))
    }
}

impl JobPrices {
    fn check(&self, instance: &Instance) -> Result<(), CertificateError> {
        prices::check_in_time(&self.instants, self.scale, [&self.prices])?;
        if self.shares.is_empty() { Ok(()) } else { prices::check_nodes(&self.shares, instance) }
    }

    /// The bound on the sum of what the ends of jobs cost: each tick after an instant, if any, so much, as `weigh` says.
    fn sum(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> (u64, Time)) -> Result<i128, CertificateError> {
        let overflow = || CertificateError::Overflow;
        let shares =
            if self.shares.is_empty() { vec![1; instance.platform().nodes().len()] } else { self.shares.clone() };
        let integral = Prefix::new(&self.instants, &self.prices).ok_or_else(overflow)?;
        let (known, mut negative) = (Known::new(instance), Sum::default());
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            let open = open_cost(instance, &shares, pair[0].ticks().into(), pair[1].ticks().into());
            negative.add(open.and_then(|open| open.checked_mul(price.into())))?;
        }
        for (id, job) in instance.ids().zip(instance.jobs()) {
            // What does not count may end when nothing costs anything any more.
            let (weight, from) = weigh(job);
            if weight == 0 {
                continue;
            }
            let weight = i128::from(weight).checked_mul(1 << self.scale).ok_or_else(overflow)?;
            let rows = ways::of_job(&known, id, &shares)?;
            let least = curve::least(&rows, job.equal_tasks(), &integral, weight, from.ticks().into());
            negative.add(least.map(|least| -least))?;
        }
        // A shift rounds down, and that of the negative value up.
        Ok(-(negative.0 >> self.scale))
    }
}

#[cfg(test)]
mod tests;
