//! Bounds on penalties from limits on the ends of jobs that no schedule keeps together.

use serde::{Deserialize, Serialize};

use super::error::unproved;
use super::paths::earliest_ends;
use super::{CertificateError, Kind, Proof, Scope, Value};
use makespan_core::{Instance, JobId, Objective, Time};

/// Maximum number of limits of all conflicts together.
const MAX_LIMITS: usize = 1 << 12;
/// Maximum number of choices that the check examines.
const MAX_CHOICES: u64 = 1 << 22;

/// A bound on penalties from conflicts. A conflict is a set of limits on the ends of jobs that no schedule keeps
/// together.
///
/// The inner proof of a conflict bounds the maximum tardiness of the instance in which the limits of the conflict are
/// the due dates, and no other job has a due date. If the bound is d > 0, some job of the conflict ends at least d after
/// its limit in each schedule. The penalty of this job is at least its penalty at the limit plus d. So the total penalty
/// is at least the minimum over all choices of one job for each conflict: the sum over the jobs of the largest penalty for
/// which the job was chosen, or of the penalty at the earliest end of the job (as in [`super::Paths`]). The maximum
/// penalty is bounded by the largest of these penalties instead of their sum.
///
/// Source: implicit hitting sets, E. Moreno-Centeno, R. M. Karp, Operations Research 61(2), 2013, DOI
/// 10.1287/opre.1120.1139.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndLimits {
    /// The conflicts.
    pub conflicts: Vec<LimitConflict>,
}

/// Limits on the ends of jobs that no schedule keeps together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LimitConflict {
    /// The limits: pairs of a job and the latest end of the job.
    pub limits: Vec<(JobId, Time)>,
    /// The proof that the largest tardiness with regard to the limits is positive.
    pub proof: Box<Proof>,
}

impl LimitConflict {
    /// Returns the instance in which these limits are the due dates, and no other job has a due date.
    pub fn limited(instance: &Instance, limits: &[(JobId, Time)]) -> Instance {
        let mut dues = vec![None; instance.jobs().len()];
        limits.iter().for_each(|&(job, end)| dues[job.index()] = Some(end));
        instance.with_due_dates(&dues)
    }
}

impl Kind for EndLimits {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::PENALTIES
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        let limits: usize = self.conflicts.iter().map(|conflict| conflict.limits.len()).sum();
        if limits > MAX_LIMITS {
            return unproved("the conflicts contain too many limits");
        }
        let mut lates = Vec::with_capacity(self.conflicts.len());
        for conflict in &self.conflicts {
            let exists = |&(job, _): &(JobId, Time)| job.index() < instance.jobs().len();
            if !conflict.limits.iter().all(exists) {
                return unproved("a limit is for a job that does not exist");
            }
            if conflict.proof.horizon().is_some() {
                return unproved("an inner proof is valid only for schedules that end by a horizon");
            }
            let late = conflict
                .proof
                .proves(Objective::MaxTardiness, &LimitConflict::limited(instance, &conflict.limits))?
                .integer();
            if late <= 0 {
                return unproved("an inner proof does not exclude that all limits of its conflict are kept");
            }
            lates.push(late);
        }
        self.cheapest(objective, instance, &lates).map(|(value, _)| Value::Integer(value))
    }
}

impl EndLimits {
    /// Returns the minimum over all choices of one job for each conflict, and the penalty of each job in this choice.
    /// `lates` contains, for each conflict, the bound on the largest tardiness in ticks.
    ///
    /// # Errors
    /// [`CertificateError`] if there are too many choices, or if a penalty is too large.
    pub fn cheapest(
        &self,
        objective: Objective,
        instance: &Instance,
        lates: &[i128],
    ) -> Result<(i128, Vec<i128>), CertificateError> {
        let shape = objective.shape().ok_or(CertificateError::OtherObjective { objective })?;
        let cost = |job: JobId, end: i128| shape.cost(instance.job(job)).exact(end).ok_or(CertificateError::Overflow);
        let first: Vec<i128> =
            earliest_ends(instance).into_iter().map(|(job, end)| cost(job, end)).collect::<Result<_, _>>()?;
        let option = |&(job, limit): &(JobId, Time), late: i128| {
            Ok((job.index(), cost(job, i128::from(limit.ticks()).saturating_add(late))?))
        };
        let options = |(conflict, &late): (&LimitConflict, &i128)| {
            let each = conflict.limits.iter().map(|limit| option(limit, late));
            let mut each: Vec<(usize, i128)> = each.collect::<Result<_, CertificateError>>()?;
            each.sort_by_key(|&(job, cost)| (cost, job));
            Ok(each)
        };
        let options = self.conflicts.iter().zip(lates).map(options).collect::<Result<_, CertificateError>>()?;
        let mut choice = Choice { options, is_sum: shape.is_sum, best: None, left: MAX_CHOICES };
        choice.examine(0, &mut first.clone(), choice.value(&first)?)?;
        choice.best.map_or_else(|| unproved("a conflict has no limits, but its proof is valid"), Ok)
    }
}

