//! Compares curves. Constants give numbers to the paper's words, such as "around" and "stable".

use makespan_generate::Family;

use crate::campaign::{Claim, ClaimAnswer};
use crate::demt::points::{Criterion, Points};
use crate::statistics::mean;

/// Maximum difference between a ratio and a number, if the paper calls the ratio "around" this number.
const AROUND: f64 = 0.25;
/// Maximum quotient of the largest and the smallest ratio of a curve, if the paper calls the curve "stable".
const STABLE: f64 = 1.25;

/// Average ratios by number of jobs.
pub(super) type Curve = Vec<(usize, f64)>;

/// Returns the average ratios of an algorithm.
pub(super) fn curve(points: &Points, family: Family, algorithm: &str, criterion: Criterion) -> Curve {
    points.curve(family, algorithm).into_iter().map(|point| (point.jobs, point.ratio(criterion).of_sums)).collect()
}

/// Answers for or against a claim, and the figures that lead to these answers.
#[derive(Default)]
pub(super) struct Evidence {
    answers: Vec<ClaimAnswer>,
    figures: Vec<String>,
}

impl Evidence {
    /// Calls `add` for each element of `all`. Each call adds evidence.
    pub(super) fn over<T>(self, all: impl IntoIterator<Item = T>, add: impl Fn(Self, T) -> Self) -> Self {
        all.into_iter().fold(self, add)
    }

    /// Adds answers. `answers` is empty if the points do not decide the claim.
    pub(super) fn answer<A: Into<ClaimAnswer>>(mut self, answers: impl IntoIterator<Item = A>) -> Self {
        self.answers.extend(answers.into_iter().map(Into::into));
        self
    }

    /// Adds a figure as text.
    pub(super) fn note(mut self, figure: String) -> Self {
        self.figures.push(figure);
        self
    }

    /// Adds the figures of a curve, if it has any.
    pub(super) fn show(self, name: &str, curve: &Curve) -> Self {
        let ratios: Vec<String> = curve.iter().map(|(_, ratio)| format!("{ratio:.2}")).collect();
        if ratios.is_empty() { self } else { self.note(format!("{name} {}", ratios.join(" "))) }
    }

    /// Adds the figures of a curve. Then calls `holds` with each average ratio of the curve, and adds the result as an
    /// answer.
    pub(super) fn each<A: Into<ClaimAnswer>>(self, name: &str, curve: &Curve, holds: impl Fn(f64) -> A) -> Self {
        self.show(name, curve).answer(curve.iter().map(|&(_, ratio)| holds(ratio)))
    }

    /// Adds one answer for each number of jobs: yes if the first curve is below the second.
    pub(super) fn below(self, low: &Curve, high: &Curve) -> Self {
        self.answer(low.iter().zip(high).map(|((_, a), (_, b))| a < b))
    }

    /// Returns the claim that this evidence decides. The claim holds if every answer is yes, and holds partly if some
    /// answers are yes.
    pub(super) fn claim(self, place: &str, statement: &str) -> Claim {
        let (yes, all) = (self.answers.iter().filter(|&&answer| answer != ClaimAnswer::No).count(), self.answers.len());
        let mut measured = self.figures.join("; ");
        if all > 1 {
            measured = format!("{measured} ({yes} of {all} comparisons agree)");
        }
        Claim::new(place, statement, measured, &self.answers)
    }
}

/// Compares a ratio with `centre`. If the ratio is lower by more than [`AROUND`], the answer is "better". If the ratio
/// is higher by more than [`AROUND`], the answer is no. Otherwise, the answer is yes.
pub(super) fn around(ratio: f64, centre: f64) -> ClaimAnswer {
    if ratio < centre - AROUND { ClaimAnswer::Better } else { (ratio <= centre + AROUND).into() }
}

/// Returns true if the largest ratio is at most [`STABLE`] times the smallest ratio. Returns `None` for fewer than two
/// points.
pub(super) fn is_stable(curve: &Curve) -> Option<bool> {
    let ratios = || curve.iter().map(|&(_, ratio)| ratio);
    let spread = ratios().fold(0.0, f64::max) / ratios().fold(f64::INFINITY, f64::min);
    (curve.len() > 1).then_some(spread <= STABLE)
}

/// Returns the last ratio divided by the first, or `None` for fewer than two points.
pub(super) fn growth(curve: &Curve) -> Option<f64> {
    match curve.as_slice() {
        [(_, first), .., (_, last)] => Some(last / first),
        _ => None,
    }
}

/// Returns the mean of the average ratios, or `None` if there are none.
pub(super) fn level(curve: &Curve) -> Option<f64> {
    mean(&curve.iter().map(|&(_, ratio)| ratio).collect::<Vec<_>>())
}
