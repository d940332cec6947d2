//! The cost of the end of a job under an objective, as a function of the end.

use makespan_core::{Job, Objective, PenaltyForm, Rows, Time};

/// A non-decreasing piecewise linear function of the end of a job, in ticks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cost {
    /// Pairs of an instant and a value, with ascending instants. Up to the first instant, the function has the first
    /// value.
    points: Vec<(i64, f64)>,
    /// The increase for each tick after the last point.
    slope: f64,
}

impl Cost {
    /// Returns the cost of the end of a job. The cost may differ from the objective by a constant, because only
    /// differences between plans matter. Returns `None` if the objective does not depend on ends.
    pub(super) fn of(job: &Job<Rows>, objective: Objective) -> Option<Self> {
        let weight = if job.is_best_effort() { 0.0 } else { job.weight.as_f64() };
        let from = |at: i64, slope: f64| Self { points: vec![(at, 0.0)], slope };
        let due = |slope: f64| job.deadline.map_or_else(|| from(0, 0.0), |due| from(due.ticks(), slope));
        let late = |value: f64| match job.deadline.map(Time::ticks) {
            Some(due) => Self { points: vec![(due, 0.0), (due + 1, value)], slope: 0.0 },
            None => from(0, 0.0),
        };
        let one = if job.is_best_effort() { 0.0 } else { 1.0 };
        Some(match objective {
            Objective::Makespan | Objective::MeanFlow => from(0, 1.0),
            Objective::WeightedCompletion => from(0, weight),
            Objective::MaxTardiness => due(1.0),
            Objective::MaxLateness => {
                let first = job.deadline.map_or(f64::MIN / 2.0, |due| -due.ticks() as f64);
                Self { points: vec![(0, first)], slope: if job.deadline.is_some() { 1.0 } else { 0.0 } }
            }
            Objective::WeightedTardiness => due(weight),
            Objective::TotalTardiness => due(one),
            Objective::TardyJobs => late(one),
            Objective::WeightedTardyJobs => late(weight),
            Objective::TotalPenalty | Objective::MaxPenalty => Self::of_penalty(job, weight),
            Objective::Cost | Objective::Throughput => return None,
        })
    }

    fn of_penalty(job: &Job<Rows>, weight: f64) -> Self {
        let Some(penalty) = &job.penalty else { return Self { points: vec![(0, 0.0)], slope: 0.0 } };
        let value = |at: i64| weight * penalty.millionths(at.into()) as f64;
        let mut points = Vec::new();
        for &(at, _) in penalty.points() {
            points.push((at.ticks(), value(at.ticks())));
            if penalty.form() == PenaltyForm::Steps {
                points.push((at.ticks() + 1, value(at.ticks() + 1)));
            }
        }
        points.dedup_by_key(|point| point.0);
        let last = points[points.len() - 1].0;
        Self { slope: value(last + 1) - value(last), points }
    }

    /// Returns the instants at which the slope changes.
    pub(super) fn instants(&self) -> impl Iterator<Item = i64> {
        self.points.iter().map(|point| point.0)
    }

    /// Returns the cost of an end at `end` ticks.
    pub(super) fn at(&self, end: f64) -> f64 {
        let after = self.points.partition_point(|point| (point.0 as f64) < end);
        let (last, value) = self.points[self.points.len() - 1];
        match after {
            0 => self.points[0].1,
            after if after == self.points.len() => value + self.slope * (end - last as f64),
            after => {
                let ((from, low), (to, high)) = (self.points[after - 1], self.points[after]);
                low + (high - low) * (end - from as f64) / (to - from) as f64
            }
        }
    }
}
