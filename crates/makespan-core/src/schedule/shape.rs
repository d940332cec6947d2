//! The common form of all objectives that depend on the ends of jobs.

use crate::model::{EndPenalty, Job};

/// The instant from which the end of a job is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Instant 0.
    Zero,
    /// The release date of the job.
    Release,
    /// The deadline of the job. The cost is 0 if the job ends before its deadline or has no deadline.
    Deadline,
    /// No instant: the cost of an end is the penalty of the job ([`EndPenalty`]), or 0 if the job has no penalty.
    Penalty,
}

/// The unit of the integer value of an objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Ticks of the clock.
    Time,
    /// A millionth of the unit of weight, multiplied by a tick.
    WeightedTime,
    /// Thousandths of a tick, for a mean over the jobs that is rounded down.
    MeanTime,
    /// A millionth of the unit of weight, multiplied by a millionth of a penalty.
    WeightedPenalty,
}

impl Unit {
    /// Returns the number of decimal places that are needed to write a value of this unit in seconds.
    pub const fn places(self) -> usize {
        match self {
            Self::Time => 9,
            Self::WeightedTime => 15,
            Self::MeanTime | Self::WeightedPenalty => 12,
        }
    }
}

/// An objective in its common form. The cost of a job is a weight multiplied by the time from an instant (the origin)
/// to the end of the job. The objective is the maximum or the sum of these costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// True if the objective is the sum of the costs of the jobs. If false, the objective is the maximum cost.
    pub is_sum: bool,
    /// The instant from which the end of each job is measured.
    pub from: Origin,
    /// The unit of the objective. Only objectives in weighted time depend on the weights of jobs.
    pub unit: Unit,
}

/// The cost of the end of one job: `weight` for each tick after `from`, or `weight` multiplied by a penalty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndCost<'a> {
    /// Cost per tick: the weight of the job in millionths, or 1 if the objective ignores weights. The cost is 0 if
    /// this job does not contribute to the objective.
    pub weight: u64,
    /// The instant from which ticks are counted, in ticks.
    pub from: i64,
    is_tardiness: bool,
    /// The penalty that replaces the number of ticks.
    pub penalty: Option<&'a EndPenalty>,
}

impl Shape {
    pub(super) const fn max(from: Origin) -> Self {
        Self { is_sum: false, from, unit: Unit::Time }
    }

    pub(super) const fn sum(from: Origin, unit: Unit) -> Self {
        Self { is_sum: true, from, unit }
    }

    /// Returns true if the objective depends on the weights of jobs.
    #[inline]
    pub const fn is_weighted(self) -> bool {
        matches!(self.unit, Unit::WeightedTime | Unit::WeightedPenalty)
    }

    /// Returns true if the objective depends on deadlines.
    #[inline]
    pub const fn is_tardiness(self) -> bool {
        matches!(self.from, Origin::Deadline)
    }

    /// Returns true if the cost of an end is a penalty ([`EndPenalty`]).
    #[inline]
    pub const fn is_penalty(self) -> bool {
        matches!(self.from, Origin::Penalty)
    }

    /// Returns the cost function of a job: the cost as a function of the job's end.
    #[inline]
    pub fn cost<W>(self, job: &Job<W>) -> EndCost<'_> {
        let weight = if self.is_weighted() { job.weight.millionths() } else { 1 };
        let (weight, from) = match (self.from, job.deadline) {
            (Origin::Zero, _) => (weight, 0),
            (Origin::Release, _) => (weight, job.release.ticks()),
            (Origin::Deadline, Some(deadline)) => (weight, deadline.ticks()),
            (Origin::Penalty, _) if job.penalty.is_some() => (weight, 0),
            (Origin::Deadline | Origin::Penalty, _) => (0, i64::MAX),
        };
        let penalty = job.penalty.as_ref().filter(|_| self.is_penalty());
        EndCost { weight, from, is_tardiness: self.is_tardiness(), penalty }
    }

    /// Returns the value of the objective. `total` is the maximum or the sum of the costs of all jobs, and `jobs` is
    /// the number of jobs.
    pub fn value(self, total: i128, jobs: usize) -> i128 {
        if self.unit == Unit::MeanTime { mean(total, jobs) } else { total }
    }
}

