//! Objectives that are computed from other objectives of a changed instance.

use super::Objective;
use crate::model::{EndPenalty, Instance, Job, PenaltyForm, Rows, Time, Weight};

/// An objective of an instance, expressed by another objective (the *base*) of an instance with other due dates, weights
/// or penalties. Both instances have the same valid schedules. The schedules with the least value are also the same. So
/// searches and proofs for the base also serve the derived objective.
///
/// | objective | base | changed instance |
/// |---|---|---|
/// | maximum lateness | maximum tardiness | each due date is earlier by K, the latest due date, so every job is late |
/// | total tardiness | weighted tardiness | all weights are 1 |
/// | weighted number of tardy jobs | total penalty | the penalty of a job with a due date is 1 after this date |
/// | number of tardy jobs | total penalty | likewise, and all weights are 1 |
///
/// Best-effort bags keep their weight 0.
#[derive(Clone, Debug)]
pub struct DerivedObjective {
    /// The objective of the changed instance.
    pub base: Objective,
    /// The changed instance.
    pub instance: Instance,
    /// The value of the derived objective is the value of the base divided by this number, minus `shift`.
    divisor: i128,
    shift: i128,
    /// All values of the derived objective are multiples of this number.
    step: i128,
}

impl DerivedObjective {
    /// Returns the least possible value of the derived objective if the value of the base is at least `base`. Returns
    /// `None` if the result does not fit into the integer type.
    pub fn value(&self, base: i128) -> Option<i128> {
        let up = |value: i128, step: i128| value.div_euclid(step) + i128::from(value.rem_euclid(step) > 0);
        up(up(base, self.divisor), self.step).checked_mul(self.step)?.checked_sub(self.shift)
    }
}

impl Objective {
    /// Returns the base of a derived objective, or `None` if the objective is not derived.
    pub const fn base(self) -> Option<Self> {
        match self {
            Self::MaxLateness => Some(Self::MaxTardiness),
            Self::TotalTardiness => Some(Self::WeightedTardiness),
            Self::TardyJobs | Self::WeightedTardyJobs => Some(Self::TotalPenalty),
            _ => None,
        }
    }

    /// Expresses this objective by its base, for one instance. Returns `None` if the objective is not derived.
    pub fn derived(self, instance: &Instance) -> Option<DerivedObjective> {
        let base = self.base()?;
        let latest = instance.jobs().iter().filter_map(|job| job.deadline).max().map_or(0, Time::ticks);
        let late = |job: &mut Job<Rows>| {
            let missed = |due| EndPenalty::new(PenaltyForm::Steps, vec![(due, Weight::ONE)]).ok();
            job.penalty = job.deadline.and_then(missed);
        };
        let one = |job: &mut Job<Rows>| {
            if !job.is_best_effort() {
                job.weight = Weight::ONE;
            }
        };
        let (instance, divisor, shift) = match self {
            Self::MaxLateness => {
                let earlier = |job: &mut Job<Rows>| {
                    job.deadline = job.deadline.map(|due| Time::from_ticks(due.ticks() - latest));
                };
                (instance.with_changed_jobs(earlier), 1, i128::from(latest))
            }
            Self::TotalTardiness => (instance.with_changed_jobs(one), 1_000_000, 0),
            Self::WeightedTardyJobs => (instance.with_changed_jobs(late), 1_000_000, 0),
            _ => {
                let both = |job: &mut Job<Rows>| {
                    one(job);
                    late(job);
                };
                (instance.with_changed_jobs(both), 1_000_000_000_000, 0)
            }
        };
        let step = if self == Self::WeightedTardyJobs { common_weight(&instance) } else { 1 };
        Some(DerivedObjective { base, instance, divisor, shift, step })
    }
}

/// Returns the greatest common divisor of the weights, in millionths, of the jobs with a deadline. If all these weights
/// are zero, returns 1.
fn common_weight(instance: &Instance) -> i128 {
    let due = instance.jobs().iter().filter(|job| job.deadline.is_some());
    let divisor = due.map(|job| job.weight.millionths()).fold(0, |mut one, mut other| {
        while other > 0 {
            (one, other) = (other, one % other);
        }
        one
    });
    i128::from(divisor).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Platform, ProcSet, Profile, TaskId};
    use crate::schedule::{Placement, Schedule};

    /// Checks that the value of each derived objective follows from the value of its base.
    #[test]
    fn the_base_determines_the_value() {
        let s = Time::from_seconds;
        let job = |name: &str, weight: &str| {
            Job::new(name, Profile::rigid(1, s(2)).unwrap()).with_weight(Weight::parse(weight).unwrap())
        };
        let jobs = vec![job("a", "3").with_deadline(s(9)), job("b", "2.5").with_deadline(s(3)), job("c", "1")];
        let instance = Instance::new(Platform::flat(1).unwrap(), jobs, vec![]).unwrap();
        let place = |(task, start): (u64, i64)| Placement {
            task: TaskId(task),
            start: s(start),
            end: s(start + 2),
            processors: ProcSet::first(1),
        };
        let values = |starts: [i64; 3]| {
            let schedule = Schedule::new((0..).zip(starts).map(place).collect());
            Objective::DERIVED.map(|objective| {
                let value = objective.value(&instance, &schedule);
                let derived = objective.derived(&instance).unwrap();
                let base = derived.base.value(&derived.instance, &schedule);
                assert_eq!(derived.value(base), Some(value), "{objective}");
                objective.decimal(value)
            })
        };
        assert_eq!(values([0, 1, 4]), ["0", "0", "0", "0"]);
        assert_eq!(values([2, 0, 4]), ["-1", "0", "0", "0"]);
        assert_eq!(values([10, 4, 2]), ["3", "6", "2", "5.5"]);
        for objective in Objective::OF_SCHEDULES {
            let is_derived = Objective::DERIVED.contains(&objective);
            assert_eq!(objective.derived(&instance).is_some(), is_derived, "{objective}");
        }
    }
}
