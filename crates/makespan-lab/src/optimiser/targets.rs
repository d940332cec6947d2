//! Targets for `optimise`, and verdicts on them.

use makespan_core::{Objective, Time};

use super::Point;
use crate::campaign::{Claim, SearchLimit, SearchSetting};
use crate::statistics::mean;

/// A statistic of the ratios of plans of one family. A ratio is a value divided by its bound. A target is an upper
/// limit on a statistic.
#[derive(Clone, Copy)]
enum Figure {
    /// The mean ratio of all plans.
    Mean,
    /// The maximum, over the numbers of jobs, of the mean ratio of the plans with this number of jobs.
    WorstMean,
    Largest,
}

/// The targets: objective, time limit in seconds, statistic, and upper limit on the statistic.
const TARGETS: [(Objective, i64, Figure, f64); 6] = [
    (Objective::WeightedCompletion, 1, Figure::Mean, 1.05),
    (Objective::WeightedCompletion, 1, Figure::WorstMean, 1.05),
    (Objective::WeightedCompletion, 10, Figure::Mean, 1.03),
    (Objective::WeightedCompletion, 10, Figure::WorstMean, 1.03),
    (Objective::Makespan, 1, Figure::Mean, 1.03),
    (Objective::Makespan, 1, Figure::Largest, 1.05),
];

/// Returns a verdict on each target. The verdict follows from one answer for each family.
pub(super) fn claims(points: &[Point]) -> Vec<Claim> {
    let claim = |(objective, seconds, figure, most)| {
        let name = if objective == Objective::Makespan { "Makespan" } else { "Weighted completion" };
        let place = format!("{name} in {seconds} s");
        let statement = match figure {
            Figure::Mean => format!("For each family, the mean ratio of plan to bound is at most {most}"),
            Figure::WorstMean => {
                format!("For each family and each number of jobs, the mean ratio of plan to bound is at most {most}")
            }
            Figure::Largest => format!("No ratio of plan to bound is above {most}"),
        };
        let setting = SearchSetting { objective, limit: SearchLimit::Time(Time::from_seconds(seconds)) };
        let families = points.chunk_by(|a, b| (a.setting, a.family) == (b.setting, b.family));
        let evidence = families.filter(|family| family[0].setting == setting).filter_map(|family| {
            let (value, at) = figure.of(family)?;
            Some((format!("{} {value:.4}{at}", family[0].family), value <= most))
        });
        Claim::each(place, statement, ", ", evidence)
    };
    TARGETS.into_iter().map(claim).collect()
}

impl Figure {
    /// Computes the statistic from the points of a family. If the statistic is a maximum over numbers of jobs, the
    /// string states the number of jobs at which the maximum occurs. Otherwise, the string is empty.
    fn of(self, family: &[Point]) -> Option<(f64, String)> {
        let worst = |of: fn(&Point) -> f64| {
            let worst = family.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
            worst.map(|point| (of(point), format!(" at n = {}", point.jobs)))
        };
        match self {
            // Each number of jobs has the same number of plans, so the mean of the means is the mean of all plans.
            Self::Mean => Some((mean(&family.iter().map(|point| point.mean).collect::<Vec<_>>())?, String::new())),
            Self::WorstMean => worst(|point| point.mean),
            Self::Largest => worst(|point| point.max),
        }
    }
}
