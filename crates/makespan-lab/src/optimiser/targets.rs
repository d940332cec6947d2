//! Targets for the optimiser, with the measured values.

use makespan_core::{Objective, Time};

use super::Point;
use crate::campaign::{Claim, SearchLimit, SearchSetting};
use crate::statistics::mean;

/// A measured quantity of a family. A target states the maximum of the quantity. Ratios are value divided by bound.
#[derive(Clone, Copy)]
enum Figure {
    /// Mean over the plans.
    Mean,
    /// The largest of several means: one mean for each number of jobs.
    WorstMean,
    Largest,
}

/// The targets: objective, time limit in seconds, figure, and maximum of the figure.
const TARGETS: [(Objective, i64, Figure, f64); 6] = [
    (Objective::WeightedCompletion, 1, Figure::Mean, 1.05),
    (Objective::WeightedCompletion, 1, Figure::WorstMean, 1.05),
    (Objective::WeightedCompletion, 10, Figure::Mean, 1.03),
    (Objective::WeightedCompletion, 10, Figure::WorstMean, 1.03),
    (Objective::Makespan, 1, Figure::Mean, 1.03),
    (Objective::Makespan, 1, Figure::Largest, 1.05),
];

/// Returns a verdict on each target, with an answer for each family.
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
    /// Returns the value of the figure, and a text for the report. If the figure is a maximum over numbers of jobs, the
    /// text states the number of jobs at which the maximum occurs. Otherwise, the text is empty.
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
