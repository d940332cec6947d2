//! Refutation of a deadline by the work and the allotments of jobs.

use serde::{Deserialize, Serialize};

use super::error::{malformed, unproved};
use super::prices::refute;
use super::{CertificateError, Kind, Scope, Value};
use makespan_core::{Area, Instance, Job, Objective, Profile, Rows, Time};

/// A refuted deadline, by the argument of the dual approximation of Mounié, Rapine and Trystram (SIAM J. Comput.
/// 37(2), 2007, DOI 10.1137/S0097539701385995), extended to release dates and unavailable processors.
///
/// Suppose that all jobs end by `deadline`. Each job that is released at `from` or later either runs at the instant
/// `at` (it *crosses* this instant) or does not. A crossing job holds at least the smallest allotment with which it
/// meets the deadline. All crossing jobs together hold at most the processors that are open at `at`. A job that does
/// not cross this instant is short enough to end before `at` or to start after it. So the minimum work of a job depends
/// on whether the job crosses. Among all choices of crossing jobs, consider the choice for which the total work of all
/// jobs is least. If this work exceeds the open processor time between `from` and `deadline`, the supposition is false,
/// and the makespan is at least `deadline` plus one tick.
///
/// The tasks of a bag are treated as equal jobs. The number of these jobs that cross is at most the number that can run
/// at the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The refuted deadline.
    pub deadline: Time,
    /// Start of the examined period. The check ignores jobs that are released earlier, and the open processor time
    /// before this instant.
    pub from: Time,
    /// The instant that jobs cross: crossing jobs hold at most the processors that are open at this instant.
    pub at: Time,
    /// The method that bounds the least work over all choices of crossing jobs.
    pub selection: Selection,
}

/// A method to bound the least work over all choices of crossing jobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// A Lagrange multiplier, in ticks: the price of each processor that a job holds at the instant `at`. For n jobs
    /// on m processors, the check takes O(n log m).
    Price(i64),
    /// An exact solution. The choice of crossing jobs is a knapsack problem, which the check solves by dynamic
    /// programming in integers. For n jobs on m processors, this takes O(n m). If n m exceeds 2^27, the certificate is
    /// rejected.
    Knapsack,
}

/// Maximum number of table entries that the check computes for [`Selection::Knapsack`].
const MAX_ENTRIES: u64 = 1 << 27;

/// The minimum work and the minimum number of processors of a job.
struct Need {
    /// Minimum work if the job does not cross the instant; `None` if every run of the job crosses.
    short: Option<Area>,
    /// Minimum work, and minimum number of processors, if the job crosses the instant.
    crossing: (Area, u32),
    /// Number of equal tasks with these needs.
    tasks: u64,
}

impl Need {
    /// Returns the maximum number of these equal tasks that can cross the instant.
    fn at_most_crossing(&self, capacity: u32) -> u64 {
        self.tasks.min(u64::from(capacity / self.crossing.1.max(1)))
    }

    /// Returns true if all these tasks must cross the instant, but cannot run at the same time.
    fn overflows(&self, capacity: u32) -> bool {
        self.short.is_none() && self.at_most_crossing(capacity) < self.tasks
    }
}

impl Kind for Rejection {
    fn objectives(&self) -> &'static [Objective] {
        &[Objective::Makespan]
    }

    fn scope(&self) -> Scope {
        Scope::EqualProcessors
    }

    /// Returns the proven makespan in ticks: `deadline + 1`.
    fn value(&self, _: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.deadline == Time::ZERO {
            // A makespan is never negative, so the bound 0 is always valid.
            return Ok(Value::Integer(0));
        }
        if self.deadline <= self.from || self.at < self.from || self.at >= self.deadline {
            return malformed("the instants do not satisfy from <= at < deadline");
        }
        if matches!(self.selection, Selection::Price(price) if price < 0) {
            return malformed("a price is negative");
        }
        let proven = Ok(Value::Integer(i128::from(self.deadline.ticks()) + 1));
        let available = instance.availability().open_area(self.from, self.deadline);
        let capacity = instance.availability().open_at(self.at);
        let mut needs = Vec::with_capacity(instance.jobs().len());
        for (id, job) in instance.ids().zip(instance.jobs()).filter(|(_, job)| job.release >= self.from) {
            match self.need(job, instance.profile_of(id)) {
                Some(need) => needs.push(need),
                // This job cannot meet the deadline even if it is alone, so the deadline is refuted.
                None => return proven,
            }
        }
        if needs.iter().any(|need| need.overflows(capacity)) {
            return proven;
        }
        let needed = match self.selection {
            Selection::Price(price) => priced(&needs, capacity, Area::from(price)),
            Selection::Knapsack => {
                let bundles = |need: &Need| u64::from(u64::BITS - need.at_most_crossing(capacity).leading_zeros());
                let entries = needs.iter().map(bundles).sum::<u64>().saturating_mul(u64::from(capacity) + 1);
                if entries > MAX_ENTRIES {
                    return unproved("the certificate is too large to check: it has too many jobs and processors");
                }
                match knapsack(&needs, capacity) {
                    Some(work) => work,
                    None => return proven,
                }
            }
        };
        refute(self.deadline, needed, available).map(Value::Integer)
    }
}

