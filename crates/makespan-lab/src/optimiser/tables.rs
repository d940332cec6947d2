//! The results as CSV.

use super::{Measurement, Point};
use crate::campaign::table;

/// One row a plan: value and bound exact, ratios to six places.
pub(super) fn results(measurements: &[Measurement]) -> (String, Vec<u8>) {
    let header = "objective,limit,family,jobs,run,instance_seed,value,bound,ratio,demt,demt_ratio,seconds";
    table(
        "results.csv",
        header,
        measurements.iter().map(|one| {
            let (setting, instance) = (one.key.setting, one.key.instance);
            let decimal = |value| setting.objective.decimal(value);
            vec![
                setting.objective.name().to_owned(),
                setting.limit.to_string(),
                instance.family.to_string(),
                instance.jobs.to_string(),
                instance.run.to_string(),
                one.instance_seed.to_string(),
                decimal(one.value),
                decimal(one.bound),
                format!("{:.6}", one.ratio()),
                decimal(one.demt),
                format!("{:.6}", one.demt_ratio()),
                format!("{:.6}", one.seconds),
            ]
        }),
    )
}

/// One row a point.
pub(super) fn summary(points: &[Point]) -> (String, Vec<u8>) {
    let header = "objective,limit,family,jobs,runs,ratio_min,ratio_mean,ratio_max,demt_ratio_mean,\
                  seconds_mean,seconds_max";
    table(
        "summary.csv",
        header,
        points.iter().map(|point| {
            let mut row = vec![
                point.setting.objective.name().to_owned(),
                point.setting.limit.to_string(),
                point.family.to_string(),
                point.jobs.to_string(),
                point.runs.to_string(),
            ];
            let figures = [point.min, point.mean, point.max, point.demt, point.seconds, point.longest];
            row.extend(figures.map(|figure| format!("{figure:.6}")));
            row
        }),
    )
}
