//! Bounds from prices that change over time, with separate prices for each node of a platform with different
//! processors.

use serde::{Deserialize, Serialize};

use super::ONE;
use super::run::PricedRun;
use makespan_core::{Instance, Job, Objective, Rows, Time};

use crate::proof::error::unproved;
use crate::proof::prefix::PriceIntegral;
use crate::proof::prices::{self, Sum};
use crate::proof::{CertificateError, Kind, Scope, Value};

/// A price `lambda_k(t) >= 0` of a processor of node `k` at every instant `t`, for sequential jobs on nodes that
/// differ.
///
/// Let `p_ik` be the time of job i on node k, `r_i` the release of the job, and `w_i` its weight. Let `open_k(t)` be
/// the number of open processors of node k. Then *any* prices give a lower bound on the weighted completion, by the
/// proof of [`super::TimePrices`]:
///
/// `sum_i min_(k, s >= r_i) [ w_i (s + p_ik) + integral of lambda_k over [s, s + p_ik] ] - sum_k integral of lambda_k * open_k`.
///
/// The prices can also refute a deadline D. Let all weights be zero, and restrict the minimum to k and s with
/// `s + p_ik <= D`. If a schedule ends by D, the value of the expression is at most zero. So if the value is larger,
/// or if some job has no node on which it can end by D, no schedule ends by D. The makespan is then at least D plus
/// one tick.
///
/// The prices are the dual variables of the time-indexed programme of unrelated machines (A. S. Schulz, M. Skutella,
/// SIAM J. Discrete Math. 15(4), 2002, DOI 10.1137/S0895480199357078). Each task of a bag is treated as a job of
/// weight [`Job::task_weight`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineTimePrices {
    /// The instants `t_0 .. t_J`, ascending and not negative. Between successive instants, prices are constant.
    pub instants: Vec<Time>,
    /// For each node of the platform, the price from `t_j` to `t_j+1`, in `2^-scale` millionths of weight. For each
    /// node, the number of prices is one less than the number of instants.
    pub prices: Vec<Vec<i64>>,
    /// Number of binary places of the prices.
    pub scale: u32,
    /// The refuted deadline, if the certificate proves a bound on the makespan. A certificate with a deadline proves no
    /// bound on other objectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
}

impl Kind for MachineTimePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion, Objective::MeanFlow, Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::SingleTasks
    }

    /// Returns the proven value, rounded down. With J prices, takes O(J log J) for each job and node.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check(objective, instance)?;
        let value = match objective {
            Objective::Makespan => {
                let deadline = self.deadline.unwrap_or(Time::ZERO);
                match self.paid(instance, |_| 0)? {
                    Some(needed) => prices::refute(deadline, needed, self.sold(instance)?)?,
                    None => i128::from(deadline.ticks()) + 1,
                }
            }
            Objective::MeanFlow => {
                // A sum of completion times is a whole number of ticks, so a fractional bound is rounded up.
                let completion = self.completion(instance, |job| ONE / job.tasks())? + i128::from(ONE) - 1;
                prices::flow(completion / i128::from(ONE), instance)
            }
            _ => self.completion(instance, |job| job.task_weight().millionths())?,
        };
        Ok(Value::Integer(value))
    }
}

impl MachineTimePrices {
    fn check(&self, objective: Objective, instance: &Instance) -> Result<(), CertificateError> {
        if self.deadline.is_some() != (objective == Objective::Makespan) {
            return unproved("a deadline proves only a bound on the makespan");
        }
        prices::check_nodes(&self.prices, instance)?;
        prices::check_in_time(&self.instants, self.scale, &self.prices)?;
        prices::check_sequential(instance)
    }

    /// Returns the proven sum of completion times if each task has the weight from `weigh`, in millionths.
    fn completion(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<i128, CertificateError> {
        let paid = self.paid(instance, weigh)?.ok_or(CertificateError::Overflow)?;
        prices::left(paid, self.sold(instance)?, self.scale)
    }

    /// Returns the price of all open time of processors, up to the refuted deadline if the certificate has one.
    fn sold(&self, instance: &Instance) -> Result<i128, CertificateError> {
        prices::sold(instance, &self.instants, &self.prices, self.deadline.unwrap_or(Time::MAX))
    }

    /// Computes the minimum cost of each job: its weighted end plus its payments. Returns the sum of these minima.
    /// Returns `None` if a job cannot meet the deadline.
    fn paid(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<Option<i128>, CertificateError> {
        let overflow = CertificateError::Overflow;
        let prefixes: Option<Vec<PriceIntegral>> =
            self.prices.iter().map(|own| PriceIntegral::new(&self.instants, own)).collect();
        let prefixes = prefixes.ok_or(overflow.clone())?;
        let horizon = self.deadline.map_or(i64::MAX, Time::ticks);
        let mut value = Sum::default();
        for job in instance.jobs() {
            let weight = i128::from(weigh(job)).checked_mul(1 << self.scale).ok_or(overflow.clone())?;
            let mut least = i128::MAX;
            for (node, prefix) in prefixes.iter().enumerate() {
                let Some(time) = instance.time_on(job.first(), node) else { continue };
                let run = PricedRun { processors: 1, release: job.release.ticks(), time: time.ticks(), horizon };
                least = run.least(prefix, None, weight, least).ok_or(overflow.clone())?;
            }
            if least == i128::MAX {
                return Ok(None);
            }
            value.add(least.checked_mul(i128::from(job.tasks())))?;
        }
        Ok(Some(value.0))
    }
}