/// An exhaustive search for the cheapest choice.
struct Choice {
    /// For each conflict, the jobs of which one exceeds its limit, and the penalty of this job in this case.
    options: Vec<Vec<(usize, i128)>>,
    is_sum: bool,
    best: Option<(i128, Vec<i128>)>,
    left: u64,
}

impl Choice {
    fn value(&self, costs: &[i128]) -> Result<i128, CertificateError> {
        if !self.is_sum {
            return Ok(costs.iter().copied().max().unwrap_or(0));
        }
        costs.iter().try_fold(0_i128, |sum, &cost| sum.checked_add(cost)).ok_or(CertificateError::Overflow)
    }

    /// Examines all choices for the conflicts from `at` on. `costs` contains the penalties of the jobs in the choices for
    /// earlier conflicts, and `value` their sum or maximum.
    fn examine(&mut self, at: usize, costs: &mut Vec<i128>, value: i128) -> Result<(), CertificateError> {
        if self.best.as_ref().is_some_and(|best| value >= best.0) {
            return Ok(());
        }
        self.left = match self.left.checked_sub(1) {
            Some(left) => left,
            None => return unproved("the conflicts allow too many choices"),
        };
        let is_met = |options: &Vec<(usize, i128)>| options.iter().any(|&(job, cost)| costs[job] >= cost);
        let Some(open) = (at..self.options.len()).find(|&at| !is_met(&self.options[at])) else {
            self.best = Some((value, costs.clone()));
            return Ok(());
        };
        for number in 0..self.options[open].len() {
            let (job, cost) = self.options[open][number];
            let before = std::mem::replace(&mut costs[job], cost);
            let value = self.value(costs)?;
            self.examine(open + 1, costs, value)?;
            costs[job] = before;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, Derived, DueBy, Rejection, Selection};
    use makespan_core::{Job, Platform, Profile};

    fn s(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    /// Returns the proof that two jobs of 4 s do not both end by 6 s, because they need 8 s on one processor.
    fn two_of(jobs: [u32; 2]) -> LimitConflict {
        let rejection =
            Rejection { deadline: s(8) - Time::TICK, from: Time::ZERO, at: s(5), selection: Selection::Price(0) };
        let early = DueBy { due: s(6), proof: Box::new(Proof::Rejection(rejection)) };
        LimitConflict { limits: jobs.map(|job| (JobId(job), s(6))).to_vec(), proof: Box::new(Proof::DueBy(early)) }
    }

    #[test]
    fn each_conflict_makes_a_job_tardy() {
        let job = |name: &str| Job::new(name, Profile::rigid(1, s(4)).unwrap()).with_deadline(s(6));
        let instance = Instance::new(Platform::flat(1).unwrap(), ["a", "b", "c"].map(job).to_vec(), vec![]).unwrap();
        let bound = |conflicts: Vec<LimitConflict>| {
            let proof = Box::new(Proof::EndLimits(EndLimits { conflicts }));
            Bound::proved_by(Objective::TardyJobs, Proof::Derived(Derived { proof }), &instance)
        };
        assert_eq!(bound(vec![two_of([0, 1])]).unwrap().value.integer(), 1);
        assert_eq!(bound(vec![two_of([0, 1]), two_of([1, 2])]).unwrap().value.integer(), 1, "job b is in both");
        let all = bound(vec![two_of([0, 1]), two_of([1, 2]), two_of([0, 2])]).unwrap();
        assert_eq!((all.value.integer(), all.verify(&instance)), (2, Ok(())));
        let late = LimitConflict { limits: vec![(JobId(0), s(6)), (JobId(1), s(9))], ..two_of([0, 1]) };
        assert!(bound(vec![late]).is_err(), "both jobs can keep these limits");
        assert!(bound(vec![two_of([0, 3])]).is_err(), "there is no job with this number");
    }
}
