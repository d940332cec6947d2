//! Bounds from prices for time on machines.

use serde::{Deserialize, Serialize};

use super::capacity::OpenProcessors;
use super::prices::{self, Sum};
use super::{CertificateError, Kind, Scope, Value};
use makespan_core::{Instance, Job, JobId, Objective, Rows, Time};

/// A dual solution of the linear programme that assigns sequential jobs to machines that differ. It consists of a price
/// for each node: the price of a tick on one of its processors.
///
/// Let `lambda_k >= 0` be the price of node `k`. Let `p_ik` be the time of job `i` on node `k`, `r_i` its release,
/// `w_i` its weight and `C_i` its end. On any machine, job `i` pays at least `N_i = min_k lambda_k p_ik`.
///
/// For the makespan, let `A_k(T)` be the open time of the processors of node `k` from the first release to `T`. By `T`,
/// jobs use at most the time `A_k(T)` on node `k`. A job that ends by `T` runs on a node with `r_i + p_ik <= T`. So a
/// schedule can end by `T` only if
///
/// `sum_i min { lambda_k p_ik : r_i + p_ik <= T }  <=  sum_k lambda_k A_k(T)`
///
/// As `T` grows, the left side never rises and the right side never falls. So the smallest `T` for which the inequality
/// holds is a lower bound on the makespan. Source of the linear programme: J. K. Lenstra, D. Shmoys, E. Tardos, Math.
/// Programming 46, 1990, DOI 10.1007/BF01585745.
///
/// For weighted completion, let `Lambda` be the sum of the prices of all processors for one tick. Job `i` needs at
/// least `q_i = N_i / Lambda` units of service. On node `k`, the job is served at a rate of at most `lambda_k /
/// Lambda`. The rates of all running jobs sum to at most 1. Now consider a single machine on which job `i` takes the
/// time `q_i`. The mean busy time of a job is the mean of the instants at which it is served. The weighted sum of the
/// mean busy times in the schedule is at least the minimum of this sum on the single machine. On this machine, Smith's
/// order (ascending `q_i / w_i`) is optimal. The end of a job is later than its mean busy time by at least half of its
/// run time, as in W. Eastman, S. Even, I. Isaacs, Management Science 11, 1964, DOI 10.1287/mnsc.11.2.268:
///
/// `sum_i w_i C_i  >=  sum_i w_i (r + q_1 + .. + q_i) + sum_i w_i (p_i - q_i) / 2`
///
/// Here, the jobs are numbered in Smith's order, `p_i` is the shortest time of job `i`, and `r` is the first release.
/// The value `sum_i w_i (r_i + p_i)` is a lower bound as well, and the check uses the larger one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachinePrices {
    /// For each node of the platform, in order, the price of a tick on one of its processors.
    pub prices: Vec<i64>,
}

/// A job and the minimum payment of one of its tasks.
struct PaidJob {
    weight: i128,
    tasks: i128,
    price: i128,
    shortest: i128,
    release: i128,
}

impl Kind for MachinePrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan, Objective::WeightedCompletion, Objective::MeanFlow]
    }

    fn scope(&self) -> Scope {
        Scope::SingleTasks
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let value = match objective {
            Objective::Makespan => self.makespan(instance),
            Objective::MeanFlow => self.flow(instance),
            _ => self.completion(instance, |job| i128::from(job.task_weight().millionths())),
        };
        value.map(Value::Integer)
    }
}

