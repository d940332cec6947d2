//! The targets, beside what was reached.

use super::points::find;
use super::{Options, Point, known};
use crate::campaign::{Claim, Verdict};

/// A figure of a set that should be at most something.
struct Target {
    place: &'static str,
    statement: &'static str,
    set: &'static str,
    milliseconds: i64,
    figure: Figure,
    most: f64,
}

/// What is meant.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    OverBest,
    /// Of all projects of the set: a part of it has another mean.
    OverPath,
    BoundBelow,
}

const fn target(
    place: &'static str,
    statement: &'static str,
    set: &'static str,
    milliseconds: i64,
    figure: Figure,
    most: f64,
) -> Target {
    Target { place, statement, set, milliseconds, figure, most }
}

const TARGETS: [Target; 14] = [
    target("j30, 1 s", "0.03 % over the optimum at most", "j30", 1000, Figure::OverBest, 0.03),
    target("j30, 10 s", "0.015 % over the optimum at most", "j30", 10_000, Figure::OverBest, 0.015),
    target("j60, 1 s", "10.65 % over the critical path at most", "j60", 1000, Figure::OverPath, 10.65),
    target("j60, 10 s", "10.5 % over the critical path at most", "j60", 10_000, Figure::OverPath, 10.5),
    target("j120, 1 s", "1.3 % over the best known at most", "j120", 1000, Figure::OverBest, 1.3),
    target("j120, 10 s", "0.85 % over the best known at most", "j120", 10_000, Figure::OverBest, 0.85),
    target("j120, 1 s", "31.0 % over the critical path at most", "j120", 1000, Figure::OverPath, 31.0),
    target("j120, 10 s", "30.4 % over the critical path at most", "j120", 10_000, Figure::OverPath, 30.4),
    target(
        "j120, 1 s",
        "The proven bound is 3.4 % below the best known at most",
        "j120",
        1000,
        Figure::BoundBelow,
        3.4,
    ),
    target(
        "j120, 10 s",
        "The proven bound is 3.2 % below the best known at most",
        "j120",
        10_000,
        Figure::BoundBelow,
        3.2,
    ),
    target("MRCPSP j20, 1 s", "0.02 % over the best known at most", "j20 mm", 1000, Figure::OverBest, 0.02),
    target("MRCPSP j20, 10 s", "0 % over the best known at most", "j20 mm", 10_000, Figure::OverBest, 0.0),
    target("MRCPSP j30, 1 s", "0.18 % over the best known at most", "j30 mm", 1000, Figure::OverBest, 0.18),
    target("MRCPSP j30, 10 s", "0.1 % over the best known at most", "j30 mm", 10_000, Figure::OverBest, 0.1),
];

/// A verdict on each target.
pub(super) fn all(options: &Options, points: &[Point]) -> Vec<Claim> {
    TARGETS.iter().map(|target| target.claim(options, points)).collect()
}

impl Target {
    fn claim(&self, options: &Options, points: &[Point]) -> Claim {
        let spec = options.search.known(self.milliseconds);
        let point = spec.and_then(|spec| find(points, self.set, &spec));
        let Some((point, figure)) = point.and_then(|point| Some((point, self.figure_of(point)?))) else {
            return Claim::one(self.place, self.statement, None);
        };
        let all = known::size(self.set).unwrap_or(point.projects);
        let of = if self.figure == Figure::OverPath { point.projects } else { point.known };
        let measured = format!("{figure:.3} % of {of} of {all} projects");
        if self.figure == Figure::OverPath && of < all {
            // Other projects have other paths.
            return Claim { place: self.place, statement: self.statement, measured, verdict: Verdict::NotMeasured };
        }
        // What has no plan does not make the mean better. Of several modes some projects cannot be planned at all.
        let planned = if self.figure == Figure::OverPath { point.planned == of } else { point.missed == 0 };
        // Those whose best value is not known are not the easiest ones.
        let answers = [planned && figure <= self.most, planned && figure <= self.most && of >= point.planned];
        Claim::new(self.place, self.statement, measured, &answers)
    }

    fn figure_of(&self, point: &Point) -> Option<f64> {
        match self.figure {
            Figure::OverBest => point.over_best,
            Figure::OverPath => Some(point.over_path),
            Figure::BoundBelow => point.bound_below,
        }
    }
}
