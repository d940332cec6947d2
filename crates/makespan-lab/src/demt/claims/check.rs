//! The yes-or-no questions of which claims are made.

use makespan_generate::Family;

use super::Claim;
use crate::campaign::Answer;
use crate::demt::{Criterion, Points};
use crate::statistics::mean;

/// "Around" a ratio: at most this far from it.
const AROUND: f64 = 0.25;
/// "Stable": the largest ratio is at most this many times the smallest.
const STABLE: f64 = 1.25;
/// "Greatly increases": the last ratio is at least this many times the first.
const GREATLY: f64 = 1.5;

/// Average ratios by number of jobs.
pub(super) type Curve = Vec<(usize, f64)>;

/// Average ratios of an algorithm.
pub(super) fn curve(points: &Points, family: Family, algorithm: &str, criterion: Criterion) -> Curve {
    points.curve(family, algorithm).into_iter().map(|point| (point.jobs, point.ratio(criterion).of_sums)).collect()
}

/// Collects answers and the figures behind them.
#[derive(Default)]
pub(super) struct Evidence {
    answers: Vec<Answer>,
    figures: Vec<String>,
}

impl Evidence {
    /// Adds one answer.
    pub(super) fn answer(&mut self, answer: impl Into<Answer>) {
        self.answers.push(answer.into());
    }

    /// Adds the answer to a question that the points may not decide.
    pub(super) fn answer_if_known(&mut self, answer: Option<bool>) {
        self.answers.extend(answer.map(Answer::from));
    }

    /// Each average against a condition, as one answer a number of jobs.
    pub(super) fn each<A: Into<Answer>>(&mut self, name: &str, curve: &Curve, holds: impl Fn(f64) -> A) {
        self.show(name, curve);
        self.answers.extend(curve.iter().map(|&(_, ratio)| holds(ratio).into()));
    }

    /// One curve below another at each number of jobs.
    pub(super) fn below(&mut self, low: &Curve, high: &Curve) {
        self.answers.extend(low.iter().zip(high).map(|((_, a), (_, b))| Answer::from(a < b)));
    }

    /// The figures of a curve.
    pub(super) fn show(&mut self, name: &str, curve: &Curve) {
        if !curve.is_empty() {
            let ratios: Vec<String> = curve.iter().map(|(_, ratio)| format!("{ratio:.2}")).collect();
            self.figures.push(format!("{name} {}", ratios.join(" ")));
        }
    }

    /// A figure in words.
    pub(super) fn note(&mut self, figure: String) {
        self.figures.push(figure);
    }

    /// The claim that this evidence decides: it holds when every answer is yes, partly when some are.
    pub(super) fn claim(self, place: &'static str, statement: &'static str) -> Claim {
        let (yes, all) = (self.answers.iter().filter(|&&answer| answer != Answer::No).count(), self.answers.len());
        let mut measured = self.figures.join("; ");
        if all > 1 {
            measured = format!("{measured} ({yes} of {all} comparisons agree)");
        }
        Claim::new(place, statement, measured, &self.answers)
    }
}

/// Returns whether a ratio to a bound is around another one; a lower ratio is better.
pub(super) fn around(ratio: f64, centre: f64) -> Answer {
    if ratio < centre - AROUND { Answer::Better } else { (ratio <= centre + AROUND).into() }
}

/// Whether the largest ratio is close to the smallest; `None` with fewer than two points.
pub(super) fn is_stable(curve: &Curve) -> Option<bool> {
    let ratios = || curve.iter().map(|&(_, ratio)| ratio);
    let spread = ratios().fold(0.0, f64::max) / ratios().fold(f64::INFINITY, f64::min);
    (curve.len() > 1).then_some(spread <= STABLE)
}

/// Last ratio over first; `None` with fewer than two points.
pub(super) fn growth(curve: &Curve) -> Option<f64> {
    match curve.as_slice() {
        [(_, first), .., (_, last)] => Some(last / first),
        _ => None,
    }
}

/// Whether a curve greatly increases; `None` with fewer than two points.
pub(super) fn grows_greatly(curve: &Curve) -> Option<bool> {
    growth(curve).map(|growth| growth >= GREATLY)
}

/// The mean of the averages; `None` without points.
pub(super) fn level(curve: &Curve) -> Option<f64> {
    mean(&curve.iter().map(|&(_, ratio)| ratio).collect::<Vec<_>>())
}
