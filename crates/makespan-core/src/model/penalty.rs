//! Penalties of jobs: non-decreasing functions of their ends.

use std::sync::Arc;

use thiserror::Error;

use crate::model::{Time, Weight};

/// A penalty of a job as a function of its end. The function never decreases. It is a step function, or it is piecewise
/// linear.
///
/// ```
/// use makespan_core::{EndPenalty, PenaltyForm, Time, Weight};
///
/// let point = |at, value| (Time::from_seconds(at), Weight::parse(value).unwrap());
/// let ticks = |seconds| i128::from(Time::from_seconds(seconds).ticks());
/// // Half a unit for each second after 10 s.
/// let late = EndPenalty::new(PenaltyForm::Linear, vec![point(10, "0"), point(20, "5")])?;
/// assert_eq!([9, 14, 30].map(|end| late.millionths(ticks(end))), [0, 2_000_000, 10_000_000]);
/// // Three units for any end after 10 s.
/// let missed = EndPenalty::new(PenaltyForm::Steps, vec![point(10, "3")])?;
/// assert_eq!([10, 11].map(|end| missed.millionths(ticks(end))), [0, 3_000_000]);
/// # Ok::<(), makespan_core::PenaltyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndPenalty {
    form: PenaltyForm,
    points: Arc<[(Time, Weight)]>,
}

/// The form of a penalty between its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PenaltyForm {
    /// The penalty is zero up to the first point. After each point, the penalty has the value of this point.
    Steps,
    /// Up to the first point, the penalty has the value of this point. Between two points, it grows linearly. After the
    /// last point, it grows as between the last two points. With one point, the penalty is constant.
    Linear,
}

/// The reason why points are not a penalty.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PenaltyError {
    /// The list of points is empty or too long.
    #[error("a penalty has {0} points; state from 1 to {most} points", most = EndPenalty::MAX_POINTS)]
    Count(usize),
    /// The instants do not ascend.
    #[error("the points of a penalty must have ascending times, but {0} s comes after {1} s; sort the points")]
    Order(Time, Time),
    /// A value is smaller than the value before it.
    #[error("a penalty must not decrease, but {0} comes after {1}; state a value of at least {1}")]
    Decreasing(Weight, Weight),
}

impl EndPenalty {
    /// Maximum number of points.
    pub const MAX_POINTS: usize = 1000;

    /// Creates a penalty from its points: instants, and the penalties at these instants.
    ///
    /// # Errors
    /// [`PenaltyError`] if there is no point or too many, if the instants do not ascend, or if a value decreases.
    pub fn new(form: PenaltyForm, points: Vec<(Time, Weight)>) -> Result<Self, PenaltyError> {
        if points.is_empty() || points.len() > Self::MAX_POINTS {
            return Err(PenaltyError::Count(points.len()));
        }
        for pair in points.windows(2) {
            let ((before, less), (after, more)) = (pair[0], pair[1]);
            if after <= before {
                return Err(PenaltyError::Order(after, before));
            }
            if more < less {
                return Err(PenaltyError::Decreasing(more, less));
            }
        }
        Ok(Self { form, points: points.into() })
    }

    /// Returns the form between the points.
    pub fn form(&self) -> PenaltyForm {
        self.form
    }

    /// Returns the points, in ascending order of their instants.
    pub fn points(&self) -> &[(Time, Weight)] {
        &self.points
    }

    /// Returns the penalty of an end at `end` ticks, in millionths and rounded up.
    pub fn millionths(&self, end: i128) -> i128 {
        let (whole, rest) = self.parts(end);
        whole + i128::from(rest)
    }

    /// Returns the penalty of an end at `end` ticks, in millionths and rounded down. This value never exceeds the line
    /// through the points.
    pub fn millionths_down(&self, end: i128) -> i128 {
        self.parts(end).0
    }

    /// Returns the whole millionths of the penalty, and whether a fraction of a millionth remains.
    fn parts(&self, end: i128) -> (i128, bool) {
        let value = |at: usize| i128::from(self.points[at].1.millionths());
        let instant = |at: usize| i128::from(self.points[at].0.ticks());
        // The number of points before the end.
        let before = self.points.partition_point(|&(at, _)| i128::from(at.ticks()) < end);
        match (self.form, before) {
            (PenaltyForm::Steps, 0) => (0, false),
            (PenaltyForm::Steps, _) => (value(before - 1), false),
            (PenaltyForm::Linear, 0) => (value(0), false),
            (PenaltyForm::Linear, _) if self.points.len() == 1 => (value(0), false),
            (PenaltyForm::Linear, _) => {
                let from = (before - 1).min(self.points.len() - 2);
                let (length, rise) = (instant(from + 1) - instant(from), value(from + 1) - value(from));
                let grown = (end - instant(from)).saturating_mul(rise);
                (value(from) + grown.div_euclid(length), grown.rem_euclid(length) > 0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(points: &[(i64, u64)]) -> Vec<(Time, Weight)> {
        let point = |&(at, value)| (Time::from_ticks(at), Weight::from_millionths(value).unwrap());
        points.iter().map(point).collect()
    }

    #[test]
    fn a_penalty_never_decreases_and_is_rounded_up() {
        let linear = EndPenalty::new(PenaltyForm::Linear, points(&[(2, 1), (5, 3), (6, 9)])).unwrap();
        assert_eq!([0, 2, 3, 4, 5, 6, 8].map(|end| linear.millionths(end)), [1, 1, 2, 3, 3, 9, 21]);
        assert_eq!([2, 3, 4, 5].map(|end| linear.millionths_down(end)), [1, 1, 2, 3]);
        let steps = EndPenalty::new(PenaltyForm::Steps, points(&[(2, 1), (5, 3)])).unwrap();
        assert_eq!([2, 3, 5, 6, 99].map(|end| steps.millionths(end)), [0, 1, 1, 3, 3]);
        let constant = EndPenalty::new(PenaltyForm::Linear, points(&[(2, 7)])).unwrap();
        assert_eq!([0, 99].map(|end| constant.millionths(end)), [7, 7]);
    }

    #[test]
    fn points_that_are_no_penalty_are_refused() {
        let refused = |list: &[(i64, u64)]| EndPenalty::new(PenaltyForm::Steps, points(list)).unwrap_err().to_string();
        assert!(refused(&[]).contains("from 1 to 1000"));
        assert!(refused(&[(5, 1), (5, 2)]).contains("sort the points"));
        assert!(refused(&[(5, 2), (6, 1)]).contains("must not decrease"));
    }
}
