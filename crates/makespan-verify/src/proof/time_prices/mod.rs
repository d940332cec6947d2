//! Bounds from prices for processor time: a Lagrangian relaxation in continuous time. The prices change at given
//! instants.

mod blocks;
mod closed;
mod deadline;
mod least;
mod machines;
mod run;
mod wide;

use serde::{Deserialize, Serialize};

use super::dual_feasible::MaxSum;
use super::error::malformed;
use super::prefix::PriceIntegral;
use super::prices::{self, Sum};
use super::{CertificateError, Kind, Scale, Scope, Value};
use makespan_core::{Instance, Job, JobId, Objective, Rows, Time};

use closed::ClosedPeriods;
pub use deadline::DeadlinePrices;
use least::CostMinimiser;
pub use machines::MachineTimePrices;
use wide::WidthPayments;

/// Maximum number of functions of the width (number of processors) that have prices.
const MAX_WIDTHS: usize = 16;

/// Maximum number of jobs for which the bound uses the ends of bags.
const MAX_BAGS: usize = 4096;

/// A weight of one, in millionths.
const ONE: u64 = 1_000_000;

/// A price `lambda(t) >= 0` of a processor at every instant `t`.
///
/// Let `open(t)` be the number of processors that are open at `t`. Let `w_i` be the weight of job i, `r_i` its release,
/// and `p_i(k)` its time on k processors. *Any* function `lambda` gives a lower bound on the weighted completion:
///
/// `sum_i min_(k, s >= r_i) [ w_i (s + p_i(k)) + k * integral of lambda over [s, s + p_i(k)] ] - integral of lambda * open`
///
/// Here, the minimum is over all allotments k and starts s for which k processors are open during the whole of
/// `[s, s + p_i(k))`.
///
/// Each task of a bag is treated as a job of weight [`Job::task_weight`]. A bag of tasks that all take k processors may
/// have more tasks than can run at the same time. Then the bound uses the end C of the bag, which is the last end of
/// its tasks. The cost of the bag is its weight multiplied by C, plus the payments of its tasks, which all end by C.
/// The bound contains the minimum of this cost over all C.
///
/// Let m be the number of processors, and p the time of a task of the bag. At most `q = floor(m / k)` tasks overlap. So
/// among the l tasks that end last, there are `ceil(l / q)` tasks that run one after the other. So the l-th task from
/// the end ends by `C - (ceil(l / q) - 1) p`. Tasks with equal `ceil(l / q)` form a round. If there are more than eight
/// rounds, several rounds are combined.
///
/// *Proof* (weak duality). Consider a schedule in which job i runs on `k_i` processors from `s_i`. At every instant,
/// the running jobs hold at most `open(t)` processors. Job i pays `k_i` times the integral of `lambda` over its run.
/// So the payments of all jobs, minus the integral of `lambda * open`, are at most zero. Adding this difference to the
/// weighted completion does not increase the weighted completion. The result is a sum over jobs, and the term of each
/// job is at least its minimum. ∎
///
/// `lambda` is constant between successive instants, and zero before the first instant and after the last one. So for
/// fixed k, the expression in brackets is piecewise linear in s, with slope `w_i + k (lambda(s + p_i(k)) - lambda(s))`.
/// Its minimum is at the release date or at a start s at which this slope rises. At such a start, the price falls at s
/// or rises at `s + p_i(k)`. Unavailable periods restrict the starts to intervals. So the minimum may also be at the
/// first or the last start of such an interval, when processors open at s or close at `s + p_i(k)`. The check tries
/// only these starts.
///
/// If a profile accepts at most 256 allotments, each of them is tried. In larger profiles, successive allotments are
/// grouped. Each allotment below 64 is a group of its own. A group that starts at k >= 64 contains k / 32 allotments,
/// rounded down. A group is replaced by a single choice that costs at most as much as each of its allotments. In this
/// choice, the job runs for the shortest time of the group, and pays for the smallest allotment of the group during
/// this time. If prices never rise after the release date, the job pays for a longer time: the time that the smallest
/// allotment needs for the minimum work of the group. Larger allotments do this work earlier, when prices are at least
/// as high, so they pay at least as much. So the bound remains valid, but is slightly weaker. If some allotment of the
/// group can run between the unavailable periods, the choice that replaces the group can run there, too.
///
/// With a *horizon* H, the bound applies only to schedules in which every job ends by H. The minimum is restricted to
/// k and s with `s + p_i(k) <= H`, and the start `s = H - p_i(k)` is tried as well. By the same proof, the result is a
/// lower bound on the weighted completion of every schedule of makespan at most H. A group is allowed if the job ends
/// by H on at least one of its allotments.
///
/// *Widths.* Let f be a non-decreasing function of the number of processors, and F(c) the maximum sum of f over widths
/// with a total of at most c. Let `lambda_f(t) >= 0` be an additional price (as in J. Carlier, E. Néron, EJOR 149,
/// 2003, DOI 10.1016/S0377-2217(02)00763-4). The values f of the jobs that run at an instant t sum to at most
/// `F(open(t))`. So a job on k processors also pays the integral of `f(k) lambda_f` over its run, and the bound
/// subtracts the integral of `lambda_f * F(open)`. The proof is the proof above. In this way, wide jobs also pay for
/// processors that stay idle because no other job fits on them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimePrices {
    /// The instants `t_0 .. t_J`, ascending and not negative. Between successive instants, the price is constant.
    pub instants: Vec<Time>,
    /// The price from `t_j` to `t_j+1`, in `2^-scale` millionths of weight per processor. The number of prices is one
    /// less than the number of instants.
    pub prices: Vec<i64>,
    /// Number of binary places of the prices.
    pub scale: u32,
    /// The horizon H. `None` if the bound holds for all schedules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Time>,
    /// Additional prices. Each belongs to a function of the number of processors. There are at most 16 such functions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<WidthPrices>,
}