impl MachinePrices {
    /// Returns the proven makespan, in ticks.
    fn makespan(&self, instance: &Instance) -> Result<i128, CertificateError> {
        self.check(instance)?;
        if instance.jobs().is_empty() {
            return Ok(0);
        }
        let priced: Vec<(i64, OpenProcessors)> = self.priced(instance);
        let sold = |end| sold(&priced, instance.first_release(), end);
        // The search begins at the bound that follows if every job may run on every machine. In most cases, no later
        // instant is refuted.
        let needed = self.least_paid(instance, None)?.unwrap_or(0);
        let (mut low, mut high) = (instance.first_release().ticks(), i64::MAX / 2);
        while low < high {
            let middle = low + (high - low) / 2;
            if sold(middle)? >= needed { high = middle } else { low = middle + 1 }
        }
        let refutes = |end: i64| {
            let needed = self.least_paid(instance, Some(Time::from_ticks(end)))?;
            Ok(match needed {
                None => true,
                Some(needed) => needed > sold(end)?,
            })
        };
        let mut step = 1;
        while refutes(low)? {
            let Some(next) = low.checked_add(step).filter(|&next| next < i64::MAX / 2) else { break };
            if refutes(next)? {
                (low, step) = (next, step.saturating_mul(2));
                continue;
            }
            // Bisects between the last refuted instant and the first instant that is not refuted.
            let (mut refuted, mut open) = (low, next);
            while open - refuted > 1 {
                let middle = refuted + (open - refuted) / 2;
                if refutes(middle)? { refuted = middle } else { open = middle }
            }
            low = open;
            break;
        }
        Ok(i128::from(low))
    }

    /// Returns the proven mean flow, rounded down.
    fn flow(&self, instance: &Instance) -> Result<i128, CertificateError> {
        // A task of a bag ends no later than the bag. So one task represents each bag, and each job counts once.
        let single = |id: JobId| instance.submitted(id).without_copies();
        let bags = instance.has_bags().then(|| instance.with_jobs(instance.ids().map(single).collect()));
        let sum = self.completion(bags.as_ref().unwrap_or(instance), |_| 1)?;
        Ok(prices::flow(sum, instance))
    }

    fn completion(&self, instance: &Instance, weight: impl Fn(&Job<Rows>) -> i128) -> Result<i128, CertificateError> {
        self.check(instance)?;
        let overflow = CertificateError::Overflow;
        let mut jobs = Vec::with_capacity(instance.jobs().len());
        for job in instance.jobs() {
            let (mut paid, mut shortest) = (i128::MAX, i128::MAX);
            for (node, &price) in self.prices.iter().enumerate() {
                let Some(time) = instance.time_on(job.first(), node) else { continue };
                paid = paid.min(i128::from(time.ticks()) * i128::from(price));
                shortest = shortest.min(i128::from(time.ticks()));
            }
            let (weight, tasks, release) = (weight(job), i128::from(job.tasks()), i128::from(job.release.ticks()));
            jobs.push(PaidJob { weight, tasks, price: paid, shortest, release });
        }
        let alone = |job: &PaidJob| (job.weight * job.tasks).checked_mul(job.release.checked_add(job.shortest)?);
        let alone = sum(jobs.iter().map(alone));
        // Jobs without weight add nothing to the sum. If these jobs run last, they do not delay a job with a weight.
        jobs.retain(|job| job.weight > 0);
        let priced = self.in_the_order_of_smith(instance, &mut jobs);
        Ok(alone.ok_or(overflow.clone())?.max(priced.ok_or(overflow)?))
    }

    /// Returns the bound on the weighted completion of jobs with positive weight. The function computes with multiples
    /// of this bound, which are whole numbers: the factor is twice the price of a tick on all processors. At the end,
    /// it divides by this factor and rounds down. Returns `None` on overflow.
    fn in_the_order_of_smith(&self, instance: &Instance, jobs: &mut [PaidJob]) -> Option<i128> {
        let nodes = instance.platform().nodes();
        let all = sum(self
            .prices
            .iter()
            .zip(nodes)
            .map(|(&price, node)| Some(i128::from(price) * i128::from(node.processors))))?;
        if all == 0 {
            return Some(0);
        }
        // All products fit into the integer type if the largest one fits. The largest product is checked before the
        // jobs are sorted, because the comparison must not overflow.
        let heaviest = jobs.iter().map(|job| job.weight).max().unwrap_or(0);
        jobs.iter().map(|job| job.price).max().unwrap_or(0).checked_mul(heaviest)?;
        // Compares price / weight without fractions. A job with price 0 and weight 0 would compare equal to all other
        // jobs, which would make the order inconsistent. Jobs without weight were removed before.
        jobs.sort_by(|a, b| (a.price * b.weight).cmp(&(b.price * a.weight)));
        let first = i128::from(instance.first_release().ticks());
        let (mut before, mut value) = (0_i128, 0_i128);
        for job in jobs {
            // The i-th of the equal tasks of a bag ends when the work of i tasks is done. So their ends sum to the work
            // of a task, multiplied by `1 + 2 + ... + count`.
            let last = job.tasks.checked_mul(job.tasks.checked_add(1)?)?;
            let ends = job.price.checked_mul(last)?.checked_add(before.checked_mul(2 * job.tasks)?)?;
            let halves = all.checked_mul(job.shortest)?.checked_sub(job.price)?.checked_mul(job.tasks)?;
            let start = first.checked_mul(2 * job.tasks)?.checked_mul(all)?;
            let each = ends.checked_add(halves)?.checked_add(start)?;
            value = value.checked_add(each.checked_mul(job.weight)?)?;
            before = before.checked_add(job.price.checked_mul(job.tasks)?)?;
        }
        Some(value / (2 * all))
    }

