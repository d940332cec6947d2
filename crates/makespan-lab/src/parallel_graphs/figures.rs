//! Ratios by processors, and their distribution over the graphs.

use makespan::spec_title;
use makespan_formats::plot::{self, Figure, Series};

use super::{Group, Options, Point, Run};
use crate::LabError;
use crate::campaign::{File, figure};
use crate::statistics::quantile;

/// What is drawn of the literature, beside every limit of `optimise`. M-HEFT, two to three times the bound, would leave the others a flat line.
const SHOWN: [&str; 3] = ["cpa", "mcpa", "lp-rounding"];
/// Points of a line of a distribution.
const STEPS: u32 = 20;

/// Names and contents.
pub(super) fn all(options: &Options, runs: &[Run], points: &[Point]) -> Result<Vec<File>, LabError> {
    let shown: Vec<String> = SHOWN.iter().map(ToString::to_string).chain(options.search.specs()).collect();
    let by_processors = Figure {
        title: "Graphs of moldable tasks (M-HEFT is in the tables alone)".into(),
        x_label: "processors".into(),
        y_label: "makespan / verified bound: geometric mean".into(),
        series: shown.iter().map(|algorithm| by_processors(algorithm, points)).collect(),
        log_x: true,
        ..Figure::default()
    };
    let distribution = Figure {
        title: "Graphs of moldable tasks (M-HEFT is in the tables alone)".into(),
        x_label: "share of the graphs, %".into(),
        y_label: "makespan / verified bound, at most".into(),
        series: shown.iter().map(|algorithm| distribution(algorithm, runs)).collect(),
        ..Figure::default()
    };
    Ok(vec![figure("ratios", &by_processors)?, figure("distribution", &distribution)?])
}

fn by_processors(algorithm: &str, points: &[Point]) -> Series {
    let point = |point: &Point| match point.group {
        Group::Processors(processors) if point.algorithm == algorithm => {
            let y = point.geometric;
            Some(plot::Point { x: processors.into(), y, low: y, high: y })
        }
        _ => None,
    };
    Series { name: spec_title(algorithm), points: points.iter().filter_map(point).collect(), ..Series::default() }
}

fn distribution(algorithm: &str, runs: &[Run]) -> Series {
    let ratios: Vec<f64> = runs.iter().filter_map(|run| run.ratio(algorithm)).collect();
    let point = |step: u32| {
        let y = quantile(&ratios, f64::from(step) / f64::from(STEPS))?;
        Some(plot::Point { x: f64::from(step) * 100.0 / f64::from(STEPS), y, low: y, high: y })
    };
    Series { name: spec_title(algorithm), points: (0..=STEPS).filter_map(point).collect(), ..Series::default() }
}
