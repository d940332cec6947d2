//! Ratios against the size of the SMPs.

use makespan::spec_title;
use makespan_formats::plot::{Figure, Point, Series};

use super::Options;
use super::claims::promised;
use super::points::{Gathered, Points};
use crate::LabError;
use crate::campaign::{File, figure};

/// Names and contents.
pub(super) fn all(options: &Options, points: &Points) -> Result<Vec<File>, LabError> {
    let families: fn(u32) -> Gathered = |each| Gathered::Families { each };
    let shapes: fn(u32) -> Gathered = |each| Gathered::Shapes { each };
    let both =
        [("families", "weak, high, mixed, cirne", families), ("adversarial", "linear, flat, steps, caps", shapes)];
    let drawn = both
        .into_iter()
        .filter(|(_, _, group)| options.each.iter().any(|&each| points.keys().any(|(known, _)| *known == group(each))));
    let mut figures = Vec::new();
    for (name, title, group) in drawn {
        figures.push(figure(&format!("ratio-{name}"), &ratios(options, points, title, group))?);
    }
    Ok(figures)
}

/// A line an algorithm: means with the range of single plans; and what is promised.
fn ratios(options: &Options, points: &Points, title: &str, group: fn(u32) -> Gathered) -> Figure {
    let mut each = options.each.clone();
    each.sort_unstable();
    each.dedup();
    let curve = |(at, name): (usize, String)| {
        let point = |&each: &u32| {
            let figures = points.get(&(group(each), at)).filter(|figures| figures.plans > 0)?;
            Some(Point { x: f64::from(each), y: figures.mean, low: figures.min, high: figures.max })
        };
        Series { name: spec_title(&name), points: each.iter().filter_map(point).collect(), ..Series::default() }
    };
    let mut series: Vec<Series> = options.algorithms().into_iter().enumerate().map(curve).collect();
    series.retain(|series| !series.points.is_empty());
    let promise = |&each: &u32| {
        let y = promised(each);
        Point { x: f64::from(each), y, low: y, high: y }
    };
    series.push(Series {
        name: "guarantee of shelves".into(),
        points: each.iter().map(promise).collect(),
        ..Series::default()
    });
    Figure {
        title: format!("Best placement: {title}"),
        x_label: "processors of an SMP".into(),
        y_label: "makespan / verified bound: mean, least and greatest".into(),
        series,
        log_x: true,
        ..Figure::default()
    }
}
