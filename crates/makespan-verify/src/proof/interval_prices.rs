//! Prices of processor time in intervals of time: the dual of a linear programme for the weighted completion
//! ("minsum").

use serde::{Deserialize, Serialize};

use super::prices::{self, Sum};
use super::{CertificateError, Kind, Scope, Value, soonest_completion};
use makespan_core::{Instance, Job, Objective, Profile, Rows, Time};

/// A dual solution of the interval-indexed linear programme of Dutot, Eyraud, Mounié and Trystram (SPAA 2004, DOI
/// 10.1145/1007912.1007932, section 3.3), with a correction: here, the intervals cover all instants.
///
/// Instants `0 = b_0 < b_1 < .. < b_J` divide time into the intervals `(b_j, b_j+1]`, where `b_j+1` is the instant
/// after `b_j` in this list. The last interval has no end. Let `w_i` be the weight of job i, `r_i` its release,
/// `shortest_i` its shortest time and `C_i` its end. If job i ends in interval `j`, it costs at least
/// `w_i max(b_j + 1 tick, r_i + shortest_i)`. Then the job does at least the work `S_ij`: the minimum work over the
/// allotments on which it can end by `b_j+1`. The work of all jobs that end by `b_j+1` is at most `area(b_j+1)`: the
/// open processor time from the first release to this instant. Let `pi_j >= 0` be the price of the constraint for
/// `b_j+1`, and let `sigma_j = pi_j + pi_j+1 + ..`. Each task of a bag is treated as a job with the weight
/// [`Job::task_weight`]. Such a job costs at least this weight multiplied by the earliest instant at which the whole
/// bag can end. Then weak duality gives, for any prices,
///
/// `sum_i min_j [ w_i max(b_j + 1 tick, r_i + shortest_i) + S_ij sigma_j ] - sum_j pi_j area(b_j+1)  <=  sum_i w_i C_i`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalPrices {
    /// The instants `b_1 .. b_J` between the intervals, ascending.
    pub ends: Vec<Time>,
    /// The prices `pi_0 .. pi_J-1`, in `2^-scale` millionths of weight per processor.
    pub prices: Vec<i64>,
    /// Number of binary places of the prices.
    pub scale: u32,
}

impl Kind for IntervalPrices {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::WeightedCompletion]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// Returns the proven weighted completion, rounded down.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        self.check()?;
        let cumulated = self.cumulated();
        let (mut paid, mut sold) = (Sum::default(), Sum::default());
        for (id, job) in instance.ids().zip(instance.jobs()) {
            let soonest = soonest_completion(instance, id);
            let cost = self.least_cost(job, instance.profile_of(id), soonest, &cumulated);
            paid.add(cost.and_then(|cost| cost.checked_mul(i128::from(job.tasks()))))?;
        }
        for (&end, &price) in self.ends.iter().zip(&self.prices) {
            let area = instance.availability().open_area(instance.first_release(), end);
            sold.add(area.checked_mul(i128::from(price)))?;
        }
        prices::left(paid.0, sold.0, self.scale).map(Value::Integer)
    }
}

impl IntervalPrices {
    fn check(&self) -> Result<(), CertificateError> {
        // The first interval begins at instant 0.
        let instants = [&[Time::ZERO], &self.ends[..]].concat();
        prices::check_in_time(&instants, self.scale, [&self.prices])
    }

    /// Returns `sigma_0 .. sigma_J`. The last entry is zero.
    fn cumulated(&self) -> Vec<i128> {
        let mut sums = vec![0; self.prices.len() + 1];
        for (index, &price) in self.prices.iter().enumerate().rev() {
            sums[index] = sums[index + 1] + i128::from(price);
        }
        sums
    }

    /// Returns the minimum cost of one task over the intervals j (see [`IntervalPrices`]). The job of the task ends at
    /// `soonest` or later. Returns `None` on overflow.
    fn least_cost(&self, job: &Job<Rows>, profile: &Profile, soonest: Time, cumulated: &[i128]) -> Option<i128> {
        let alone = job.release + profile.shortest();
        let weight = i128::from(job.task_weight().millionths());
        let mut least: Option<i128> = None;
        let first = self.ends.partition_point(|&end| end < alone);
        for (index, &price) in cumulated.iter().enumerate().skip(first) {
            let begin = if index == 0 { Time::ZERO } else { self.ends[index - 1] + Time::TICK };
            let completion = i128::from(begin.max(soonest).ticks());
            let limit = self.ends.get(index).map_or(Time::MAX, |&end| end - job.release);
            let work = profile.least_work(limit)?;
            let waiting = weight.checked_mul(completion)?.checked_mul(1 << self.scale)?;
            let cost = work.checked_mul(price)?.checked_add(waiting)?;
            least = Some(least.map_or(cost, |best| best.min(cost)));
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{Platform, Profile, Weight};

    fn instance() -> Instance {
        let job = |name: &str, seconds: &str, weight: &str| {
            let time = Time::parse(seconds).unwrap();
            let profile = Profile::table(vec![time, time]).unwrap();
            Job::new(name, profile).with_weight(Weight::parse(weight).unwrap())
        };
        // A counter-example to the linear programme as printed in the paper: the programme's value is 11.4, but the
        // optimum is 6.9.
        Instance::new(Platform::flat(2).unwrap(), vec![job("a", "1", "5"), job("b", "1.9", "1")], vec![]).unwrap()
    }

    fn prices(prices: &[i64]) -> IntervalPrices {
        let ends = ["1", "2", "4"].map(|end| Time::parse(end).unwrap()).to_vec();
        IntervalPrices { ends, prices: prices.to_vec(), scale: 10 }
    }

    #[test]
    fn any_prices_stay_below_the_optimum() {
        let optimum = 6_900_000_000_000_000;
        for first in [0, 1 << 10, 1 << 20, 1 << 28] {
            for second in [0, 1 << 12, 1 << 26] {
                let value = prices(&[first, second, 0]).proves(&instance()).unwrap();
                assert!(value <= optimum, "{value}");
            }
        }
        assert_eq!(prices(&[0, 0, 0]).proves(&instance()), Ok(optimum));
    }

    #[test]
    fn malformed_prices_prove_nothing() {
        let mut short = prices(&[0, 0, 0]);
        short.prices.pop();
        let mut unordered = prices(&[0, 0, 0]);
        unordered.ends.swap(0, 1);
        for bad in [short, unordered, prices(&[0, -1, 0])] {
            assert!(matches!(bad.proves(&instance()), Err(CertificateError::Malformed(_))));
        }
    }

    #[test]
    fn figures_beyond_128_bits_are_refused() {
        let heavy = Job::new("a", Profile::rigid(1, Time::from_seconds(100_000_000)).unwrap());
        let heavy = heavy.with_weight(Weight::parse("1000000000").unwrap());
        let instance = Instance::new(Platform::flat(1).unwrap(), vec![heavy], vec![]).unwrap();
        let mut fine = prices(&[0, 0, 0]);
        fine.scale = 64;
        assert_eq!(fine.proves(&instance), Err(CertificateError::Overflow));
    }
}
