//! The results as CSV.

use makespan_core::Objective;

use super::{Point, Run};
use crate::campaign::table;

/// One row a plan: makespan and bound exact.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let decimal = |value| Objective::Makespan.decimal(value);
    let figure = |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{ratio:.6}"));
    let rows = runs.iter().flat_map(|run| {
        run.outcomes.iter().map(move |outcome| {
            vec![
                run.key.family.to_string(),
                run.key.law.to_string(),
                run.tasks.to_string(),
                run.key.processors.to_string(),
                run.key.run.to_string(),
                run.seed.to_string(),
                outcome.algorithm.clone(),
                decimal(outcome.makespan),
                decimal(run.bound),
                figure(run.ratio(&outcome.algorithm)),
                figure(run.over_baselines(&outcome.algorithm)),
                format!("{:.6}", outcome.seconds),
            ]
        })
    });
    let header = "family,law,tasks,processors,run,seed,algorithm,makespan,bound,ratio,over_baselines,seconds";
    table("results.csv", header, rows)
}

/// One row a point.
pub(super) fn summary(points: &[Point]) -> (String, Vec<u8>) {
    let row = |point: &Point| {
        let Point { geometric, mean, range, over_baselines, seconds, .. } = point;
        let figures = [geometric, mean, &range.0, &range.1, over_baselines, seconds];
        let head = [point.group.name(), point.algorithm.clone(), point.graphs.to_string()];
        head.into_iter().chain(figures.map(|figure| format!("{figure:.6}"))).collect()
    };
    let header =
        "group,algorithm,graphs,ratio_geometric,ratio_mean,ratio_min,ratio_max,over_baselines_mean,seconds_mean";
    table("summary.csv", header, points.iter().map(row))
}