    fn check(&self, instance: &Instance) -> Result<(), CertificateError> {
        prices::check_nodes(&self.prices, instance)?;
        prices::check(&self.prices)?;
        prices::check_sequential(instance)
    }

    /// Returns the minimum total payment of all jobs. If `end` is given, a job uses only nodes on which it can end by
    /// this instant. Returns `None` if a job has no such node.
    fn least_paid(&self, instance: &Instance, end: Option<Time>) -> Result<Option<i128>, CertificateError> {
        let mut all = Sum::default();
        for job in instance.jobs() {
            let latest = end.map_or(Time::MAX, |end| end - job.release);
            let prices = self.prices.iter().enumerate();
            let times = prices.filter_map(|(node, &price)| Some((instance.time_on(job.first(), node)?, price)));
            let paid = times
                .filter(|&(time, _)| time <= latest)
                .map(|(time, price)| i128::from(time.ticks()) * i128::from(price));
            let Some(paid) = paid.min() else { return Ok(None) };
            all.add(paid.checked_mul(i128::from(job.tasks())))?;
        }
        Ok(Some(all.0))
    }

    /// Returns the nodes with a positive price. Nodes with price zero are omitted, because on platforms with millions
    /// of nodes most prices are zero.
    fn priced<'a>(&self, instance: &'a Instance) -> Vec<(i64, OpenProcessors<'a>)> {
        let priced = self.prices.iter().enumerate().filter(|(_, price)| **price > 0);
        priced.map(|(node, &price)| (price, OpenProcessors::new(instance, node))).collect()
    }
}