/// The prices of a function of the number of processors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidthPrices {
    /// The function f of the number of processors.
    pub widths: Scale,
    /// The price of a unit of the function's value from `t_j` to `t_j+1`, in the unit of [`TimePrices::prices`].
    pub prices: Vec<i64>,
}

impl Kind for TimePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion, Objective::MeanFlow]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// Returns the proven value, rounded down. The mean flow follows from a bound on the sum of completion times, in
    /// which each job has weight one. The tasks of a bag share this weight. The check subtracts the release dates from
    /// the sum, and divides the result by the number of jobs.
    ///
    /// In the worst case, with J prices, takes O(J log J) for each job and allotment. Most allotments and starts are
    /// ruled out in groups.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if objective != Objective::MeanFlow {
            return self.completion(instance, |job| job.task_weight().millionths()).map(Value::Integer);
        }
        // A sum of completion times is a whole number of ticks, so a fractional bound is rounded up.
        let completion = self.completion(instance, |job| ONE / job.tasks())? + i128::from(ONE) - 1;
        Ok(Value::Integer(prices::flow(completion / i128::from(ONE), instance)))
    }

    fn horizon(&self) -> Option<Time> {
        self.horizon
    }
}

impl TimePrices {
    /// Returns the proven sum of completion times if each task has the weight from `weigh`, in millionths.
    fn completion(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<i128, CertificateError> {
        self.check()?;
        let (paid, refunded) = self.weighed(instance, weigh)?;
        prices::left(paid, refunded, self.scale)
    }

    fn check(&self) -> Result<(), CertificateError> {
        if self.widths.len() > MAX_WIDTHS {
            return malformed("at most 16 functions of the width have prices");
        }
        self.widths.iter().try_for_each(|term| term.widths.check())?;
        let lists = self.widths.iter().map(|term| &term.prices).chain([&self.prices]);
        prices::check_in_time(&self.instants, self.scale, lists)
    }

    /// Returns the sum of the minimum costs of all jobs, and the price of all open processors. The cost of a job is its
    /// weighted end plus its payments.
    fn weighed(
        &self,
        instance: &Instance,
        weigh: impl Fn(&Job<Rows>) -> u64,
    ) -> Result<(i128, i128), CertificateError> {
        let overflow = CertificateError::Overflow;
        if let Some(horizon) = self.horizon {
            let late = |id: JobId| instance.profile_of(id).shortest() > horizon - instance.job(id).release;
            if let Some(job) = instance.ids().find(|&id| late(id)) {
                return Err(CertificateError::HorizonTooShort { horizon, job });
            }
        }
        let prefix = PriceIntegral::new(&self.instants, &self.prices).ok_or(overflow.clone())?;
        let closed = || ClosedPeriods::of(instance, &prefix);
        let mut least = CostMinimiser::new(&prefix, closed(), self.horizon);
        let mut wide = WidthPayments::new(&self.instants, &self.prices, &self.widths, closed(), self.horizon);
        let with_rounds = instance.jobs().len() <= MAX_BAGS;
        let mut value = Sum::default();
        for (id, job) in instance.ids().zip(instance.jobs()) {
            let (profile, tasks) = (instance.profile_of(id), job.tasks());
            let weight = i128::from(weigh(job)).checked_mul(1 << self.scale).ok_or(overflow.clone())?;
            let cost = if self.widths.is_empty() {
                least.cost(profile, job.release, weight)
            } else {
                wide.cost(profile, job.release, weight)
            };
            let cost = cost.ok_or(overflow.clone())?;
            if let (i128::MAX, Some(horizon)) = (cost, self.horizon) {
                return Err(CertificateError::HorizonTooShort { horizon, job: id });
            }
            let mut all = cost.checked_mul(i128::from(tasks)).ok_or(overflow.clone())?;
            let processors = profile.min_processors();
            let beside = u64::from(instance.processors() / processors);
            if with_rounds && profile.is_rigid() && tasks > beside {
                let rigid = (processors, profile.shortest().ticks());
                // `weigh` returns the weight of each task, and the tasks share the weight of the bag.
                let weight = weight.checked_mul(i128::from(tasks)).ok_or(overflow.clone())?;
                let joint = wide.bag(rigid, job.release, weight, tasks, beside).ok_or(overflow.clone())?;
                if let (i128::MAX, Some(horizon)) = (joint, self.horizon) {
                    return Err(CertificateError::HorizonTooShort { horizon, job: id });
                }
                all = all.max(joint);
            }
            value.add(Some(all))?;
        }
        Ok((value.0, self.refunded(instance)?))
    }

    /// Returns the price of all open processors over all time, which the bound subtracts.
    fn refunded(&self, instance: &Instance) -> Result<i128, CertificateError> {
        let mut sum = Sum::default();
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            sum.add(instance.availability().open_area(pair[0], pair[1]).checked_mul(i128::from(price)))?;
        }
        for term in &self.widths {
            let most = MaxSum::by_room(&term.widths, instance.processors())?;
            for (pair, &price) in self.instants.windows(2).zip(&term.prices).filter(|(_, price)| **price > 0) {
                for (length, open) in instance.availability().open_periods(pair[0], pair[1]) {
                    let there = i128::from(length.ticks()).checked_mul(i128::from(most.at(i64::from(open))));
                    sum.add(there.and_then(|there| there.checked_mul(i128::from(price))))?;
                }
            }
        }
        Ok(sum.0)
    }
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;
