//! Prices in time for each node of a platform whose processors differ.

use serde::{Deserialize, Serialize};

use super::ONE;
use super::prefix::Prefix;
use super::run::Run;
use crate::model::{Instance, Job, ProcSet, Rows, Time};
use crate::proof::{CertificateError, Kind, Scope, Value};
use crate::schedule::{Objective, mean};

/// A price `lambda_k(t) >= 0` of a processor of node `k` at every instant `t`, for sequential jobs on nodes that differ.
///
/// With `p_ik` the time of job i on node k and `open_k(t)` the open processors of the node, *any* prices give a lower bound on
/// weighted completion, by the proof of [`super::TimePrices`]:
///
/// `sum_i min_(k, s >= r_i) [ w_i (s + p_ik) + integral of lambda_k over [s, s + p_ik] ] - sum_k integral of lambda_k * open_k`.
///
/// And where all weights are zero and only those k and s count for which `s + p_ik <= D`, it is at most zero if a schedule ends
/// by the deadline D: more refutes D, and so does a job without such a k. The makespan is then at least one tick more.
///
/// These are the dual variables of the time-indexed programme of unrelated machines (A. S. Schulz, M. Skutella, SIAM J. Discrete
/// Math. 15(4), 2002, DOI 10.1137/S0895480199357078). A bag stands for as many jobs as it has tasks, of weight
/// [`Job::task_weight`] each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineTimePrices {
    /// `t_0 .. t_J`, ascending, not negative.
    pub instants: Vec<Time>,
    /// For each node of the platform the price from `t_j` to `t_j+1`, one fewer than instants, in `2^-scale` millionths of weight.
    pub prices: Vec<Vec<i64>>,
    /// The binary places of the prices.
    pub scale: u32,
    /// Of the makespan: the deadline that is refuted. Nothing else is proved with one.
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

    /// Rounded down. O(J log J) for each job and node, J prices.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check(objective, instance)?;
        let value = match objective {
            Objective::Makespan => {
                let deadline = self.deadline.unwrap_or(Time::ZERO);
                let proven = i128::from(deadline.ticks()) + 1;
                let Some(needed) = self.paid(instance, |_| 0)? else { return Ok(Value::Integer(proven)) };
                let available = self.sold(instance)?;
                if needed <= available {
                    return Err(CertificateError::NotRefuted { deadline, needed, available });
                }
                proven
            }
            Objective::MeanFlow => {
                // A sum of completion times is a whole number of ticks, so a fraction proves the next one.
                let completion = self.completion(instance, |job| ONE / job.tasks())? + i128::from(ONE) - 1;
                let released: i128 = instance.jobs().iter().map(|job| i128::from(job.release.ticks())).sum();
                mean((completion / i128::from(ONE) - released).max(0), instance.jobs().len())
            }
            _ => self.completion(instance, |job| job.task_weight().millionths())?,
        };
        Ok(Value::Integer(value))
    }
}

impl MachineTimePrices {
    fn check(&self, objective: Objective, instance: &Instance) -> Result<(), CertificateError> {
        let fail = |what: &str| Err(CertificateError::Malformed(what.into()));
        if self.deadline.is_some() != (objective == Objective::Makespan) {
            return fail("a deadline belongs to the makespan, and to nothing else");
        }
        if self.prices.len() != instance.platform().nodes().len() {
            return fail("each node needs its prices");
        }
        if self.prices.iter().any(|own| own.len() + 1 != self.instants.len()) {
            return fail("there must be one instant more than prices of a node");
        }
        if self.scale > 64 {
            return fail("the scale is at most 64 places");
        }
        if self.prices.iter().flatten().any(|&price| price < 0) {
            return fail("a price must not be negative");
        }
        let ascending = self.instants.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || self.instants.first().is_some_and(|&instant| instant < Time::ZERO) {
            return fail("the instants must be ascending and not negative");
        }
        if !instance.is_sequential() {
            return fail("prices of machines speak of sequential jobs");
        }
        Ok(())
    }

    /// The sum of completion times that follows when each task has the weight that `weigh` gives it, in millionths.
    fn completion(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<i128, CertificateError> {
        let paid = self.paid(instance, weigh)?.ok_or(CertificateError::Overflow)?;
        let value = paid.checked_sub(self.sold(instance)?).ok_or(CertificateError::Overflow)?;
        // Dividing by a power of two with a shift rounds down, the safe direction.
        Ok((value >> self.scale).max(0))
    }

    /// What all jobs pay and wait at least; `None` when one of them cannot meet the deadline.
    fn paid(&self, instance: &Instance, weigh: impl Fn(&Job<Rows>) -> u64) -> Result<Option<i128>, CertificateError> {
        let overflow = CertificateError::Overflow;
        let prefixes: Option<Vec<Prefix>> = self.prices.iter().map(|own| Prefix::new(&self.instants, own)).collect();
        let prefixes = prefixes.ok_or(overflow.clone())?;
        let horizon = self.deadline.map_or(i64::MAX, Time::ticks);
        let mut value: i128 = 0;
        for job in instance.jobs() {
            let weight = i128::from(weigh(job)).checked_mul(1 << self.scale).ok_or(overflow.clone())?;
            let mut least = i128::MAX;
            for (node, prefix) in prefixes.iter().enumerate() {
                let Some(time) = instance.time_on(job.first(), node) else { continue };
                let run = Run { processors: 1, release: job.release.ticks(), time: time.ticks(), horizon };
                least = run.least(prefix, None, weight, least).ok_or(overflow.clone())?;
            }
            if least == i128::MAX {
                return Ok(None);
            }
            let all = least.checked_mul(i128::from(job.tasks()));
            value = all.and_then(|all| value.checked_add(all)).ok_or(overflow.clone())?;
        }
        Ok(Some(value))
    }

    /// The price of all open time, with a deadline until then.
    fn sold(&self, instance: &Instance) -> Result<i128, CertificateError> {
        let platform = instance.platform();
        let end = self.deadline.unwrap_or(Time::MAX);
        let mut sum: i128 = 0;
        for (node, own) in self.prices.iter().enumerate() {
            let processors = platform.processors_of(node);
            let classes: Vec<(i128, &[(Time, Time)])> = instance
                .availability()
                .classes()
                .iter()
                .filter_map(|class| {
                    let count: &ProcSet = &processors.intersection(&class.processors);
                    (!count.is_empty()).then_some((i128::from(count.len()), &class.closed[..]))
                })
                .collect();
            for (pair, &price) in self.instants.windows(2).zip(own).filter(|(_, price)| **price > 0) {
                let (from, until) = (pair[0].min(end).ticks(), pair[1].min(end).ticks());
                for (count, closed) in &classes {
                    let within =
                        |&(start, end): &(Time, Time)| (end.ticks().min(until) - start.ticks().max(from)).max(0);
                    let open =
                        i128::from(until - from) - closed.iter().map(|period| i128::from(within(period))).sum::<i128>();
                    let paid = open.checked_mul(*count).and_then(|open| open.checked_mul(i128::from(price)));
                    sum = paid.and_then(|paid| sum.checked_add(paid)).ok_or(CertificateError::Overflow)?;
                }
            }
        }
        Ok(sum)
    }
}
