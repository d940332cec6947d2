//! What the optimiser should reach, beside what it reached.

use makespan_core::{Objective, Time};

use super::Point;
use crate::campaign::{Claim, Limit, Setting};
use crate::statistics::mean;

/// The number of jobs at which a figure is the largest.
type At = Option<usize>;

/// A figure of a family that should be at most something. Ratios are value over bound.
struct Target {
    place: &'static str,
    statement: &'static str,
    objective: Objective,
    seconds: i64,
    figure: fn(&[Point]) -> Option<(f64, At)>,
    most: f64,
}

const TARGETS: [Target; 6] = [
    Target {
        place: "Weighted completion in 1 s",
        statement: "The mean over the plans of each family is at most 1.05",
        objective: Objective::WeightedCompletion,
        seconds: 1,
        figure: of_all,
        most: 1.05,
    },
    Target {
        place: "Weighted completion in 1 s",
        statement: "The worst mean over the plans of one number of jobs is at most 1.05 in each family",
        objective: Objective::WeightedCompletion,
        seconds: 1,
        figure: worst_mean,
        most: 1.05,
    },
    Target {
        place: "Weighted completion in 10 s",
        statement: "The mean over the plans of each family is at most 1.03",
        objective: Objective::WeightedCompletion,
        seconds: 10,
        figure: of_all,
        most: 1.03,
    },
    Target {
        place: "Weighted completion in 10 s",
        statement: "The worst mean over the plans of one number of jobs is at most 1.03 in each family",
        objective: Objective::WeightedCompletion,
        seconds: 10,
        figure: worst_mean,
        most: 1.03,
    },
    Target {
        place: "Makespan in 1 s",
        statement: "The mean over the plans of each family is at most 1.03",
        objective: Objective::Makespan,
        seconds: 1,
        figure: of_all,
        most: 1.03,
    },
    Target {
        place: "Makespan in 1 s",
        statement: "No plan is above 1.05",
        objective: Objective::Makespan,
        seconds: 1,
        figure: largest,
        most: 1.05,
    },
];

/// A verdict on each target, answered by each family.
pub(super) fn claims(points: &[Point]) -> Vec<Claim> {
    TARGETS.iter().map(|target| target.claim(points)).collect()
}

impl Target {
    fn claim(&self, points: &[Point]) -> Claim {
        let setting = Setting { objective: self.objective, limit: Limit::Time(Time::from_seconds(self.seconds)) };
        let families = points.chunk_by(|a, b| (a.setting, a.family) == (b.setting, b.family));
        let (mut measured, mut answers) = (Vec::new(), Vec::new());
        for family in families.filter(|family| family[0].setting == setting) {
            let Some((figure, at)) = (self.figure)(family) else { continue };
            let at = at.map_or_else(String::new, |jobs| format!(" at n = {jobs}"));
            measured.push(format!("{} {figure:.4}{at}", family[0].family));
            answers.push(figure <= self.most);
        }
        Claim::new(self.place, self.statement, measured.join(", "), &answers)
    }
}

/// Each number of jobs has as many plans, so that the mean of the means is that of the plans.
fn of_all(family: &[Point]) -> Option<(f64, At)> {
    mean(&family.iter().map(|point| point.mean).collect::<Vec<_>>()).map(|mean| (mean, None))
}

fn worst_mean(family: &[Point]) -> Option<(f64, At)> {
    worst(family, |point| point.mean)
}

fn largest(family: &[Point]) -> Option<(f64, At)> {
    worst(family, |point| point.max)
}

fn worst(family: &[Point], of: fn(&Point) -> f64) -> Option<(f64, At)> {
    family.iter().max_by(|a, b| of(a).total_cmp(&of(b))).map(|point| (of(point), Some(point.jobs)))
}
