//! Targets of this project, and verdicts on them.

use super::report::{Point, find};
use super::{RcpspOptions, known};
use crate::campaign::{Claim, Verdict};

/// A kind of mean gap over the projects of a set. A target is an upper limit on this mean.
#[derive(Clone, Copy, PartialEq)]
enum Figure {
    /// The gap of the makespan over the best known makespan. The string is the word for this makespan in reports, such
    /// as `optimum`.
    OverBest(&'static str),
    /// The gap of the makespan over the critical path. The mean gap of only a part of the projects may differ much from
    /// the mean gap of all projects. So this kind of target is decided only if the whole set is planned.
    OverPath,
    /// The gap of the proven bound below the best known makespan.
    BoundBelow,
}

struct Target {
    set: &'static str,
    figure: Figure,
    /// The time limit of the search, in seconds.
    seconds: i64,
    /// The upper limit on the mean gap, in per cent, as the report prints it.
    most: &'static str,
}

/// The targets: a set, a kind of gap, and the upper limits on the mean gap for searches of 1 s and of 10 s.
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
            // The target is about all projects of the set. If only a part of the projects is planned, the target is not
            // measured.
            return Claim { place, statement, measured, verdict: Verdict::NotMeasured };
        }
        // The mean leaves out projects without a plan, which may exist if projects have several modes. Such a mean
        // would look too good, so the target is not met if some project has no plan.
        let planned = if is_path { point.planned == of } else { point.missed == 0 };
        let holds = planned && most.parse().is_ok_and(|most: f64| value <= most);
        // The projects with a best known makespan may be easier than other projects. So if some planned project has no
        // best known makespan, the target is met at most partly.
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
