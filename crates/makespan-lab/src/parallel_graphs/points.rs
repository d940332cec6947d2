//! Runs summed up by group of graphs and algorithm.

use makespan_generate::Law;

use super::{Family, Run};
use crate::statistics::mean;

/// Graphs that are summed up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// All of them.
    All,
    /// On so many processors.
    Processors(u32),
    /// Of one family.
    Family(Family),
    /// Of one law.
    Law(Law),
    /// For which so many tasks were asked.
    Tasks(usize),
}

impl Group {
    /// Every group that some run belongs to, in the order of the tables.
    fn of(runs: &[Run]) -> Vec<Self> {
        let mut groups = vec![Self::All];
        let each: [fn(&Run) -> Self; 4] = [
            |run| Self::Processors(run.key.processors),
            |run| Self::Family(run.key.family),
            |run| Self::Law(run.key.law),
            |run| Self::Tasks(run.key.tasks),
        ];
        for group in each {
            for run in runs {
                if !groups.contains(&group(run)) {
                    groups.push(group(run));
                }
            }
        }
        groups
    }

    fn has(self, run: &Run) -> bool {
        match self {
            Self::All => true,
            Self::Processors(processors) => run.key.processors == processors,
            Self::Family(family) => run.key.family == family,
            Self::Law(law) => run.key.law == law,
            Self::Tasks(tasks) => run.key.tasks == tasks,
        }
    }

    /// For tables.
    pub fn name(self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Processors(processors) => format!("P = {processors}"),
            Self::Family(family) => family.to_string(),
            Self::Law(law) => law.to_string(),
            Self::Tasks(tasks) => format!("{tasks} tasks"),
        }
    }
}

/// An algorithm on a group of graphs.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which graphs.
    pub group: Group,
    /// The spec.
    pub algorithm: String,
    /// How many graphs.
    pub graphs: usize,
    /// Geometric mean of the makespan over the verified bound.
    pub geometric: f64,
    /// Arithmetic mean of it.
    pub mean: f64,
    /// The least and the largest.
    pub range: (f64, f64),
    /// Arithmetic mean of the makespan over the best of CPA, MCPA and the rounding of the linear programme.
    pub over_baselines: f64,
    /// Mean wall time.
    pub seconds: f64,
}

/// By group and algorithm.
pub(super) fn points(algorithms: &[String], runs: &[Run]) -> Vec<Point> {
    let of = |group: Group| algorithms.iter().filter_map(move |algorithm| point(group, algorithm, runs));
    Group::of(runs).into_iter().flat_map(of).collect()
}

/// The point of a group and an algorithm.
pub(super) fn find<'a>(points: &'a [Point], group: Group, algorithm: &str) -> Option<&'a Point> {
    points.iter().find(|point| point.group == group && point.algorithm == algorithm)
}

fn point(group: Group, algorithm: &str, runs: &[Run]) -> Option<Point> {
    let runs: Vec<&Run> = runs.iter().filter(|run| group.has(run)).collect();
    let ratios: Vec<f64> = runs.iter().filter_map(|run| run.ratio(algorithm)).collect();
    let over: Vec<f64> = runs.iter().filter_map(|run| run.over_baselines(algorithm)).collect();
    let outcomes = runs.iter().flat_map(|run| &run.outcomes).filter(|outcome| outcome.algorithm == algorithm);
    let seconds: Vec<f64> = outcomes.map(|outcome| outcome.seconds).collect();
    let logarithms: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    Some(Point {
        group,
        algorithm: algorithm.to_owned(),
        graphs: ratios.len(),
        geometric: mean(&logarithms)?.exp(),
        mean: mean(&ratios)?,
        range: (least, ratios.iter().copied().fold(0.0, f64::max)),
        over_baselines: mean(&over)?,
        seconds: mean(&seconds)?,
    })
}
