//! Bounds from the work that is released at or after an instant.

use serde::{Deserialize, Serialize};

use super::{CertificateError, Kind, Scope, Value, prices};
use makespan_core::{Instance, Objective, Time};

/// A bound on the makespan from the work that is released at or after an instant `from`, and therefore cannot start
/// earlier.
///
/// Let `lambda_k >= 0` be a price for a tick on one processor of node `k`, and `p_ik` the time of task `i` on this
/// node. On any node, a sequential task `i` pays at least `N_i = min_k lambda_k p_ik`. Among the tasks that are
/// released at `from` or later, consider the `n` tasks with the largest `N_i`. These tasks start at `from` or later. At
/// every instant, at most `n` of them run. So the prices of their processors sum to at most the sum of the `n` largest
/// prices over all processors of the platform. So no schedule ends before
///
/// `from + (sum of the n largest N_i) / (sum of the n largest prices of processors)`.
///
/// Unavailable periods and networks only make schedules longer. If prices are proportional to the speeds and all tasks
/// are included, this is the bound of E. Horvath, S. Lam, R. Sethi, J. ACM 24(1), 1977, DOI 10.1145/321992.321995.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateWork {
    /// The bound includes only the tasks that are released at this instant or later.
    pub from: Time,
    /// The number `n` of tasks that the bound includes: the tasks with the largest payments. `None` means all tasks
    /// that are released at `from` or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// For each node of the platform, in order, the price of a tick on one of its processors.
    pub prices: Vec<i64>,
}

impl Kind for LateWork {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::SingleTasks
    }

    /// Returns the proven makespan in ticks, rounded up.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let nodes = instance.platform().nodes();
        prices::check_nodes(&self.prices, instance)?;
        prices::check(&self.prices)?;
        prices::check_sequential(instance)?;
        let mut paid: Vec<(i128, u64)> = Vec::new();
        for job in instance.jobs().iter().filter(|job| job.release >= self.from) {
            let nodes = self.prices.iter().zip(nodes).enumerate().filter(|(_, (_, node))| node.processors > 0);
            let each = nodes.filter_map(|(node, (&price, _))| Some((instance.time_on(job.first(), node)?, price)));
            let least = each.map(|(time, price)| i128::from(time.ticks()) * i128::from(price)).min();
            paid.push((least.unwrap_or(0), job.tasks()));
        }
        if paid.is_empty() {
            return Ok(Value::Integer(0));
        }
        let sold: Vec<(i128, u64)> =
            self.prices.iter().zip(nodes).map(|(&price, of)| (i128::from(price), u64::from(of.processors))).collect();
        let most = self.tasks.unwrap_or(u64::MAX);
        let (needed, sold) = (largest(paid, most), largest(sold, most));
        let (needed, sold) = (needed.ok_or(CertificateError::Overflow)?, sold.ok_or(CertificateError::Overflow)?);
        // If all included prices are zero, the certificate proves only `from`.
        let length = if sold > 0 { (needed + (sold - 1)) / sold } else { 0 };
        Ok(Value::Integer(i128::from(self.from.ticks()) + length))
    }
}

/// Returns the sum of the `most` largest values. Each entry of `each` is a value and the number of its occurrences.
fn largest(mut each: Vec<(i128, u64)>, mut most: u64) -> Option<i128> {
    each.sort_unstable_by(|a, b| b.cmp(a));
    each.into_iter().try_fold(0_i128, |sum, (value, count)| {
        let taken = count.min(most);
        most -= taken;
        sum.checked_add(value.checked_mul(i128::from(taken))?).filter(|&sum| sum < i128::MAX / 2)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, Proof};
    use makespan_core::{Job, Node, Platform, Profile};

    fn s(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    /// Returns an instance with tasks, given as (size, release), on nodes of speeds 1 and 3.
    fn flow(tasks: &[(i64, i64)]) -> Instance {
        let node = |speed: u32| Node { speed: f64::from(speed), ..Node::new(speed.to_string(), 1) };
        let job = |(at, &(size, release)): (usize, &(i64, i64))| {
            Job::new(at.to_string(), Profile::rigid(1, s(size)).unwrap()).with_release(s(release))
        };
        let platform = Platform::new([1, 3].map(node).to_vec()).unwrap();
        Instance::new(platform, tasks.iter().enumerate().map(job).collect(), vec![]).unwrap()
    }

    fn proves(instance: &Instance, from: i64, tasks: Option<u64>, prices: &[i64]) -> Result<i128, CertificateError> {
        LateWork { from: s(from), tasks, prices: prices.to_vec() }.proves(instance)
    }

    #[test]
    fn late_work_by_hand() {
        let seconds = |seconds: i64| Ok(i128::from(s(seconds).ticks()));
        // The first bound is the work of all tasks, divided by the sum of all speeds. The second bound is the time of
        // the largest task on the fast node. The third bound follows from the work that is released at 4.
        assert_eq!(proves(&flow(&[(9, 0), (9, 0), (6, 0)]), 0, None, &[1, 3]), seconds(6));
        assert_eq!(proves(&flow(&[(30, 0), (3, 0)]), 0, Some(1), &[1, 3]), seconds(10));
        assert_eq!(proves(&flow(&[(9, 0), (9, 4), (9, 4), (9, 4), (9, 4)]), 4, None, &[1, 3]), seconds(13));
        // If no task is released at or after `from`, the bound is 0. If all prices are zero, or if no task is included,
        // the bound is `from`.
        assert_eq!(proves(&flow(&[(9, 0)]), 1, None, &[1, 3]), Ok(0));
        assert_eq!(proves(&flow(&[(9, 2)]), 1, None, &[0, 0]), seconds(1));
        assert_eq!(proves(&flow(&[(9, 2)]), 1, Some(0), &[1, 3]), seconds(1));
        // The bound includes every task of a bag.
        let bag = |job: Job| job.with_count(4.try_into().unwrap());
        let bag = flow(&[]).with_jobs(flow(&[(9, 0)]).all_submitted().into_iter().map(bag).collect());
        assert_eq!(proves(&bag, 0, None, &[1, 3]), seconds(9));
        assert_eq!(proves(&bag, 0, Some(1), &[1, 3]), seconds(3));
    }

    #[test]
    fn what_is_no_late_work_is_refused() {
        let instance = flow(&[(9, 0), (9, 0)]);
        assert!(matches!(proves(&instance, 0, None, &[1]), Err(CertificateError::Malformed(_))));
        assert!(matches!(proves(&instance, 0, None, &[1, -1]), Err(CertificateError::Malformed(_))));
        let proof = Proof::LateWork(LateWork { from: Time::ZERO, tasks: None, prices: vec![i64::MAX, i64::MAX] });
        let bound = Bound::proved_by(Objective::Makespan, proof, &instance).unwrap();
        assert_eq!((bound.verify(&instance), bound.value.integer() > 0), (Ok(()), true));
        let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound };
        assert!(matches!(higher.verify(&instance), Err(CertificateError::TooStrong { .. })));
    }
}
