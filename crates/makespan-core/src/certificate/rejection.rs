//! Why not everything can end by a deadline.

use serde::{Deserialize, Serialize};

use super::CertificateError;
use crate::{Area, Instance, Job, Time};

/// A refuted deadline, in the manner of the dual approximation of Mounié, Rapine and Trystram (SIAM J. Comput. 37(2),
/// 2007, DOI 10.1137/S0097539701385995), extended to release dates and unavailable processors.
///
/// Suppose that everything ends by `deadline`. Each job released at `from` or later either *crosses* the instant
/// `at` or not. One that crosses holds at least its smallest allotment that meets the deadline, and all that cross
/// hold at most the processors open at `at`. One that does not cross is short enough to end before `at` or to start
/// after it. Either way it has a least work; if the works of the best choice exceed the open area between `from` and
/// `deadline`, the supposition is false and the makespan is at least `deadline` plus one tick.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The refuted deadline.
    pub deadline: Time,
    /// Only jobs released at this instant or later are counted, and only area after it.
    pub from: Time,
    /// The instant whose processors are rationed.
    pub at: Time,
    /// How the best choice of crossing jobs is bounded.
    pub selection: Selection,
}

/// A bound on the best choice of the jobs that cross.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// Each crossing processor costs this many ticks: a Lagrange multiplier. Checked in O(n log m).
    Price(i64),
    /// The choice is a knapsack, solved again by dynamic programming in integers. Checked in O(n m).
    Knapsack,
}

/// What one job needs at least.
struct Need {
    /// Least work without crossing; `None` when the job must cross.
    short: Option<Area>,
    /// Least work and fewest processors when it crosses.
    crossing: (Area, u32),
}

impl Rejection {
    /// The makespan that follows, in ticks: `deadline + 1`.
    ///
    /// # Errors
    /// [`CertificateError`] when the deadline is not refuted.
    pub fn proves(&self, instance: &Instance) -> Result<i128, CertificateError> {
        if self.deadline == Time::ZERO {
            // Nothing is claimed: a makespan is never negative.
            return Ok(0);
        }
        if self.deadline <= self.from || self.at < self.from || self.at >= self.deadline {
            return Err(CertificateError::Malformed("its instants must satisfy from <= at < deadline".into()));
        }
        if matches!(self.selection, Selection::Price(price) if price < 0) {
            return Err(CertificateError::Malformed("a price must not be negative".into()));
        }
        let proven = Ok(i128::from(self.deadline.ticks()) + 1);
        let available = instance.availability().open_area(self.from, self.deadline);
        let capacity = instance.availability().open_at(self.at);
        let mut needs = Vec::with_capacity(instance.jobs().len());
        for job in instance.jobs().iter().filter(|job| job.release >= self.from) {
            match self.need(job) {
                Some(need) => needs.push(need),
                // The job alone cannot meet the deadline.
                None => return proven,
            }
        }
        let needed = match self.selection {
            Selection::Price(price) => priced(&needs, capacity, Area::from(price)),
            Selection::Knapsack => match knapsack(&needs, capacity) {
                Some(work) => work,
                None => return proven,
            },
        };
        if needed > available {
            proven
        } else {
            Err(CertificateError::NotRefuted { deadline: self.deadline, needed, available })
        }
    }

    fn need(&self, job: &Job) -> Option<Need> {
        let profile = job.profile();
        let longest = self.deadline - job.release;
        let crossing = (profile.least_work(longest)?, profile.min_allotment(longest)?);
        // A run avoids `at` when it ends by then or starts after it; either way its time is at most `short`.
        let short = (self.at - job.release).max(self.deadline - self.at - Time::TICK).min(longest);
        Some(Need { short: profile.least_work(short), crossing })
    }
}

fn priced(needs: &[Need], capacity: u32, price: Area) -> Area {
    let cost = |need: &Need| {
        let crossing = need.crossing.0.saturating_add(price.saturating_mul(Area::from(need.crossing.1)));
        need.short.map_or(crossing, |short| short.min(crossing))
    };
    let total = needs.iter().fold(0, |sum: Area, need| sum.saturating_add(cost(need)));
    total.saturating_sub(price.saturating_mul(Area::from(capacity)))
}

/// The least total work when the crossing jobs hold at most `capacity` processors; `None` when they cannot.
fn knapsack(needs: &[Need], capacity: u32) -> Option<Area> {
    let mut least: Vec<Option<Area>> = vec![Some(0); capacity as usize + 1];
    for need in needs {
        let width = need.crossing.1 as usize;
        for room in (0..least.len()).rev() {
            let stay = least[room].zip(need.short).map(|(work, short)| work + short);
            let cross = room.checked_sub(width).and_then(|left| least[left]).map(|work| work + need.crossing.0);
            least[room] = match (stay, cross) {
                (Some(a), Some(b)) => Some(a.min(b)),
                (a, b) => a.or(b),
            };
        }
    }
    least[capacity as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Platform, Profile};

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
        // Two jobs of width 2 on 3 processors: one after the other, so 20 is the optimum although the area allows 14.
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
}
