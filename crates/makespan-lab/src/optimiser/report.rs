//! Points for people to read.

use std::fmt::Write as _;

use super::{Options, Point};
use crate::campaign::cores;

/// How it was measured, and a table a setting.
pub(super) fn text(options: &Options, points: &[Point]) -> String {
    let (instances, searches) = (&options.instances, options.search.searches);
    let mut text = format!(
        "Moldable jobs on {} processors; instances a point: {}; seed {}.\n\
         Searches a plan: {searches}; {}.\n\
         A ratio is value over verified bound; a time runs from the instance to the plan with its bounds.\n",
        instances.processors,
        instances.runs,
        instances.seed,
        cores(options.search.at_once)
    );
    for group in points.chunk_by(|a, b| a.setting == b.setting) {
        text += &format!("\n{}: {}\n", group[0].setting, group[0].setting.spec(searches));
        text += &table(group);
    }
    text
}

fn table(points: &[Point]) -> String {
    let mut text = format!(
        "{:<8}{:>6}{:>10}{:>10}{:>10}{:>14}{:>14}\n",
        "family", "jobs", "mean", "largest", "demt", "mean time (s)", "longest (s)"
    );
    for Point { family, jobs, mean, max, demt, seconds, longest, .. } in points {
        let _infallible =
            writeln!(text, "{family:<8}{jobs:>6}{mean:>10.4}{max:>10.4}{demt:>10.4}{seconds:>14.3}{longest:>14.3}");
    }
    text
}
