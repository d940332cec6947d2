//! The targets of the project, compared with the measurements.

use super::report::{Point, find};
use super::{RcpspOptions, known};
use crate::campaign::{Claim, Verdict};

/// A measured quantity that a target limits.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    /// The gap over the best known makespan. The text is the word that reports print for this makespan, such as
    /// `optimum`.
    OverBest(&'static str),
    /// The gap over the critical path. The mean gap of only some projects may differ much from the mean gap of all
    /// projects. So this gap decides the target only if the whole set is planned.
    OverPath,
    /// The gap of the proven bound below the best known makespan.
    BoundBelow,
}

struct Target {
    set: &'static str,
    figure: Figure,
    /// The time limit of the search, in seconds.
    seconds: i64,
    /// The largest value that meets the target, in per cent, with the digits that the report prints.
    most: &'static str,
}

/// Targets: a set, a measured quantity, and the largest values of the quantity that are allowed after 1 s and 10 s.
const TARGETS: [(&str, Figure, [&str; 2]); 7] = [
    ("j30", Figure::OverBest("optimum"), ["0.03", "0.015"]),
    ("j60", Figure::OverPath, ["10.65", "10.5"]),
    ("j120", Figure::OverBest("best known"), ["1.3", "0.85"]),
    ("j120", Figure::OverPath, ["31.0", "30.4"]),
    ("j120", Figure::BoundBelow, ["3.4", "3.2"]),
    ("j20 mm", Figure::OverBest("best known"), ["0.02", "0"]),
    ("j30 mm", Figure::OverBest("best known"), ["0.18", "0.1"]),
];

/// Returns a verdict on each target.
pub(super) fn all(options: &RcpspOptions, points: &[Point]) -> Vec<Claim> {
    let both = TARGETS.into_iter().flat_map(|(set, figure, [one, ten])| {
        [(1, one), (10, ten)].map(|(seconds, most)| Target { set, figure, seconds, most })
    });
    both.map(|target| target.claim(options, points)).collect()
}

impl Target {
    fn claim(&self, options: &RcpspOptions, points: &[Point]) -> Claim {
        let Self { set, seconds, most, figure } = *self;
        let name = set.strip_suffix(" mm").map_or_else(|| set.to_owned(), |name| format!("MRCPSP {name}"));
        let place = format!("{name}, {seconds} s");
        let statement = match figure {
            Figure::OverBest(name) => format!("at most {most} % over the {name}"),
            Figure::OverPath => format!("at most {most} % over the critical path"),
            Figure::BoundBelow => format!("The proven bound is at most {most} % below the best known makespan"),
        };
        let spec = options.search.known(1000 * seconds);
        let point = spec.and_then(|spec| find(points, set, &spec));
        let Some((point, value)) = point.and_then(|point| Some((point, self.figure_of(point)?))) else {
            return Claim::one(place, statement, None);
        };
        let all = known::size(set).unwrap_or(point.projects);
        let is_path = figure == Figure::OverPath;
        let of = if is_path { point.projects } else { point.known };
        let measured = format!("{value:.3} % of {of} of {all} projects");
        if is_path && of < all {
            // The target is for all projects of the set. If only some projects are planned, the claim is not decided.
            return Claim { place, statement, measured, verdict: Verdict::NotMeasured };
        }
        // A mean over only the projects with a plan would be too good. So the target is not met if a project has no
        // plan. This may happen for projects with several modes.
        let planned = if is_path { point.planned == of } else { point.missed == 0 };
        let holds = planned && most.parse().is_ok_and(|most: f64| value <= most);
        // The projects with a known best value may be easier than the other projects. So the claim is fully decided
        // only if every planned project has a known best value.
        Claim::new(place, statement, measured, &[holds, holds && of >= point.planned])
    }

    fn figure_of(&self, point: &Point) -> Option<f64> {
        match self.figure {
            Figure::OverBest(_) => point.over_best,
            Figure::OverPath => Some(point.over_path),
            Figure::BoundBelow => point.bound_below,
        }
    }
}