impl Rejection {
    fn need(&self, job: &Job<Rows>, profile: &Profile) -> Option<Need> {
        let longest = self.deadline - job.release;
        let crossing = (profile.least_work(longest)?, profile.min_allotment(longest)?);
        // A run that does not cross `at` ends by `at` or starts after `at`. In both cases, its time is at most
        // `short`.
        let short = (self.at - job.release).max(self.deadline - self.at - Time::TICK).min(longest);
        Some(Need { short: profile.least_work(short), crossing, tasks: job.tasks() })
    }
}

// Sums that exceed 128 bits saturate. The bound remains valid, because a saturated sum is smaller than the true sum.

fn priced(needs: &[Need], capacity: u32, price: Area) -> Area {
    let cost = |need: &Need| {
        let most = Area::from(need.at_most_crossing(capacity));
        let crossing = need.crossing.0.saturating_add(price.saturating_mul(Area::from(need.crossing.1)));
        let least = need.short.map_or(crossing, |short| short.min(crossing));
        let stays = need.short.unwrap_or(crossing).saturating_mul(Area::from(need.tasks) - most);
        least.saturating_mul(most).saturating_add(stays)
    };
    let total = needs.iter().fold(0, |sum: Area, need| sum.saturating_add(cost(need)));
    total.saturating_sub(price.saturating_mul(Area::from(capacity)))
}

/// Returns the minimum total work of all jobs, over all ways in which the crossing jobs together hold at most
/// `capacity` processors. Returns `None` if the jobs that have to cross need more than `capacity` processors.
fn knapsack(needs: &[Need], capacity: u32) -> Option<Area> {
    let mut least: Vec<Option<Area>> = vec![Some(0); capacity as usize + 1];
    let mut stays: Area = 0;
    for need in needs {
        // Combines the equal tasks into bundles of 1, 2, 4, ... tasks that cross together or not at all. Together, the
        // bundles represent every number of tasks that can cross.
        let mut left = need.at_most_crossing(capacity);
        let beyond = Area::from(need.tasks - left);
        stays = stays.saturating_add(need.short.unwrap_or(0).saturating_mul(beyond));
        let mut bundle = 1;
        while left > 0 {
            let tasks = left.min(bundle);
            add_bundle(&mut least, need, tasks);
            left -= tasks;
            bundle *= 2;
        }
    }
    least[capacity as usize].map(|work| work.saturating_add(stays))
}

