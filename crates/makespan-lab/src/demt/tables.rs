//! The results as CSV.

use makespan_core::Objective;

use super::{Point, Points, Run};
use crate::campaign::table;
use crate::statistics::RatioSummary;

/// One row a run and algorithm: values and references exact, ratios to six places. Holds no times, so that the same
/// seed gives the same bytes.
pub(super) fn results(runs: &[Run]) -> (String, Vec<u8>) {
    let header = "family,jobs,run,instance_seed,algorithm,makespan,makespan_bound,makespan_ratio,\
                  weighted_completion,weighted_completion_bound,weighted_completion_ratio,\
                  printed_programme_estimate,printed_programme_ratio";
    let time = |value| Objective::Makespan.decimal(value);
    let sum = |value| Objective::WeightedCompletion.decimal(value);
    let ratio = |value: i128, reference: i128| format!("{:.6}", value as f64 / reference as f64);
    table(
        "results.csv",
        header,
        runs.iter().flat_map(|run| {
            run.outcomes.iter().map(move |outcome| {
                vec![
                    run.key.family.to_string(),
                    run.key.jobs.to_string(),
                    run.key.run.to_string(),
                    run.instance_seed.to_string(),
                    outcome.algorithm.clone(),
                    time(outcome.makespan),
                    time(run.makespan_bound),
                    ratio(outcome.makespan, run.makespan_bound),
                    sum(outcome.minsum),
                    sum(run.minsum_bound),
                    ratio(outcome.minsum, run.minsum_bound),
                    sum(run.minsum_printed),
                    ratio(outcome.minsum, run.minsum_printed),
                ]
            })
        }),
    )
}

/// One row a run and algorithm: the seconds that it took.
pub(super) fn times(runs: &[Run]) -> (String, Vec<u8>) {
    table(
        "times.csv",
        "family,jobs,run,algorithm,seconds",
        runs.iter().flat_map(|run| {
            run.outcomes.iter().map(|outcome| {
                let key = run.key;
                let seconds = format!("{:.6}", outcome.seconds);
                vec![
                    key.family.to_string(),
                    key.jobs.to_string(),
                    key.run.to_string(),
                    outcome.algorithm.clone(),
                    seconds,
                ]
            })
        }),
    )
}

/// One row a point: smallest, average (of sums) and largest ratio.
pub(super) fn summary(points: &Points) -> (String, Vec<u8>) {
    let header = "family,jobs,algorithm,runs,makespan_ratio_min,makespan_ratio,makespan_ratio_max,\
                  weighted_completion_ratio_min,weighted_completion_ratio,weighted_completion_ratio_max,\
                  printed_programme_ratio_min,printed_programme_ratio,printed_programme_ratio_max";
    table("summary.csv", header, points.iter().map(summary_row))
}

fn summary_row(point: &Point) -> Vec<String> {
    let mut row =
        vec![point.family.to_string(), point.jobs.to_string(), point.algorithm.clone(), point.runs.to_string()];
    for RatioSummary { min, of_sums, max } in [point.makespan, point.minsum, point.minsum_printed] {
        row.extend([min, of_sums, max].map(|ratio| format!("{ratio:.6}")));
    }
    row
}
