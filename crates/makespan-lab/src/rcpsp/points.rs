//! Runs summed up by set and algorithm.

use super::outcome::ticks;
use super::{KnownValues, Outcome, Run};
use crate::statistics::mean;

/// An algorithm on the projects of a set. Gaps are in per cent.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Which set.
    pub set: String,
    /// The spec.
    pub algorithm: String,
    /// How many projects.
    pub projects: usize,
    /// For how many of them a plan was found.
    pub planned: usize,
    /// Mean gap of the makespan over the longest path, of those that have a plan.
    pub over_path: f64,
    /// Mean gap over the verified bound.
    pub over_bound: f64,
    /// Mean gap over the best known makespan, of the projects of which one is known.
    pub over_best: Option<f64>,
    /// For how many projects a best makespan is known.
    pub known: usize,
    /// How many of these have no plan.
    pub missed: usize,
    /// The share of plans as short as the best known.
    pub as_best: Option<f64>,
    /// The share of plans proved to be optimal.
    pub optimal: f64,
    /// By how much the verified bound is below the best known makespan, on the mean.
    pub bound_below: Option<f64>,
    /// Mean wall time.
    pub seconds: f64,
}

/// How far a makespan is above a value, in per cent.
pub(super) fn over(makespan: i128, value: i128) -> f64 {
    (makespan as f64 / value as f64 - 1.0) * 100.0
}

/// By set and algorithm.
pub(super) fn points(algorithms: &[String], runs: &[Run], known: &KnownValues) -> Vec<Point> {
    let sets = runs.chunk_by(|a, b| a.set == b.set);
    sets.flat_map(|set| algorithms.iter().filter_map(move |algorithm| point(set, algorithm, known))).collect()
}

/// The point of a set and an algorithm.
pub(super) fn find<'a>(points: &'a [Point], set: &str, algorithm: &str) -> Option<&'a Point> {
    points.iter().find(|point| point.set == set && point.algorithm == algorithm)
}

/// A project with what an algorithm did, and the makespan of its plan.
type Planned<'a> = (&'a Run, &'a Outcome, i128);

fn point(runs: &[Run], algorithm: &str, known: &KnownValues) -> Option<Point> {
    let outcome = |run: &'_ Run| run.outcomes.iter().find(|outcome| outcome.algorithm == algorithm).cloned();
    let outcomes: Vec<(&Run, Outcome)> = runs.iter().filter_map(|run| Some((run, outcome(run)?))).collect();
    let planned: Vec<Planned<'_>> =
        outcomes.iter().filter_map(|(run, outcome)| Some((*run, outcome, outcome.makespan?))).collect();
    let best = |run: &Run| known.of(&run.set, &run.name).map(|known| ticks(known.makespan));
    let means = |of: &dyn Fn(&Planned<'_>) -> Option<f64>| mean(&planned.iter().filter_map(of).collect::<Vec<f64>>());
    let share = |is: bool| if is { 100.0 } else { 0.0 };
    let below =
        outcomes.iter().filter_map(|(run, outcome)| Some((1.0 - outcome.bound as f64 / best(run)? as f64) * 100.0));
    Some(Point {
        set: runs.first()?.set.clone(),
        algorithm: algorithm.to_owned(),
        projects: outcomes.len(),
        planned: planned.len(),
        over_path: means(&|(run, _, makespan)| Some(over(*makespan, run.critical_path)))?,
        over_bound: means(&|(_, outcome, makespan)| Some(over(*makespan, outcome.bound)))?,
        over_best: means(&|(run, _, makespan)| Some(over(*makespan, best(run)?))),
        known: outcomes.iter().filter(|(run, _)| best(run).is_some()).count(),
        missed: outcomes.iter().filter(|(run, outcome)| best(run).is_some() && outcome.makespan.is_none()).count(),
        as_best: means(&|(run, _, makespan)| Some(share(*makespan <= best(run)?))),
        optimal: mean(&outcomes.iter().map(|(_, outcome)| share(outcome.is_optimal())).collect::<Vec<_>>())?,
        bound_below: mean(&below.collect::<Vec<_>>()),
        seconds: mean(&outcomes.iter().map(|(_, outcome)| outcome.seconds).collect::<Vec<_>>())?,
    })
}
