//! Runs summed up by group of matrices and algorithm.

use makespan_generate::Consistency;

use super::{Key, Run};
use crate::statistics::mean;

/// Matrices that are summed up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The benchmark's files.
    Files,
    /// Drawn matrices of this consistency.
    Drawn(Consistency),
    /// All drawn matrices.
    AllDrawn,
}

impl Group {
    /// In the order of the tables.
    pub const ALL: [Self; 5] = [
        Self::Files,
        Self::Drawn(Consistency::Consistent),
        Self::Drawn(Consistency::SemiConsistent),
        Self::Drawn(Consistency::Inconsistent),
        Self::AllDrawn,
    ];

    /// For tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Drawn(Consistency::Consistent) => "drawn c",
            Self::Drawn(Consistency::SemiConsistent) => "drawn s",
            Self::Drawn(Consistency::Inconsistent) => "drawn i",
            Self::AllDrawn => "drawn",
        }
    }

    /// Whether a matrix belongs to it.
    pub fn has(self, key: Key) -> bool {
        match (self, key) {
            (Self::Files, Key::File(_)) | (Self::AllDrawn, Key::Drawn { .. }) => true,
            (Self::Drawn(consistency), Key::Drawn { class, .. }) => class.consistency == consistency,
            _ => false,
        }
    }
}

/// An algorithm on a group of matrices.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which matrices.
    pub group: Group,
    /// The spec.
    pub algorithm: String,
    /// How many matrices.
    pub matrices: usize,
    /// Mean gap over the verified bound, in per cent.
    pub mean: f64,
    /// The largest.
    pub max: f64,
    /// Mean wall time.
    pub seconds: f64,
}

/// By group and algorithm; groups without matrices are left out.
pub(super) fn points(algorithms: &[String], runs: &[Run]) -> Vec<Point> {
    let of = |group: Group| algorithms.iter().filter_map(move |algorithm| point(group, algorithm, runs));
    Group::ALL.into_iter().flat_map(of).collect()
}

/// The point of a group and an algorithm.
pub(super) fn find<'a>(points: &'a [Point], group: Group, algorithm: &str) -> Option<&'a Point> {
    points.iter().find(|point| point.group == group && point.algorithm == algorithm)
}

fn point(group: Group, algorithm: &str, runs: &[Run]) -> Option<Point> {
    let runs = || runs.iter().filter(|run| group.has(run.key));
    let gaps: Vec<f64> = runs().filter_map(|run| run.gap(algorithm)).collect();
    let outcomes = runs().flat_map(|run| &run.outcomes).filter(|outcome| outcome.algorithm == algorithm);
    let seconds: Vec<f64> = outcomes.map(|outcome| outcome.seconds).collect();
    Some(Point {
        group,
        algorithm: algorithm.to_owned(),
        matrices: gaps.len(),
        mean: mean(&gaps)?,
        max: gaps.iter().copied().fold(0.0, f64::max),
        seconds: mean(&seconds)?,
    })
}
