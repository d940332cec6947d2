//! Runs summed up by family, number of jobs and algorithm.

use std::collections::BTreeMap;

use makespan_generate::Family;

use super::{Outcome, Run};
use crate::statistics::{RatioSummary, mean, ratio_of_sums};

/// What an algorithm is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// Makespan over its proven bound.
    Makespan,
    /// Weighted completion over the value of the paper's programme as printed: comparable with the paper's figures.
    MinsumPrinted,
    /// Weighted completion over its proven bound.
    Minsum,
}

/// An algorithm on the runs of one family and number of jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Family of the instances.
    pub family: Family,
    /// How many jobs they have.
    pub jobs: usize,
    /// Spec of the algorithm.
    pub algorithm: String,
    /// How many runs.
    pub runs: usize,
    /// Makespan over its proven bound.
    pub makespan: RatioSummary,
    /// Weighted completion over its proven bound.
    pub minsum: RatioSummary,
    /// Weighted completion over the value of the programme as printed.
    pub minsum_printed: RatioSummary,
    /// Seconds that one run took: shortest, mean, longest.
    pub seconds: [f64; 3],
}

/// All points of a campaign, by family, algorithm (in the order of the options) and number of jobs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points(Vec<Point>);

impl Point {
    /// The ratios by a criterion.
    pub fn ratio(&self, criterion: Criterion) -> RatioSummary {
        match criterion {
            Criterion::Makespan => self.makespan,
            Criterion::MinsumPrinted => self.minsum_printed,
            Criterion::Minsum => self.minsum,
        }
    }
}

impl Points {
    /// Sums up runs, which are in the order of their keys.
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for run in runs {
            for (index, outcome) in run.outcomes.iter().enumerate() {
                groups.entry((run.key.family, index, run.key.jobs)).or_default().push((run, outcome));
            }
        }
        Self(groups.into_iter().filter_map(|((family, _, jobs), group)| point(family, jobs, &group)).collect())
    }

    #[cfg(test)]
    pub(super) fn synthetic(points: Vec<Point>) -> Self {
        Self(points)
    }

    /// Every point.
    pub fn iter(&self) -> impl Iterator<Item = &Point> {
        self.0.iter()
    }

    /// The points of one curve, by number of jobs.
    pub fn curve(&self, family: Family, algorithm: &str) -> Vec<&Point> {
        self.iter().filter(|point| point.family == family && point.algorithm == algorithm).collect()
    }

    /// The specs, in the order of reports.
    pub fn algorithms(&self) -> Vec<&str> {
        let mut specs: Vec<&str> = Vec::new();
        for point in self.iter() {
            if !specs.contains(&point.algorithm.as_str()) {
                specs.push(&point.algorithm);
            }
        }
        specs
    }
}

fn point(family: Family, jobs: usize, group: &[(&Run, &Outcome)]) -> Option<Point> {
    let ratio = |value: fn(&Outcome) -> i128, reference: fn(&Run) -> i128| {
        ratio_of_sums(group.iter().map(|&(run, outcome)| (value(outcome) as f64, reference(run) as f64)))
    };
    let seconds: Vec<f64> = group.iter().map(|(_, outcome)| outcome.seconds).collect();
    let shortest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    Some(Point {
        family,
        jobs,
        algorithm: group.first()?.1.algorithm.clone(),
        runs: group.len(),
        makespan: ratio(|outcome| outcome.makespan, |run| run.makespan_bound)?,
        minsum: ratio(|outcome| outcome.minsum, |run| run.minsum_bound)?,
        minsum_printed: ratio(|outcome| outcome.minsum, |run| run.minsum_printed)?,
        seconds: [shortest, mean(&seconds)?, longest],
    })
}
