//! The results as CSV.

use makespan_core::Objective;

use super::{KnownValues, Point, Run};
use crate::campaign::table;

/// One row a plan: makespan and bound exact.
pub(super) fn results(runs: &[Run], known: &KnownValues) -> (String, Vec<u8>) {
    let decimal = |value| Objective::Makespan.decimal(value);
    let rows = runs.iter().flat_map(|run| {
        let known = known.of(&run.set, &run.name);
        let whole = |value: Option<i64>| value.map_or_else(String::new, |value| value.to_string());
        run.outcomes.iter().map(move |outcome| {
            vec![
                run.set.clone(),
                run.name.clone(),
                outcome.algorithm.clone(),
                outcome.makespan.map_or_else(String::new, decimal),
                decimal(outcome.bound),
                decimal(run.critical_path),
                whole(known.map(|known| known.makespan)),
                whole(known.and_then(|known| known.bound)),
                format!("{:.6}", outcome.seconds),
            ]
        })
    });
    let header =
        "set,project,algorithm,makespan,bound,critical_path,best_known_makespan,best_known_lower_bound,seconds";
    table("results.csv", header, rows)
}

/// One row a point.
pub(super) fn summary(points: &[Point]) -> (String, Vec<u8>) {
    let row = |point: &Point| {
        let figure = |figure: f64| format!("{figure:.6}");
        let optional = |value: Option<f64>| value.map_or_else(String::new, figure);
        vec![
            point.set.clone(),
            point.algorithm.clone(),
            point.projects.to_string(),
            point.planned.to_string(),
            figure(point.over_path),
            point.known.to_string(),
            point.missed.to_string(),
            optional(point.over_best),
            optional(point.as_best),
            figure(point.over_bound),
            figure(point.optimal),
            optional(point.bound_below),
            figure(point.seconds),
        ]
    };
    let header = "set,algorithm,projects,planned,over_path_percent,known,missed,over_best_percent,as_best_percent,\
                  over_bound_percent,optimal_percent,bound_below_percent,seconds_mean";
    table("summary.csv", header, points.iter().map(row))
}
