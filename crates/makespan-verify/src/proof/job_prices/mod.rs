//! Bounds from prices of processors. The prices change over time, and all tasks of a job pay them.

mod curve;
mod ways;

use serde::{Deserialize, Serialize};

use super::capacity::open_cost;
use super::prefix::PriceIntegral;
use super::prices::{self, Sum};
use super::time_window::WindowData;
use super::{CertificateError, Kind, Scope, Value};
use curve::{JobCost, JobEnd};
use makespan_core::{EndCost, Instance, Job, Objective, Rows, Time};

/// Prices for the time of processors. Every task of every job pays these prices, and each job chooses the end at which
/// its cost is minimal.
///
/// Let `lambda(t) >= 0` be a price at each instant t, and `a_k >= 0` the share of this price that a processor of node k
/// costs. Let `open_k(t)` be the number of open processors of node k. Let `w_j` be the weight of job j, and `d_j` its
/// deadline. Every schedule in which job j ends at `C_j` satisfies
///
/// `sum_j f_j(C_j)  >=  sum_j min_C [ f_j(C) + sum over tasks i of j of m_i(C) ]  -  sum_k integral of a_k lambda open_k`
///
/// Here, `f_j(C)` is `w_j C` for the weighted completion, C for the mean flow, and `w_j max(0, C - d_j)` for the
/// weighted tardiness. For the total penalty, it is the weight multiplied by the penalty of an end at C. `m_i(C)` is the minimum that task i can pay if the job ends by C. The payment for a run of length
/// t from s on is the number of processors of the run, multiplied by the integral of `a_k lambda` over `[s, s + t]`.
/// The minimum is over the choices of an allotment and nodes for the task, and over the starts s from its head until
/// `C - tail - t`. The head of a task is the length of the longest path before it, and its tail is the length of the
/// longest path after it. For sequential tasks, heads and tails include the transfers that no placement avoids
/// ([`super::JobReach`]). If a task holds several processors, it pays, for each of them, the minimum price of the nodes
/// that are at least as fast as its slowest processor.
///
/// For each job, the sum of the `m_i(C)` may be replaced by another lower bound on the payments of the job: in the last x
/// ticks of the job, its tasks do at most as much work as all processors do in the blocks of the job
/// ([`super::JobSpans::blocks`]). At prices that never rise, the least payment for this work is the payment for the
/// blocks. So the second bound is the payment for the blocks if the price of each instant is the minimum price since
/// the least head of a task of the job. The check takes the larger minimum over C of both bounds.
///
/// *Proof.* In a schedule, each task of job j runs between its head and `C_j - tail`, so it pays at least `m_i(C_j)`.
/// All tasks together pay at most `sum_k integral of a_k lambda open_k`, because tasks never hold more processors of a
/// node than are open. So the value of the schedule does not increase if the payments are added and this sum is
/// subtracted. The result is a sum over jobs, and the term of each job is at least its minimum. ∎
///
/// Unlike the prices of [`super::TimePrices`], these prices support graphs and unequal processors, because all tasks of
/// a job depend on the end of the job. Source: Lagrangian relaxation of the processors in a time-indexed programme, as
/// in R. H. Möhring, A. S. Schulz, F. Stork, M. Uetz, Management Science 49(3), 2003, DOI 10.1287/mnsc.49.3.330.12737,
/// but with one window for each task instead of the edges between tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPrices {
    /// The instants `t_0 .. t_J`, ascending and not negative. Between successive instants, the price is constant.
    pub instants: Vec<Time>,
    /// The price from `t_j` to `t_j+1`, in `2^-scale` millionths of weight. The price is zero before `t_0` and after
    /// `t_J`.
    pub prices: Vec<i64>,
    /// For each node, the share of the price that one of its processors costs. If the list is empty, all shares are
    /// one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shares: Vec<u64>,
    /// Number of binary places of the prices.
    pub scale: u32,
}

impl Kind for JobPrices {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::SUMS_OF_ENDS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    /// Returns the proven value. Values are integers, so a fractional bound is rounded up. Takes O(a^2 J) and a sort
    /// for each task, where J is the number of prices and a is the number of choices of the task (at most 16).
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check(instance)?;
        let shape = objective.shape().ok_or(CertificateError::OtherObjective { objective })?;
        let sum = if objective.is_mean() {
            // Computes the sum of the completion times with weight 1, and converts it to the mean flow.
            let plain = JobCost { weight: 1, from: 0, penalty: None };
            prices::flow(self.sum(instance, |_| plain)?, instance)
        } else {
            self.sum(instance, |job| {
                let EndCost { weight, from, penalty, .. } = shape.cost(job);
                JobCost { weight: weight.into(), from: from.into(), penalty }
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

    /// Returns a lower bound on the sum of the costs of all jobs. `weigh` returns the cost of a job.
    fn sum<'a>(
        &self,
        instance: &'a Instance,
        weigh: impl Fn(&'a Job<Rows>) -> JobCost<'a>,
    ) -> Result<i128, CertificateError> {
        let overflow = || CertificateError::Overflow;
        let shares =
            if self.shares.is_empty() { vec![1; instance.platform().nodes().len()] } else { self.shares.clone() };
        let integral = PriceIntegral::new(&self.instants, &self.prices).ok_or_else(overflow)?;
        let (known, mut negative) = (WindowData::new(instance), Sum::default());
        // The head of the last job with blocks, and the lowered prices from this head on.
        let mut lowered: Option<(i128, PriceIntegral)> = None;
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            let open = open_cost(instance, &shares, pair[0].ticks().into(), pair[1].ticks().into());
            negative.add(open.and_then(|open| open.checked_mul(price.into())))?;
        }
        for (id, job) in instance.ids().zip(instance.jobs()) {
            // Delaying a job without weight costs nothing. So the job can run after the last instant of the prices, and
            // pays nothing.
            let cost = weigh(job);
            if cost.weight == 0 {
                continue;
            }
            let weight = cost.weight.checked_mul(1 << self.scale).ok_or_else(overflow)?;
            let ways = ways::of_job(&known, id, &shares)?;
            let end = JobEnd { cost: JobCost { weight, ..cost }, soonest: ways.soonest };
            let mut least = curve::least(&ways.tasks, job.equal_tasks(), &integral, end).ok_or_else(overflow)?;
            if !ways.blocks.is_empty() {
                if lowered.as_ref().is_none_or(|(head, _)| *head != ways.head) {
                    lowered = Some((ways.head, self.lowered(ways.head).ok_or_else(overflow)?));
                }
                let of_blocks = lowered.as_ref().and_then(|(_, prices)| curve::least(&ways.blocks, 1, prices, end));
                least = least.max(of_blocks.ok_or_else(overflow)?);
            }
            negative.add(Some(-least))?;
        }
        // The shift rounds down the negative of the bound, so the bound is rounded up.
        Ok(-(negative.0 >> self.scale))
    }

    /// Returns the integral of the lowered price: at every instant, the minimum price since `head`. Returns `None` on
    /// overflow.
    fn lowered(&self, head: i128) -> Option<PriceIntegral> {
        let is_priced = self.instants.first().is_some_and(|first| i128::from(first.ticks()) <= head);
        let mut least = if is_priced { i64::MAX } else { 0 };
        let lower = |(pair, &price): (&[Time], &i64)| {
            if i128::from(pair[1].ticks()) > head {
                least = least.min(price);
            }
            least.min(price)
        };
        let prices: Vec<i64> = self.instants.windows(2).zip(&self.prices).map(lower).collect();
        PriceIntegral::new(&self.instants, &prices)
    }
}

#[cfg(test)]
mod tests;
