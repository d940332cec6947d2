//! What the optimiser should reach, beside what it reached.

use std::fmt;

use makespan_core::{Objective, Time};

use super::{Limit, Point, Setting};
use crate::generate::Family;
use crate::statistics::mean;

/// Which figure of a family a target is about. Ratios are value over bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// The mean over all its plans.
    Mean,
    /// The largest mean over the plans of one number of jobs.
    WorstMean,
    /// The largest of any plan.
    Largest,
}

/// A figure of a family beside its target.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Of what and in what time.
    pub setting: Setting,
    /// In which family.
    pub family: Family,
    /// Which figure.
    pub figure: Figure,
    /// What was measured.
    pub measured: f64,
    /// The number of jobs where that is, for the figures of one number.
    pub at: Option<usize>,
    /// What it should be at most; `None` where no target is set for the limit.
    pub target: Option<f64>,
}

impl Verdict {
    /// Whether the target is reached; `None` where there is none.
    pub fn holds(&self) -> Option<bool> {
        self.target.map(|target| self.measured <= target)
    }
}

/// The figures that have targets, family by family.
///
/// Weighted completion: a mean of at most 1.05 in 1 s and of 1.03 in 10 s, at every number of jobs. Makespan in 1 s: a
/// mean of at most 1.03, and no plan above 1.05.
pub(super) fn verdicts(points: &[Point]) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = Vec::new();
    for group in points.chunk_by(|a, b| (a.setting, a.family) == (b.setting, b.family)) {
        let (setting, family) = (group[0].setting, group[0].family);
        let means: Vec<f64> = group.iter().map(|point| point.mean).collect();
        // Each number of jobs has as many plans, so that the mean of the means is that of the plans.
        let mean = mean(&means).map(|mean| (mean, None));
        let worst = |of: fn(&Point) -> f64| {
            let worst = group.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
            worst.map(|point| (of(point), Some(point.jobs)))
        };
        let worst = match setting.objective {
            Objective::Makespan => (Figure::Largest, worst(|point| point.max)),
            Objective::WeightedCompletion | Objective::MeanFlow | Objective::Cost | Objective::Throughput => {
                (Figure::WorstMean, worst(|point| point.mean))
            }
        };
        let figures = [(Figure::Mean, mean), worst];
        verdicts.extend(figures.into_iter().filter_map(|(figure, measured)| {
            let (measured, at) = measured?;
            Some(Verdict { setting, family, figure, measured, at, target: target(setting, figure) })
        }));
    }
    verdicts
}

fn target(setting: Setting, figure: Figure) -> Option<f64> {
    const ONE: Limit = Limit::Time(Time::from_seconds(1));
    const TEN: Limit = Limit::Time(Time::from_seconds(10));
    match (setting.objective, setting.limit, figure) {
        (Objective::WeightedCompletion, ONE, _) | (Objective::Makespan, ONE, Figure::Largest) => Some(1.05),
        (Objective::WeightedCompletion, TEN, _) | (Objective::Makespan, ONE, _) => Some(1.03),
        _ => None,
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Mean => "mean",
            Self::WorstMean => "worst mean",
            Self::Largest => "largest",
        })
    }
}

/// `1.0412 at n = 25; at most 1.05: holds`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{:.4}", self.measured);
        if let Some(jobs) = self.at {
            text += &format!(" at n = {jobs}");
        }
        f.pad(&match self.target {
            None => text,
            Some(target) if self.measured <= target => format!("{text}; at most {target:.2}: holds"),
            Some(target) => format!("{text}; at most {target:.2}: missed by {:.4}", self.measured - target),
        })
    }
}
