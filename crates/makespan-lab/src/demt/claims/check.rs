//! Evidence for claims about curves. The constants state the numeric meaning of the paper's words "around" and
//! "stable".

use makespan_generate::Family;

use crate::campaign::{Claim, ClaimAnswer};
use crate::demt::points::{Criterion, Points};
use crate::statistics::mean;

/// If the paper calls a ratio "around" a number, the maximum difference between the ratio and this number.
const AROUND: f64 = 0.25;
/// If the paper calls a curve "stable", the maximum of its largest ratio divided by its smallest ratio.
const STABLE: f64 = 1.25;

/// A curve: pairs of a number of jobs and an average ratio.
pub(super) type Curve = Vec<(usize, f64)>;

/// Returns the curve of an algorithm.
pub(super) fn curve(points: &Points, family: Family, algorithm: &str, criterion: Criterion) -> Curve {
    points.curve(family, algorithm).into_iter().map(|point| (point.jobs, point.ratio(criterion).of_sums)).collect()
}

/// Answers for or against a claim, and the measured values that lead to these answers.
#[derive(Default)]
pub(super) struct Evidence {
    answers: Vec<ClaimAnswer>,
    figures: Vec<String>,
}

impl Evidence {
    /// Calls `add` for each element of `all`. Each call adds answers or measured values.
    pub(super) fn over<T>(self, all: impl IntoIterator<Item = T>, add: impl Fn(Self, T) -> Self) -> Self {
        all.into_iter().fold(self, add)
    }

    /// Adds answers. If the measurements do not decide the claim, `answers` is empty.
    pub(super) fn answer<A: Into<ClaimAnswer>>(mut self, answers: impl IntoIterator<Item = A>) -> Self {
        self.answers.extend(answers.into_iter().map(Into::into));
        self
    }

    /// Adds a measured value as text.
    pub(super) fn note(mut self, figure: String) -> Self {
        self.figures.push(figure);
        self
    }

    /// Adds the ratios of a curve as text. Does nothing if the curve is empty.
    pub(super) fn show(self, name: &str, curve: &Curve) -> Self {
        let ratios: Vec<String> = curve.iter().map(|(_, ratio)| format!("{ratio:.2}")).collect();
        if ratios.is_empty() { self } else { self.note(format!("{name} {}", ratios.join(" "))) }
    }

    /// Adds the ratios of a curve as text. Also adds an answer for each ratio: the result of `holds`.
    pub(super) fn each<A: Into<ClaimAnswer>>(self, name: &str, curve: &Curve, holds: impl Fn(f64) -> A) -> Self {
        self.show(name, curve).answer(curve.iter().map(|&(_, ratio)| holds(ratio)))
    }

    /// Adds one answer for each number of jobs: yes if the curve `low` is below the curve `high` there.
    pub(super) fn below(self, low: &Curve, high: &Curve) -> Self {
        self.answer(low.iter().zip(high).map(|((_, a), (_, b))| a < b))
    }

    /// Returns a claim with this evidence. The claim holds if every answer is yes, and holds partly if only some
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

/// Returns true if the largest ratio is at most [`STABLE`] times the smallest ratio. Returns `None` if the curve has
/// fewer than two points.
pub(super) fn is_stable(curve: &Curve) -> Option<bool> {
    let ratios = || curve.iter().map(|&(_, ratio)| ratio);
    let spread = ratios().fold(0.0, f64::max) / ratios().fold(f64::INFINITY, f64::min);
    (curve.len() > 1).then_some(spread <= STABLE)
}

/// Returns the last ratio divided by the first ratio, or `None` if the curve has fewer than two points.
pub(super) fn growth(curve: &Curve) -> Option<f64> {
    match curve.as_slice() {
        [(_, first), .., (_, last)] => Some(last / first),
        _ => None,
    }
}

/// Returns the mean of the ratios of a curve, or `None` if the curve is empty.
pub(super) fn level(curve: &Curve) -> Option<f64> {
    mean(&curve.iter().map(|&(_, ratio)| ratio).collect::<Vec<_>>())
}
