//! A bound that follows from the fact that one job ends at the makespan.

use serde::{Deserialize, Serialize};

use super::error::unproved;
use super::paths::{earliest_ends, total_of};
use super::{CertificateError, Kind, Proof, Scope, Value, soonest_completion};
use makespan_core::{Instance, JobId, Objective};

/// A bound that follows from the fact that one job ends at the makespan. The last job ends at or after the proven bound
/// on the makespan. Every other job ends at or after the end of its longest path.
///
/// Let `M` be the bound on the makespan. Let `w_j` be the weight of job `j`, and `e_j` the end of its longest path
/// ([`super::Paths`]). In any schedule, at least one job `l` ends at or after `M`. So the sum of the weighted ends is
/// at least `sum w_j e_j + w_l max(0, M - e_l)`. The bound is the minimum of this value over all jobs `l` that can end
/// last. A job cannot end last if another job waits for it. The bound on the mean flow uses the flow time of each job
/// instead of its weighted end. The bounds on tardiness use the tardiness of each job. A job without a deadline is never
/// late. The bounds on penalties use the penalty of each job, multiplied by its weight.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastJob {
    /// Proof of a bound on the makespan of the instance.
    pub proof: Box<Proof>,
}

impl Kind for LastJob {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_JOB_ENDS
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.proof.horizon().is_some() {
            return unproved("the inner proof is valid only for schedules that end by a horizon");
        }
        let makespan = self.proof.proves(Objective::Makespan, instance)?.integer();
        let ends = ends_alone(instance);
        let last: Vec<(JobId, i128)> = instance.last_jobs().into_iter().map(|id| ends[id.index()]).collect();
        let shape = objective.shape().ok_or(CertificateError::OtherObjective { objective })?;
        let cost = |id: JobId, end: i128| shape.cost(instance.job(id)).exact(end).ok_or(CertificateError::Overflow);
        let least = |costs: Result<Vec<i128>, _>| costs.map(|costs| costs.into_iter().min().unwrap_or(0));
        let alone = total_of(shape, instance, &ends)?;
        let total = if shape.is_sum {
            let more = |&(id, end): &(JobId, i128)| Ok(cost(id, end.max(makespan))? - cost(id, end)?);
            alone.checked_add(least(last.iter().map(more).collect())?).ok_or(CertificateError::Overflow)?
        } else {
            alone.max(least(last.iter().map(|&(id, end)| cost(id, end.max(makespan))).collect())?)
        };
        Ok(Value::Integer(shape.value(total, instance.jobs().len())))
    }
}

/// Returns the earliest end of each job, in file order. If all processors are equal and there are no edges, the
/// function does not visit the nodes, because there may be millions of nodes.
fn ends_alone(instance: &Instance) -> Vec<(JobId, i128)> {
    let is_plain =
        instance.has_equal_processors() && !instance.has_compound_jobs() && !instance.has_edges_between_jobs();
    if !is_plain {
        return earliest_ends(instance);
    }
    instance.ids().map(|id| (id, i128::from(soonest_completion(instance, id).ticks()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, Rejection, Selection};
    use makespan_core::{Job, Platform, Profile, Time, Weight, mean};

    fn s(seconds: i64) -> Time {
        Time::from_seconds(seconds)
    }

    /// Returns an instance with one processor and two jobs of 4 s and 6 s, with weights 1 and 3. The second job has a
    /// deadline of 5 s.
    fn instance() -> Instance {
        let job = |name: &str, time: i64, weight: u64| {
            let weight = Weight::from_millionths(weight * 1_000_000).unwrap();
            Job::new(name, Profile::rigid(1, s(time)).unwrap()).with_weight(weight)
        };
        let jobs = vec![job("a", 4, 1).with_deadline(s(9)), job("b", 6, 3).with_deadline(s(5))];
        Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap()
    }

    /// Returns a certificate with an inner proof, by areas, that the makespan is at least 10 s.
    fn ten_seconds() -> LastJob {
        let deadline = s(10) - Time::TICK;
        let selection = Selection::Price(0);
        let proof = Proof::Rejection(Rejection { deadline, from: Time::ZERO, at: s(5), selection });
        LastJob { proof: Box::new(proof) }
    }

    #[test]
    fn the_last_job_ends_with_the_schedule() {
        let instance = instance();
        let ticks = |seconds: i64| i128::from(s(seconds).ticks());
        let value = |objective| ten_seconds().value(objective, &instance).unwrap().integer();
        assert_eq!(ten_seconds().proof.proves(Objective::Makespan, &instance).unwrap().integer(), ticks(10));
        // The sum w_j e_j is 1 * 4 + 3 * 6. If the job of weight 1 ends last, this job ends 6 s later and increases
        // the sum by 6. If the job of weight 3 ends last, this job ends 4 s later and increases the sum by 12.
        assert_eq!(value(Objective::WeightedCompletion), ticks(22 + 6) * 1_000_000);
        assert_eq!(value(Objective::MeanFlow), mean(ticks(10 + 4), 2));
        // The tardiness of job b is always at least 6 s - 5 s = 1 s. If job a ends last, the tardiness of job a is at
        // least 10 s - 9 s = 1 s.
        assert_eq!(value(Objective::MaxTardiness), ticks(1));
        assert_eq!(value(Objective::WeightedTardiness), ticks(3 + 1) * 1_000_000);
    }

    #[test]
    fn a_job_for_which_another_waits_is_not_last() {
        let job = |name: &str, time: i64, weight| {
            Job::new(name, Profile::rigid(1, s(time)).unwrap()).with_weight(Weight::from_millionths(weight).unwrap())
        };
        let mut last = job("last", 1, 1_000_000);
        last.after = vec!["a".into(), "b".into()];
        let jobs = vec![job("a", 4, 0), job("b", 5, 0), last];
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let value = ten_seconds().value(Objective::WeightedCompletion, &instance).unwrap().integer();
        assert_eq!(value, i128::from(s(10).ticks()) * 1_000_000);
    }

    #[test]
    fn a_bound_by_the_last_job_is_checked() {
        let instance = instance();
        let proof = Proof::LastJob(ten_seconds());
        assert!(Bound::proved_by(Objective::Makespan, proof.clone(), &instance).is_err());
        let bound = Bound::proved_by(Objective::WeightedCompletion, proof, &instance).unwrap();
        assert_eq!(bound.verify(&instance), Ok(()));
        let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound };
        assert!(matches!(higher.verify(&instance), Err(CertificateError::TooStrong { .. })));
        let nested = Proof::LastJob(LastJob { proof: Box::new(Proof::LastJob(ten_seconds())) });
        assert!(Bound::proved_by(Objective::MeanFlow, nested, &instance).is_err());
    }
}
