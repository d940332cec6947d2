//! How the gaps are distributed over the projects of a set.

use makespan::spec_title;
use makespan_formats::plot::{Figure, Point, Series};

use super::outcome::ticks;
use super::points::over;
use super::{KnownValues, Options, Run};
use crate::LabError;
use crate::campaign::{File, figure};
use crate::statistics::quantile;

/// What is drawn beside every limit of `optimise`.
const SHOWN: [&str; 3] =
    ["priority[rule=lft]", "priority[rule=lft,scheme=parallel]", "priority[rule=wcs,scheme=parallel]"];
/// Points of a line.
const STEPS: u32 = 25;

/// A figure a set: names and contents.
pub(super) fn all(options: &Options, runs: &[Run], known: &KnownValues) -> Result<Vec<File>, LabError> {
    let sets = runs.chunk_by(|a, b| a.set == b.set);
    let mut figures = Vec::new();
    for set in sets {
        figures.push(figure(&format!("gaps-{}", set[0].set.replace(' ', "-")), &gaps(options, set, known))?);
    }
    Ok(figures)
}

/// Over the best known makespan where that is known of every project of the set, else over the verified bound.
fn gaps(options: &Options, runs: &[Run], known: &KnownValues) -> Figure {
    let best = |run: &Run| known.of(&run.set, &run.name).map(|known| ticks(known.makespan));
    let is_known = runs.iter().all(|run| best(run).is_some());
    let line = |algorithm: &String| {
        let gap = |run: &Run| {
            let outcome = run.outcomes.iter().find(|outcome| outcome.algorithm == *algorithm)?;
            let reference = best(run).filter(|_| is_known).unwrap_or(outcome.bound);
            Some(over(outcome.makespan?, reference))
        };
        let gaps: Vec<f64> = runs.iter().filter_map(gap).collect();
        let point = |step: u32| {
            let y = quantile(&gaps, f64::from(step) / f64::from(STEPS))?;
            Some(Point { x: f64::from(step) * 100.0 / f64::from(STEPS), y, low: y, high: y })
        };
        Series { name: spec_title(algorithm), points: (0..=STEPS).filter_map(point).collect(), ..Series::default() }
    };
    let algorithms: Vec<String> = SHOWN.iter().map(ToString::to_string).chain(options.search.specs()).collect();
    let reference = if is_known { "the best known makespan" } else { "the verified bound" };
    Figure {
        title: runs.first().map_or_else(String::new, |run| run.set.clone()),
        x_label: "share of the projects, %".into(),
        y_label: format!("makespan over {reference}, %, at most"),
        series: algorithms.iter().map(line).collect(),
        ..Figure::default()
    }
}