/// Returns the total price of the open time of these nodes from the first release until the instant `end` (in ticks).
fn sold(priced: &[(i64, OpenProcessors<'_>)], first: Time, end: i64) -> Result<i128, CertificateError> {
    let each = priced
        .iter()
        .map(|(price, open)| open.within(first.ticks().into(), end.into())?.checked_mul(i128::from(*price)));
    sum(each).ok_or(CertificateError::Overflow)
}

fn sum(each: impl Iterator<Item = Option<i128>>) -> Option<i128> {
    each.into_iter().try_fold(0_i128, |all, one| all.checked_add(one?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::samples::two_machines;
    use crate::proof::{Bound, Proof};
    use makespan_core::{Objective, Platform, Profile, Weight};

    fn proves(instance: &Instance, prices: [i64; 2]) -> Result<i128, CertificateError> {
        MachinePrices { prices: prices.to_vec() }.proves(instance)
    }

    #[test]
    fn prices_bound_the_makespan() {
        let two = two_machines(&[[4, 6], [4, 6], [4, 6]], &[]);
        // The payments 3 * min(3 * 4, 2 * 6) = 36 at 5 per tick give 36 / 5 = 7.2, so the bound is 8, which is the
        // optimum.
        assert_eq!(proves(&two, [3, 2]), Ok(8));
        assert_eq!(proves(&two, [1, 1]), Ok(6));
        // Every job needs at least 4 ticks on any machine, so this bound holds for any prices.
        assert_eq!(proves(&two, [0, 0]), Ok(4));
        // The job pays nothing on the machine of price zero, so the bound is only the shortest time of the job.
        assert_eq!(proves(&two_machines(&[[5, 9]], &[]), [0, 1]), Ok(5));
        assert_eq!(proves(&two_machines(&[[5, 9]], &[]), [1, 0]), Ok(5));
        // To end before 10, both jobs must run on machine 0. But on machine 0, the second job ends at 10.
        assert_eq!(proves(&two_machines(&[[5, 10], [5, 10]], &[]), [1, 0]), Ok(10));
        assert!(matches!(proves(&two, [-1, 1]), Err(CertificateError::Malformed(_))));
        let short = MachinePrices { prices: vec![1] };
        assert!(matches!(short.proves(&two), Err(CertificateError::Malformed(_))));
    }

    #[test]
    fn closed_machines_sell_nothing() {
        let rows = [[4, 6], [4, 6], [4, 6]];
        // Machine 0 is closed from 0 to 10, so the bound follows from 36 = 3 (T - 10) + 2 T. This gives T = 13.2, which
        // is rounded up.
        assert_eq!(proves(&two_machines(&rows, &[("0", 0, 8), ("0", 5, 10)]), [3, 2]), Ok(14));
        assert_eq!(proves(&two_machines(&rows, &[("0", 100, 120)]), [3, 2]), Ok(8));
    }

    #[test]
    fn prices_bound_weighted_completion() {
        // On equal machines, the jobs end at 4, 4 and 8, so the optimum is 16. The bound of Eastman, Even and Isaacs is
        // 2 + 4 + 6 + 3 * (4 - 2) / 2 = 15. All times are multiples of 4, so the bounds are rounded up.
        let equal = two_machines(&[[4, 4], [4, 4], [4, 4]], &[]);
        let prices = MachinePrices { prices: vec![1, 1] };
        let bound =
            Bound::proved_by(Objective::WeightedCompletion, Proof::MachinePrices(prices.clone()), &equal).unwrap();
        assert_eq!((bound.objective, bound.value.integer()), (Objective::WeightedCompletion, 16_000_000));
        let flow = Bound::proved_by(Objective::MeanFlow, Proof::MachinePrices(prices), &equal).unwrap();
        assert_eq!((flow.objective, flow.value.integer()), (Objective::MeanFlow, 5333));
        assert_eq!(flow.verify(&equal), Ok(()));
    }

    #[test]
    fn jobs_without_weight_and_price_do_not_part_the_others() {
        let rows = [[20, 5], [1, 9], [20, 1]];
        let mut jobs = two_machines(&rows, &[]).all_submitted();
        jobs[1].weight = Weight::ZERO;
        let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
        // Machine 0 has price zero, so nothing is proved about jobs that could run there.
        let free = MachinePrices { prices: vec![0, 1] };
        assert!(free.value(Objective::WeightedCompletion, &instance).unwrap() <= Value::Integer(7_000_000));
        // On machine 1 alone, the bound is 1 + 6, which is the optimum. The order of the jobs in the file does not
        // matter.
        let mut jobs = instance.all_submitted();
        for (job, row) in jobs.iter_mut().zip([[0, 5], [1, 0], [0, 1]]) {
            let row = row.map(|time| if time == 0 { Profile::CANNOT_RUN } else { Time::from_ticks(time) });
            job.work.task_mut().unwrap().profile = Profile::on_machines(row).unwrap();
        }
        let instance = Instance::new(Platform::cluster(2, 1).unwrap(), jobs, vec![]).unwrap();
        assert_eq!(free.value(Objective::WeightedCompletion, &instance), Ok(Value::Integer(7_000_000)));
    }

    #[test]
    fn what_is_too_large_is_an_error() {
        let long = i64::MAX / 8;
        let rows = [[long, long], [long, long]];
        assert_eq!(proves(&two_machines(&rows, &[]), [i64::MAX, i64::MAX]), Ok(i128::from(long)));
        let prices = MachinePrices { prices: vec![i64::MAX, i64::MAX] };
        assert_eq!(
            prices.value(Objective::WeightedCompletion, &two_machines(&rows, &[])),
            Err(CertificateError::Overflow)
        );
    }
}
