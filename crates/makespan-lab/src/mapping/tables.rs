//! The results as CSV.

use makespan_core::Objective;

use super::{Point, Run};
use crate::campaign::table;

/// One row a plan: makespan and bound exact.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let decimal = |value| Objective::Makespan.decimal(value);
    let rows = runs.iter().flat_map(|run| {
        run.outcomes.iter().map(move |outcome| {
            vec![
                run.key.to_string(),
                run.seed.to_string(),
                outcome.algorithm.clone(),
                decimal(outcome.makespan),
                decimal(run.bound),
                run.gap(&outcome.algorithm).map_or_else(String::new, |gap| format!("{gap:.6}")),
                format!("{:.6}", outcome.seconds),
            ]
        })
    });
    table("results.csv", "matrix,seed,algorithm,makespan,bound,gap_percent,seconds", rows)
}

/// One row a point.
pub(super) fn summary(points: &[Point]) -> (String, Vec<u8>) {
    let row = |point: &Point| {
        vec![
            point.group.name().to_owned(),
            point.algorithm.clone(),
            point.matrices.to_string(),
            format!("{:.6}", point.mean),
            format!("{:.6}", point.max),
            format!("{:.6}", point.seconds),
        ]
    };
    table(
        "summary.csv",
        "group,algorithm,matrices,gap_percent_mean,gap_percent_max,seconds_mean",
        points.iter().map(row),
    )
}
