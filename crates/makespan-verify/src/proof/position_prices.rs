//! Bounds from prices for the positions of jobs on machines.

use serde::{Deserialize, Serialize};

use super::error::{malformed, unproved};
use super::prices::{self, Sum};
use super::{CertificateError, Kind, Scope, Value};
use makespan_core::{Instance, Objective};

/// A dual solution of the linear programme that assigns sequential jobs to positions on machines: for each processor, a
/// list of prices of positions. Positions are counted from the end: the last job has position 1. Positions that are not
/// in the list have price zero.
///
/// Let processor k be free from `r_k` on. Let `p_ik` be the time of job i on processor k, and `C_i` the end of job i.
/// The job at position `l` from the end delays itself, and the `l - 1` jobs after it, by its time. So the ends `C_i` of
/// a schedule sum to at least the sum of `r_k + l p_ik` over its jobs. No two jobs have the same position. So for any
/// prices `pi_kl >= 0` of the positions l on the processors k,
///
/// `sum_i C_i  >=  sum_i min_kl (r_k + l p_ik + pi_kl)  -  sum_kl pi_kl`.
///
/// Release dates after the first one, and processors that close later, can only delay jobs, so the bound remains
/// valid. Without later release dates and closed processors, the best prices prove the optimum.
///
/// Source: W. A. Horn, "Minimizing average flow time with parallel machines", Operations Research 21, 1973, DOI
/// 10.1287/opre.21.3.846; J. Bruno, E. G. Coffman, R. Sethi, "Scheduling independent tasks to reduce mean finishing
/// time", Comm. ACM 17, 1974, DOI 10.1145/361082.361064.
///
/// For n jobs on m processors, if at most n positions have a price, the check takes O(n (n + m)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionPrices {
    /// For each processor of the platform, in order, the prices of its positions, counted from the end.
    pub prices: Vec<Vec<i64>>,
}

impl Kind for PositionPrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion, Objective::MeanFlow]
    }

    fn scope(&self) -> Scope {
        Scope::SingleTasks
    }

    /// Returns the proven value, rounded down. For the mean flow, one task represents each bag, because a task ends no
    /// later than its bag. The weighted completion is proved only if all jobs have equal weight and there are no bags.
    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if objective == Objective::MeanFlow {
            return Ok(Value::Integer(prices::flow(self.completions(instance)?, instance)));
        }
        let Some(weight) = instance.jobs().first().map(|job| job.weight) else {
            return Ok(Value::Integer(0));
        };
        if instance.jobs().iter().any(|job| job.weight != weight) {
            return unproved("prices of positions apply only to jobs of equal weight");
        }
        if instance.has_bags() {
            return unproved("prices of positions do not apply to bags");
        }
        let weighed = self.completions(instance)?.max(0).checked_mul(i128::from(weight.millionths()));
        weighed.map(Value::Integer).ok_or(CertificateError::Overflow)
    }
}

impl PositionPrices {
    /// Returns a lower bound on the sum of the completion times of all jobs, in ticks.
    fn completions(&self, instance: &Instance) -> Result<i128, CertificateError> {
        if self.prices.len() != instance.processors() as usize {
            return malformed("the number of lists of prices is not the number of processors");
        }
        prices::check(self.prices.iter().flatten())?;
        prices::check_sequential(instance)?;
        let ready = instance.availability().ready(instance.first_release());
        let mut all = Sum::default();
        self.prices.iter().flatten().try_for_each(|&price| all.add(Some(-i128::from(price))))?;
        let nodes: Vec<usize> = (0..instance.processors()).map(|id| instance.platform().node_of(id)).collect();
        for job in instance.jobs() {
            let mut least = None;
            for (processor, prices) in self.prices.iter().enumerate() {
                let Some(time) = instance.time_on(job.first(), nodes[processor]) else { continue };
                let mut end = i128::from(ready[processor].ticks());
                // Positions without a price all have price zero, so the first of them is the cheapest. The search
                // stops after this position.
                for price in prices.iter().copied().chain([0]) {
                    end += i128::from(time.ticks());
                    let cost = end + i128::from(price);
                    least = Some(least.map_or(cost, |least: i128| least.min(cost)));
                }
            }
            // The minimum exists, because every job of an instance can run somewhere.
            all.add(Some(least.unwrap_or(0)))?;
        }
        Ok(all.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::samples::two_machines;
    use crate::proof::{Bound, Proof};
    use makespan_core::{Objective, Platform, Weight};

    fn proves(instance: &Instance, prices: [&[i64]; 2]) -> Result<i128, CertificateError> {
        PositionPrices { prices: prices.map(<[i64]>::to_vec).to_vec() }.completions(instance)
    }

    #[test]
    fn prices_of_positions_by_hand() {
        // Three jobs of 4 on two equal machines end at 4, 4 and 8.
        let equal = two_machines(&[[4, 4], [4, 4], [4, 4]], &[]);
        assert_eq!(proves(&equal, [&[], &[]]), Ok(12));
        assert_eq!(proves(&equal, [&[4], &[4]]), Ok(16));
        // Prices above the best ones prove less.
        assert_eq!(proves(&equal, [&[9], &[9]]), Ok(3 * 8 - 18));
        // Machine 1 is closed in two periods until 3, and again from 50. In the best schedule, the jobs end at 4, 8 and
        // 7.
        let late = two_machines(&[[4, 4], [4, 4], [4, 4]], &[("1", 2, 3), ("1", 0, 2), ("1", 50, 60)]);
        assert_eq!(proves(&late, [&[4], &[1]]), Ok(19));
        let bound = Bound::proved_by(
            Objective::MeanFlow,
            Proof::PositionPrices(PositionPrices { prices: vec![vec![4], vec![1]] }),
            &late,
        );
        assert_eq!(bound.map(|bound| (bound.objective, bound.value.integer())), Ok((Objective::MeanFlow, 6333)));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        let equal = two_machines(&[[4, 4], [4, 4]], &[]);
        for prices in [vec![vec![]], vec![vec![-1], vec![]], vec![vec![], vec![], vec![]]] {
            let prices = PositionPrices { prices };
            assert!(
                matches!(prices.value(Objective::MeanFlow, &equal), Err(CertificateError::Malformed(_))),
                "{prices:?}"
            );
        }
        let none = PositionPrices { prices: vec![vec![], vec![]] };
        assert_eq!(none.value(Objective::WeightedCompletion, &equal), Ok(Value::Integer(8_000_000)));
        let mut jobs = equal.all_submitted();
        jobs[1].weight = Weight::ZERO;
        let unequal = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
        assert!(matches!(none.value(Objective::WeightedCompletion, &unequal), Err(CertificateError::Unproved(_))));
    }
}
