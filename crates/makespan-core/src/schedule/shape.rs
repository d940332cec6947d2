//! The common form of all objectives that depend on the ends of jobs.

use crate::model::Job;

/// The instant from which the end of a job is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Instant 0.
    Zero,
    /// The release date of the job.
    Release,
    /// The deadline of the job. The cost is 0 if the job ends before its deadline or has no deadline.
    Deadline,
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
}

impl Unit {
    /// Returns the number of decimal places that are needed to write a value of this unit in seconds.
    pub const fn places(self) -> usize {
        match self {
            Self::Time => 9,
            Self::WeightedTime => 15,
            Self::MeanTime => 12,
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

/// The cost of the end of one job: `weight` for each tick after `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndCost {
    /// Cost per tick: the weight of the job in millionths, or 1 if the objective ignores weights. The cost is 0 if
    /// this job does not contribute to the objective.
    pub weight: u64,
    /// The instant from which ticks are counted, in ticks.
    pub from: i64,
    is_lateness: bool,
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
        matches!(self.unit, Unit::WeightedTime)
    }

    /// Returns true if the objective depends on deadlines.
    #[inline]
    pub const fn is_lateness(self) -> bool {
        matches!(self.from, Origin::Deadline)
    }

    /// Returns the cost function of a job: the cost as a function of the job's end.
    #[inline]
    pub fn cost<W>(self, job: &Job<W>) -> EndCost {
        let weight = if self.is_weighted() { job.weight.millionths() } else { 1 };
        let (weight, from) = match (self.from, job.deadline) {
            (Origin::Zero, _) => (weight, 0),
            (Origin::Release, _) => (weight, job.release.ticks()),
            (Origin::Deadline, Some(deadline)) => (weight, deadline.ticks()),
            (Origin::Deadline, None) => (0, i64::MAX),
        };
        EndCost { weight, from, is_lateness: self.is_lateness() }
    }

    /// Returns the value of the objective. `total` is the maximum or the sum of the costs of all jobs, and `jobs` is
    /// the number of jobs.
    pub fn value(self, total: i128, jobs: usize) -> i128 {
        if self.unit == Unit::MeanTime { mean(total, jobs) } else { total }
    }
}

impl EndCost {
    /// Returns the number of ticks from `from` to `end`. For a lateness, the result is at least 0.
    #[inline]
    pub fn ticks(self, end: i64) -> i64 {
        let ticks = end.saturating_sub(self.from);
        if self.is_lateness { ticks.max(0) } else { ticks }
    }

    /// Returns the cost if the job ends at `end`, as a float.
    #[inline]
    pub fn of(self, end: i64) -> f64 {
        self.weight as f64 * self.ticks(end) as f64
    }

    /// Returns the exact cost if the job ends at `end`, or `None` if the cost does not fit into the integer type.
    pub fn exact(self, end: i128) -> Option<i128> {
        let ticks = end.checked_sub(i128::from(self.from))?;
        if self.is_lateness { ticks.max(0) } else { ticks }.checked_mul(i128::from(self.weight))
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
            (Objective::MaxLateness, [0, 4, 0]),
            (Objective::WeightedLateness, [0, 12, 0]),
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
            assert_eq!(Objective::OF_TIME.contains(&objective), objective.shape().is_some());
            assert_eq!(Objective::OF_JOBS.contains(&objective), objective.of_jobs().is_some());
            assert_eq!(Objective::OF_DEADLINES.contains(&objective), objective.is_lateness());
            assert_eq!(Objective::SUMS.contains(&objective), objective.shape().is_some_and(|shape| shape.is_sum));
            let counts_each_tick = Objective::SUMS.contains(&objective) && !objective.is_lateness();
            assert_eq!(objective.is_sum_of_ends(), counts_each_tick);
        }
    }
}
