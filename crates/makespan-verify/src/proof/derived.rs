//! Bounds on objectives that are computed from other objectives.

use serde::{Deserialize, Serialize};

use super::error::unproved;
use super::{CertificateError, Kind, Proof, Scope, Value};
use makespan_core::{Instance, Objective};

/// A bound on a derived objective, such as the maximum lateness, from a bound on its base
/// ([`makespan_core::DerivedObjective`]). The check changes due dates, weights or penalties of the jobs as the table of
/// that type states. Then it checks the inner proof for the changed instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Derived {
    /// Proof of a bound on the base of the objective, for the changed instance.
    pub proof: Box<Proof>,
}

impl Kind for Derived {
    fn objectives(&self) -> &'static [Objective] {
        &Objective::DERIVED
    }

    fn scope(&self) -> Scope {
        Scope::Any
    }

    fn value(&self, objective: Objective, instance: &Instance) -> Result<Value, CertificateError> {
        if self.proof.horizon().is_some() {
            return unproved("the inner proof is valid only for schedules that end by a horizon");
        }
        let derived = objective.derived(instance).ok_or(CertificateError::OtherObjective { objective })?;
        let base = self.proof.proves(derived.base, &derived.instance)?.integer();
        derived.value(base).map(Value::Integer).ok_or(CertificateError::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proof::{Bound, JobPrices, Paths};
    use makespan_core::{Job, Platform, Profile, Time};

    /// Returns an instance with one processor and three jobs of 4 s. Two jobs have due dates.
    fn instance() -> Instance {
        let s = Time::from_seconds;
        let job = |name: &str| Job::new(name, Profile::rigid(1, s(4)).unwrap());
        let jobs = vec![job("a").with_deadline(s(9)), job("b").with_deadline(s(5)), job("c")];
        Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap()
    }

    #[test]
    fn a_lateness_may_be_bounded_below_zero() {
        let proof = Proof::Derived(Derived { proof: Box::new(Proof::Paths(Paths::default())) });
        let bound = Bound::proved_by(Objective::MaxLateness, proof, &instance()).unwrap();
        // Job `b` ends at 4 s or later, so its lateness is at least -1 s.
        assert_eq!(bound.value.decimal(Objective::MaxLateness), "-1");
        assert_eq!(bound.verify(&instance()), Ok(()));
        let higher = Bound { value: (bound.value.integer() + 1).into(), ..bound };
        assert!(matches!(higher.verify(&instance()), Err(CertificateError::TooStrong { .. })));
    }

    #[test]
    fn prices_bound_the_number_of_tardy_jobs() {
        let s = Time::from_seconds;
        let job = |name: &str| Job::new(name, Profile::rigid(1, s(4)).unwrap()).with_deadline(s(6));
        let jobs = ["a", "b", "c"].map(job).to_vec();
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        // A job in time pays for 4 s. At the price 1/4 for each second, three jobs in time would pay 3, but the 6 s up
        // to the due date cost 1.5.
        let price = (1_000_000_000_000_i64 / 4_000_000_000) << 10;
        let prices = JobPrices { instants: vec![Time::ZERO, s(6)], prices: vec![price], shares: vec![], scale: 10 };
        let proof = Proof::Derived(Derived { proof: Box::new(Proof::JobPrices(prices)) });
        let bound = Bound::proved_by(Objective::TardyJobs, proof, &instance).unwrap();
        assert_eq!(bound.value.integer(), 2);
        assert_eq!(bound.verify(&instance), Ok(()));
    }
}
