//! Prices for processor time that change at given instants: a Lagrangian bound in continuous time.

mod prefix;

use serde::{Deserialize, Serialize};

use super::CertificateError;
use super::choices::{self, Choice};
use crate::{Instance, Job, Time};
use prefix::Prefix;

/// A weight of one, in millionths.
const ONE: u64 = 1_000_000;

/// A price `lambda(t) >= 0` of a processor at every instant `t`.
///
/// Let `open(t)` be the processors that are open at `t`. *Any* such function gives a lower bound on weighted
/// completion:
///
/// `sum_i min_(k, s >= r_i) [ w_i (s + p_i(k)) + k * integral of lambda over [s, s + p_i(k)] ] - integral of lambda * open`.
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
/// which it rises. Only those are tried.
///
/// A profile that accepts at most 256 numbers of processors is searched through. Beyond, successive allotments are
/// grouped: up to 64 each stands alone, and from k on a group holds k / 32 of them. A group is replaced by something
/// that is better than each of its members: it completes in the shortest time of the group and pays for its smallest
/// allotment during the shortest time (or, where prices never rise after the release date, during as long as the
/// least work of the group lasts on that allotment: the same work on more processors is bought earlier, so dearer).
/// The bound stays valid and is a little weaker.
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

impl TimePrices {
    /// The weighted completion that follows, rounded down. O(J) for each job and allotment, J prices.
    ///
    /// # Errors
    /// [`CertificateError`] when the data are malformed or too large for 128 bits.
    pub fn proves(&self, instance: &Instance) -> Result<i128, CertificateError> {
        self.completion(instance, |job| job.task_weight().millionths())
    }

    /// The mean flow that follows, in thousandths of a tick, rounded down: the bound on the sum of completion times
    /// (all weights one, shared by the tasks of a bag), without the release dates, over the number of jobs.
    ///
    /// # Errors
    /// As [`TimePrices::proves`].
    pub fn proves_flow(&self, instance: &Instance) -> Result<i128, CertificateError> {
        // A sum of completion times is a whole number of ticks, so a fraction proves the next one.
        let completion = self.completion(instance, |job| ONE / job.tasks())? + i128::from(ONE) - 1;
        let released: i128 = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).sum();
        let flow = (completion / i128::from(ONE) - released).max(0);
        Ok(crate::objective::mean(flow, instance.jobs().len()))
    }

    /// The sum of completion times that follows when each task has the weight that `weigh` gives it, in millionths.
    fn completion(&self, instance: &Instance, weigh: impl Fn(&Job) -> u64) -> Result<i128, CertificateError> {
        self.check()?;
        if let Some(horizon) = self.horizon {
            let late = |job: &Job| job.profile().shortest() > horizon - job.release;
            if let Some(job) = instance.ids().find(|&id| late(instance.job(id))) {
                return Err(CertificateError::HorizonTooShort { horizon, job });
            }
        }
        self.value(instance, weigh).ok_or(CertificateError::Overflow)
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

    /// `None` on overflow.
    fn value(&self, instance: &Instance, weigh: impl Fn(&Job) -> u64) -> Option<i128> {
        let prefix = Prefix::new(&self.instants, &self.prices)?;
        let mut choices = Vec::new();
        let mut value: i128 = 0;
        for job in instance.jobs() {
            choices::of(job.profile(), prefix.never_rises_after(job.release), &mut choices);
            let cost = self.least_cost(job, weigh(job), &prefix, &choices)?;
            value = value.checked_add(cost.checked_mul(i128::from(job.tasks()))?)?;
        }
        for (pair, &price) in self.instants.windows(2).zip(&self.prices) {
            let area = instance.availability().open_area(pair[0], pair[1]);
            value = value.checked_sub(area.checked_mul(i128::from(price))?)?;
        }
        // Dividing by a power of two with a shift rounds down, the safe direction.
        Some((value >> self.scale).max(0))
    }

    /// The inner minimum for one task of a job; `None` on overflow.
    fn least_cost(&self, job: &Job, weight: u64, prefix: &Prefix, choices: &[Choice]) -> Option<i128> {
        let release = i128::from(job.release.ticks());
        let weight = i128::from(weight).checked_mul(1 << self.scale)?;
        let horizon = self.horizon.map(|horizon| i128::from(horizon.ticks()));
        // No figure below is larger than this one, so that they need no check of their own.
        let widest = choices.iter().map(|choice| choice.processors).max()?;
        let latest =
            release.max(prefix.last()).max(horizon.unwrap_or(0)) + choices.iter().map(|choice| choice.time).max()?;
        weight.checked_mul(latest)?.checked_add(widest.checked_mul(prefix.total())?)?;
        let (mut least, paid_before) = (i128::MAX, prefix.at(release));
        for choice in choices {
            let Choice { processors, paid, time } = *choice;
            let last_start = horizon.map_or(i128::MAX, |horizon| horizon - time);
            if weight * (release + time) >= least || last_start < release {
                continue;
            }
            let mut end = prefix.cursor(release + paid);
            let price = prefix.advance(&mut end, release + paid) - paid_before;
            least = least.min(weight * (release + time) + processors * price);
            // Starts at which the price falls, then ends at which it rises. Waiting alone soon costs too much.
            for &(start, before) in prefix.falls_after(release) {
                let waiting = weight * (start + time);
                if waiting >= least || start > last_start {
                    break;
                }
                let price = prefix.advance(&mut end, start + paid) - before;
                least = least.min(waiting + processors * price);
            }
            let mut begin = prefix.cursor(release);
            for &(end, after) in prefix.rises_after(release + paid) {
                let waiting = weight * (end - paid + time);
                if waiting >= least || end - paid > last_start {
                    break;
                }
                let price = after - prefix.advance(&mut begin, end - paid);
                least = least.min(waiting + processors * price);
            }
            if let Some(horizon) = horizon {
                let price = prefix.at(last_start + paid) - prefix.at(last_start);
                least = least.min(weight * horizon + processors * price);
            }
        }
        Some(least)
    }
}

#[cfg(test)]
mod tests;