/// Adds a bundle of equal tasks to the knapsack. The tasks of a bundle cross together or not at all.
fn add_bundle(least: &mut [Option<Area>], need: &Need, tasks: u64) {
    let width = need.crossing.1 as usize * tasks as usize;
    let times = |work: Area| work.saturating_mul(Area::from(tasks));
    let (short, crossing) = (need.short.map(times), times(need.crossing.0));
    for room in (0..least.len()).rev() {
        let stay = least[room].zip(short).map(|(work, short)| work.saturating_add(short));
        let cross = room.checked_sub(width).and_then(|left| least[left]).map(|work| work.saturating_add(crossing));
        least[room] = match (stay, cross) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use makespan_core::{Platform, Profile};

    fn instance(processors: u32, rigid: &[(u32, i64)]) -> Instance {
        let job = |(index, &(width, ticks)): (usize, &(u32, i64))| {
            Job::new(index.to_string(), Profile::rigid(width, Time::from_ticks(ticks)).unwrap())
        };
        Instance::new(Platform::flat(processors).unwrap(), rigid.iter().enumerate().map(job).collect(), vec![]).unwrap()
    }

    fn rejection(deadline: i64, at: i64, selection: Selection) -> Rejection {
        Rejection { deadline: Time::from_ticks(deadline), from: Time::ZERO, at: Time::from_ticks(at), selection }
    }

    #[test]
    fn wide_jobs_that_cannot_share_the_middle_refute_a_deadline() {
        // Two jobs of width 2 cannot share 3 processors. The optimum is 20, although the bound by area is only 14.
        let instance = instance(3, &[(2, 10), (2, 10)]);
        assert_eq!(rejection(19, 9, Selection::Knapsack).proves(&instance), Ok(20));
        assert_eq!(rejection(19, 9, Selection::Price(1000)).proves(&instance), Ok(20));
        assert!(matches!(
            rejection(20, 10, Selection::Knapsack).proves(&instance),
            Err(CertificateError::NotRefuted { .. })
        ));
        assert!(matches!(
            rejection(20, 10, Selection::Price(1000)).proves(&instance),
            Err(CertificateError::NotRefuted { .. })
        ));
    }

    #[test]
    fn a_knapsack_that_takes_too_long_is_rejected() {
        let processors = 1 << 24;
        let wide = instance(processors, &[(1, 10); 300]);
        let problem = rejection(19, 9, Selection::Knapsack).proves(&wide).unwrap_err();
        assert!(problem.to_string().contains("too large to check"), "{problem}");
    }

    #[test]
    fn area_alone_refutes_at_price_zero() {
        let instance = instance(2, &[(1, 10), (1, 10), (1, 10)]);
        assert_eq!(rejection(14, 0, Selection::Price(0)).proves(&instance), Ok(15));
        assert!(rejection(15, 0, Selection::Price(0)).proves(&instance).is_err());
    }

    #[test]
    fn malformed_certificates_prove_nothing() {
        let instance = instance(2, &[(1, 10)]);
        for bad in [
            rejection(9, 9, Selection::Knapsack),
            rejection(9, -1, Selection::Knapsack),
            rejection(9, 4, Selection::Price(-1)),
        ] {
            assert!(matches!(bad.proves(&instance), Err(CertificateError::Malformed(_))));
        }
    }

    #[test]
    fn the_tasks_of_a_bag_count_like_as_many_jobs() {
        for (width, ticks, count, processors) in [(1, 10, 3_u64, 2), (2, 10, 3, 3), (2, 7, 5, 5), (3, 4, 2, 7)] {
            let jobs = instance(processors, &vec![(width, ticks); count as usize]);
            let bag = Job::new("bag", Profile::rigid(width, Time::from_ticks(ticks)).unwrap())
                .with_count(count.try_into().unwrap());
            let bag = Instance::new(Platform::flat(processors).unwrap(), vec![bag], vec![]).unwrap();
            for deadline in 1..60 {
                for at in 0..deadline {
                    let knapsack = rejection(deadline, at, Selection::Knapsack);
                    assert_eq!(knapsack.proves(&bag), knapsack.proves(&jobs), "{knapsack:?}");
                    for price in [0, 1, 5, 100] {
                        let priced = rejection(deadline, at, Selection::Price(price));
                        // The bound for a bag may be stronger, because the certificate limits how many tasks of one bag
                        // cross, but not how many equal jobs cross.
                        assert!(priced.proves(&bag).is_ok() || priced.proves(&jobs).is_err(), "{priced:?}");
                        assert!(priced.proves(&bag).is_err() || knapsack.proves(&jobs).is_ok(), "{priced:?}");
                    }
                }
            }
        }
        // A bag of 2^50 tasks of one tick must be checked without a separate step for each task.
        let many = Job::new("bag", Profile::rigid(1, Time::TICK).unwrap()).with_count((1 << 50).try_into().unwrap());
        let many = Instance::new(Platform::flat(4).unwrap(), vec![many], vec![]).unwrap();
        for selection in [Selection::Price(0), Selection::Knapsack] {
            assert_eq!(rejection((1 << 48) - 1, 1 << 47, selection.clone()).proves(&many), Ok(1 << 48));
            assert!(rejection(1 << 48, 1 << 47, selection).proves(&many).is_err());
        }
    }
}
