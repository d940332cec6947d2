//! Bounds on tardiness from the jobs with early deadlines.

use serde::{Deserialize, Serialize};

use super::error::unproved;
use super::{CertificateError, Kind, Proof, Scope, Value, total};
use makespan_core::{Instance, JobId, Objective, Time};

/// A bound on tardiness from the early jobs: the jobs with deadlines up to `due`. The inner proof is for a smaller
/// instance ([`DueBy::part`]). For a bound on the weighted completion, the smaller instance consists of the early jobs.
/// For a bound on the makespan, it also contains their predecessors. In the whole instance, the other jobs can only
/// delay the early jobs.
///
/// Suppose that the early jobs and their predecessors cannot all end before M. A predecessor ends before the early job
/// that waits for it. So one of the early jobs ends at M or later. The tardiness of this job is at least M minus `due`.
/// So a bound on the makespan yields a bound on the largest tardiness.
///
/// For each early job, multiply the deadline by the weight. The weighted tardiness of the early jobs is at least their
/// weighted completion minus the sum of these products. So a bound on the weighted completion of the early jobs yields
/// a bound on the weighted tardiness.
///
/// A bound on the makespan also yields a bound on the weighted tardiness: the minimum weight of an early job,
/// multiplied by the bound on the largest tardiness.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DueBy {
    /// The latest deadline of the early jobs: the bound includes only jobs with deadlines up to this instant.
    pub due: Time,
    /// The proof of a bound on the makespan or the weighted completion of the early jobs. In this proof, the jobs of
    /// [`DueBy::part`] are numbered from 0, in file order.
    pub proof: Box<Proof>,
}

impl Kind for DueBy {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::OF_DEADLINES
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.proof.horizon().is_some() {
            return unproved("the inner proof is valid only for schedules that end by a horizon");
        }
        if Self::early(instance, self.due).is_empty() {
            return Ok(Value::Integer(0));
        }
        let latest = || {
            let part = Self::part(instance, self.due, Objective::MaxTardiness);
            let end = self.proof.proves(Objective::Makespan, &part)?.integer();
            Ok((end - i128::from(self.due.ticks())).max(0))
        };
        if objective == Objective::MaxTardiness {
            return latest().map(Value::Integer);
        }
        // The weighted tardiness is at least the minimum weight of the early jobs, multiplied by the largest tardiness.
        let own = || Self::early(instance, self.due).into_iter().map(|id| instance.job(id));
        let lightest = own().map(|job| i128::from(job.weight.millionths())).min().unwrap_or(0);
        let of_one = latest().and_then(|late: i128| late.checked_mul(lightest).ok_or(CertificateError::Overflow));
        if !self.proof.objectives().contains(&Objective::WeightedCompletion) {
            return of_one.map(Value::Integer);
        }
        let proven = self.proof.proves(Objective::WeightedCompletion, &Self::part(instance, self.due, objective))?;
        let dues = total(own().map(|job| Some(job.weight.times(job.deadline?).0)))?;
        let late = proven.integer().checked_sub(dues).ok_or(CertificateError::Overflow)?.max(0);
        Ok(Value::Integer(late.max(of_one.unwrap_or(0))))
    }
}

impl DueBy {
    /// Returns the objective that the inner proof must bound, so that a bound on `objective` follows. `objective` must
    /// be one of [`Objective::OF_DEADLINES`].
    pub const fn objective(objective: Objective) -> Objective {
        match objective {
            Objective::MaxTardiness => Objective::Makespan,
            _ => Objective::WeightedCompletion,
        }
    }

    /// Returns the instance that consists of the jobs with deadlines up to `due`. If `objective` is the largest
    /// tardiness, the instance also contains the predecessors of these jobs.
    ///
    /// The tasks belong to no families. A job that is left out may stand between two of these jobs and avoid the setup
    /// between them, so a bound with setup times could be too large.
    pub fn part(instance: &Instance, due: Time, objective: Objective) -> Instance {
        let mut wanted = vec![false; instance.jobs().len()];
        Self::early(instance, due).iter().for_each(|id| wanted[id.index()] = true);
        if objective == Objective::MaxTardiness {
            for id in instance.jobs_in_order().into_iter().rev().filter(|_| instance.has_edges_between_jobs()) {
                if wanted[id.index()] {
                    instance.job(id).waits_for().iter().for_each(|before| wanted[before.index()] = true);
                }
            }
        }
        let own = instance.ids().filter(|id| wanted[id.index()]);
        let part = own.map(|id| {
            let mut job = instance.submitted(id);
            job.work.tasks_mut().for_each(|task| task.family = None);
            job
        });
        instance.with_jobs(part.collect())
    }

    fn early(instance: &Instance, due: Time) -> Vec<JobId> {
        instance.ids().filter(|&id| instance.job(id).deadline.is_some_and(|deadline| deadline <= due)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, SetupSums};
    use makespan_core::{Job, Platform, Profile, Setup, Work};

    /// On one processor, the order a, w, b needs no setup and ends at 3 s. Without w, jobs a and b end at 6 s.
    #[test]
    fn a_late_job_between_early_ones_may_avoid_a_setup() {
        let second = Time::from_seconds;
        let job = |(name, family, due): (&str, &str, Option<i64>)| {
            let mut job = Job::new(name, Profile::rigid(1, second(1)).unwrap());
            job.deadline = due.map(second);
            if let Work::Task(task) = &mut job.work {
                task.family = Some(family.into());
            }
            job
        };
        let setup = Setup { on: None, from: "r".into(), to: "r".into(), time: second(4) };
        let platform = Platform::flat(1).unwrap().with_setups(vec![setup]).unwrap();
        let jobs = [("a", "r", Some(1)), ("b", "r", Some(1)), ("w", "w", None)].map(job);
        let instance = Instance::new(platform, jobs.to_vec(), vec![]).unwrap();
        let proof =
            Proof::DueBy(DueBy { due: second(1), proof: Box::new(Proof::SetupSums(SetupSums { licence: None })) });
        let bound = Bound::proved_by(Objective::MaxTardiness, proof, &instance).unwrap();
        assert!(bound.ticks() <= second(2), "{bound:?}");
    }
}
