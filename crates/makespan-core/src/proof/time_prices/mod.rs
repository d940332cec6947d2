//! Prices for processor time that change at given instants: a Lagrangian bound in continuous time.

mod blocks;
mod closed;
mod deadline;
mod least;
mod machines;
mod run;
mod wide;

use serde::{Deserialize, Serialize};

use super::dual_feasible::Most;
use super::error::malformed;
use super::prefix::Prefix;
use super::prices::{self, Sum};
use super::{CertificateError, Kind, Scale, Scope, Value};
use crate::model::{Instance, Job, JobId, Rows, Time};
use crate::schedule::Objective;
use closed::Closed;
pub use deadline::DeadlinePrices;
use least::Least;
pub use machines::MachineTimePrices;
use wide::Wide;

/// At most so many functions of the width have prices.
const MAX_WIDTHS: usize = 16;

/// Bags are looked at with all their tasks in instances of at most so many jobs.
const MAX_BAGS: usize = 4096;

/// A weight of one, in millionths.
const ONE: u64 = 1_000_000;

/// A price `lambda(t) >= 0` of a processor at every instant `t`.
///
/// Let `open(t)` be the processors that are open at `t`. *Any* such function gives a lower bound on weighted
/// completion:
///
/// `sum_i min_(k, s >= r_i) [ w_i (s + p_i(k)) + k * integral of lambda over [s, s + p_i(k)] ] - integral of lambda * open`,
///
/// where only those k and s count for which k processors are open throughout `[s, s + p_i(k))`.
///
/// A bag stands for as many jobs as it has tasks, of weight [`Job::task_weight`] each. If it has more tasks than fit side by side,
/// all on k processors, its last end C counts instead: it costs at least the least over C of its weight times C plus what its tasks
/// pay. At most `q = floor(m / k)` of them overlap, so of the l that end last some `ceil(l / q)` run one after the other, and
/// the l-th from the end ends by `C - (ceil(l / q) - 1) p` (rounds beyond the eighth part of all are taken together).
///
/// *Proof* (weak duality). Take a schedule; job i runs on `k_i` processors from `s_i`. At every instant the jobs that run
/// hold at most `open(t)` processors, so the sum over the jobs of `k_i` times the integral of `lambda` over its run is
/// at most the integral of `lambda * open`. Adding the difference, which is at most zero, to the weighted completion
/// lowers it; what comes out is a sum over jobs, each at least its minimum. ∎
///
/// `lambda` is constant between successive instants and zero before the first and after the last. Then what stands in
/// the brackets is, for fixed k, piecewise linear in s, of slope `w_i + k (lambda(s + p) - lambda(s))`. It is least at
/// the release date or where this slope rises: where s is an instant at which the price falls, or s + p is one at
/// which it rises; or at an end of an interval of starts that unavailable periods allow, where s is an instant at which
/// processors open, or s + p one at which some close. Only those are tried.
///
/// A profile that accepts at most 256 numbers of processors is searched through. Beyond, successive allotments are
/// grouped: up to 64 each stands alone, and from k on a group holds k / 32 of them. A group is replaced by something
/// that is better than each of its members: it completes in the shortest time of the group and pays for its smallest
/// allotment during the shortest time (or, where prices never rise after the release date, during as long as the
/// least work of the group lasts on that allotment: the same work on more processors is bought earlier, so dearer).
/// The bound stays valid and is a little weaker. Where a member of the group is open throughout, so is what replaces it.
///
/// With a *horizon* H only the schedules in which every job ends by H are spoken of: the minimum is taken over
/// `s + p_i(k) <= H`, where `s = H - p_i(k)` is tried too. What follows is a lower bound on the weighted completion
/// of every schedule of makespan at most H, by the same proof (a group ends by H where one of its members does).
///
/// *Widths.* Let f be a function of the number of processors that never falls, F(c) the most that it sums to over widths of at
/// most c in all (J. Carlier, E. Néron, EJOR 149, 2003, DOI 10.1016/S0377-2217(02)00763-4, price energy in this way), and
/// `lambda_f(t) >= 0` one more price. What runs at an instant sums to at most `F(open(t))`, so a job on k processors pays `f(k)
/// lambda_f` besides, and `integral of lambda_f * F(open)` is taken off, by the same proof. Two jobs that do not fit beside
/// each other then pay for the processors that they leave idle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimePrices {
    /// `t_0 .. t_J`, ascending, not negative.
    pub instants: Vec<Time>,
    /// The price from `t_j` to `t_j+1`, one fewer than instants, in `2^-scale` millionths of weight a processor.
    pub prices: Vec<i64>,
    /// The binary places of the prices.
    pub scale: u32,
    /// Every job ends by this instant; without it, whenever it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub horizon: Option<Time>,
    /// Prices of functions of the number of processors, besides; at most 16.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub widths: Vec<WidthPrices>,
}

/// What a function of the number of processors costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WidthPrices {
    /// The function.
    pub widths: Scale,
    /// The price of a unit of its value from `t_j` to `t_j+1`, in the same unit as that of a processor.
    pub prices: Vec<i64>,
}

impl Kind for TimePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion, Objective::MeanFlow]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// Rounded down; the mean flow is the bound on the sum of completion times (all weights one, shared by the tasks of a
    /// bag), without the release dates, over the number of jobs. At worst O(J log J) for each job and allotment, J prices;
    /// most allotments and starts are ruled out together.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if objective != Objective::MeanFlow {
            return self.completion(instance, |job| job.task_weight().millionths()).map(Value::Integer);
        }
        // A sum of completion times is a whole number of ticks, so a fraction proves the next one.
        let completion = self.completion(instance, |job| ONE / job.tasks())? + i128::from(ONE) - 1;
        Ok(Value::Integer(prices::flow(completion / i128::from(ONE), instance)))
    }

    fn horizon(&self) -> Option<Time> {
        self.horizon
    }
}

impl TimePrices {
    /// The sum of completion times that follows when each task has the weight that `weigh` gives it, in millionths.
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

    /// What all jobs pay and wait at least, and the price of what is open.
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
        let prefix = Prefix::new(&self.instants, &self.prices).ok_or(overflow.clone())?;
        let closed = || Closed::of(instance, &prefix);
        let mut least = Least::new(&prefix, closed(), self.horizon);
        let mut wide = Wide::new(&self.instants, &self.prices, &self.widths, closed(), self.horizon);
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
                // The tasks share the weight that they are given.
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

    /// The price of all that is open.
    fn refunded(&self, instance: &Instance) -> Result<i128, CertificateError> {
        let mut sum = Sum::default();
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            sum.add(instance.availability().open_area(pair[0], pair[1]).checked_mul(i128::from(price)))?;
        }
        for term in &self.widths {
            let most = Most::by_room(&term.widths, instance.processors())?;
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