impl EndCost<'_> {
    /// Returns the number of ticks from `from` to `end`. For a tardiness, the result is at least 0. A penalty does not
    /// depend on this number.
    #[inline]
    pub fn ticks(self, end: i64) -> i64 {
        let ticks = end.saturating_sub(self.from);
        if self.is_tardiness { ticks.max(0) } else { ticks }
    }

    /// Returns the cost if the job ends at `end`, as a float.
    #[inline]
    pub fn of(self, end: i64) -> f64 {
        if let Some(penalty) = self.penalty {
            return self.weight as f64 * penalty.millionths(end.into()) as f64;
        }
        self.weight as f64 * self.ticks(end) as f64
    }

    /// Returns the exact cost if the job ends at `end`, or `None` if the cost does not fit into the integer type.
    pub fn exact(self, end: i128) -> Option<i128> {
        if let Some(penalty) = self.penalty {
            return penalty.millionths(end).checked_mul(self.weight.into());
        }
        let ticks = end.checked_sub(i128::from(self.from))?;
        if self.is_tardiness { ticks.max(0) } else { ticks }.checked_mul(i128::from(self.weight))
    }
}

/// Returns the mean of `count` durations with a sum of `sum` ticks. The mean is in thousandths of a tick and rounded
/// down.
pub fn mean(sum: i128, count: usize) -> i128 {
    (1000 * sum).div_euclid(count.max(1) as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Profile, Time, Weight};
    use crate::schedule::Objective;

    #[test]
    fn an_end_costs_the_weight_from_its_origin() {
        let job = || {
            let job = Job::new("a", Profile::rigid(1, Time::TICK).unwrap());
            Job { release: Time::from_ticks(2), ..job.with_weight(Weight::from_millionths(3).unwrap()) }
        };
        let (early, late, free) = (4, 9, job());
        let due = job().with_deadline(Time::from_ticks(5));
        for (objective, expected) in [
            (Objective::Makespan, [4, 9, 9]),
            (Objective::WeightedCompletion, [12, 27, 27]),
            (Objective::MeanFlow, [2, 7, 7]),
            (Objective::MaxTardiness, [0, 4, 0]),
            (Objective::WeightedTardiness, [0, 12, 0]),
            (Objective::TotalPenalty, [0, 0, 0]),
        ] {
            let shape = objective.shape().unwrap();
            let ends = [(&due, early), (&due, late), (&free, late)];
            let costs = ends.map(|(job, end)| shape.cost(job).exact(i128::from(end)).unwrap());
            assert_eq!(costs, expected, "{objective}");
            for ((job, end), exact) in ends.into_iter().zip(expected) {
                assert!((shape.cost(job).of(end) - exact as f64).abs() < 1e-9, "{objective}");
            }
            assert_eq!(objective.of_jobs().is_none(), objective == Objective::Makespan);
        }
        for objective in Objective::OF_SCHEDULES {
            let is_penalty = Objective::PENALTIES.contains(&objective);
            assert_eq!(objective.shape().is_some_and(Shape::is_penalty), is_penalty);
            assert_eq!(Objective::OF_ENDS.contains(&objective), objective.shape().is_some());
            assert_eq!(Objective::OF_TIME.contains(&objective), objective.shape().is_some() && !is_penalty);
            assert_eq!(Objective::OF_JOB_ENDS.contains(&objective), objective.of_jobs().is_some());
            assert_eq!(Objective::OF_JOBS.contains(&objective), objective.of_jobs().is_some() && !is_penalty);
            assert_eq!(Objective::OF_DEADLINES.contains(&objective), objective.is_tardiness());
            let is_sum = objective.shape().is_some_and(|shape| shape.is_sum);
            assert_eq!(Objective::SUMS_OF_ENDS.contains(&objective), is_sum);
            assert_eq!(Objective::SUMS.contains(&objective), is_sum && !is_penalty);
            let counts_each_tick = Objective::SUMS.contains(&objective) && !objective.is_tardiness();
            assert_eq!(objective.is_sum_of_ends(), counts_each_tick);
        }
    }
}
