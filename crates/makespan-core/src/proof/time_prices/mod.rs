//! Prices for processor time that change at given instants: a Lagrangian bound in continuous time.

mod blocks;
mod closed;
mod least;
mod prefix;

use serde::{Deserialize, Serialize};

use super::{CertificateError, Kind, Scope, Value};
use crate::model::{Instance, Job, JobId, Rows, Time};
use crate::schedule::{Objective, mean};
use closed::Closed;
use least::Least;
use prefix::Prefix;

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
/// A bag stands for as many jobs as it has tasks, of weight [`Job::task_weight`] each.
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
        let released: i128 = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).sum();
        let flow = (completion / i128::from(ONE) - released).max(0);
        Ok(Value::Integer(mean(flow, instance.jobs().len())))
    }

    fn horizon(&self) -> Option<Time> {
        self.horizon
    }
}

impl TimePrices {
    /// The sum of completion times that follows when each task has the weight that `weigh` gives it, in millionths.
    fn completion(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<i128, CertificateError> {
        self.check()?;
        if let Some(horizon) = self.horizon {
            let late = |id: JobId| instance.profile_of(id).shortest() > horizon - instance.job(id).release;
            if let Some(job) = instance.ids().find(|&id| late(id)) {
                return Err(CertificateError::HorizonTooShort { horizon, job });
            }
        }
        self.sum(instance, weigh)
    }

    fn check(&self) -> Result<(), CertificateError> {
        let fail = |what: &str| Err(CertificateError::Malformed(what.into()));
        if self.instants.len() != self.prices.len() + 1 {
            return fail("there must be one instant more than prices");
        }
        if self.scale > 64 {
            return fail("the scale is at most 64 places");
        }
        if self.prices.iter().any(|&price| price < 0) {
            return fail("a price must not be negative");
        }
        let ascending = self.instants.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || self.instants.first().is_some_and(|&instant| instant < Time::ZERO) {
            return fail("the instants must be ascending and not negative");
        }
        Ok(())
    }

    fn sum(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<i128, CertificateError> {
        let overflow = CertificateError::Overflow;
        let prefix = Prefix::new(&self.instants, &self.prices).ok_or(overflow.clone())?;
        let mut least = Least::new(&prefix, Closed::of(instance, &prefix), self.horizon);
        let mut value: i128 = 0;
        for (id, job) in instance.ids().zip(instance.jobs()) {
            let weight = i128::from(weigh(job)).checked_mul(1 << self.scale);
            let cost = weight
                .and_then(|weight| least.cost(instance.profile_of(id), job.release, weight))
                .ok_or(overflow.clone())?;
            if let (i128::MAX, Some(horizon)) = (cost, self.horizon) {
                return Err(CertificateError::HorizonTooShort { horizon, job: id });
            }
            let all = cost.checked_mul(i128::from(job.tasks()));
            value = all.and_then(|all| value.checked_add(all)).ok_or(overflow.clone())?;
        }
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            let area = instance.availability().open_area(pair[0], pair[1]);
            let refunded = area.checked_mul(i128::from(price));
            value = refunded.and_then(|refunded| value.checked_sub(refunded)).ok_or(overflow.clone())?;
        }
        // Dividing by a power of two with a shift rounds down, the safe direction.
        Ok((value >> self.scale).max(0))
    }
}

#[cfg(test)]
mod plain;
#[cfg(test)]
mod tests;
