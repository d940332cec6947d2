//! Ratios against the number of jobs, one figure a setting.

use makespan_formats::plot::{self, Figure, Series};

use super::Point;
use crate::LabError;
use crate::campaign::{File, figure};

/// Names and contents.
pub(super) fn all(points: &[Point]) -> Result<Vec<File>, LabError> {
    let settings = points.chunk_by(|a, b| a.setting == b.setting);
    let mut figures = Vec::new();
    for group in settings {
        figures.push(figure(&group[0].setting.file_stem(), &ratios(group))?);
    }
    Ok(figures)
}

/// A line a family: means with the range of single plans.
fn ratios(points: &[Point]) -> Figure {
    let curve = |family: &[Point]| Series {
        name: family[0].family.to_string(),
        points: family.iter().map(|p| plot::Point { x: p.jobs as f64, y: p.mean, low: p.min, high: p.max }).collect(),
        ..Series::default()
    };
    Figure {
        title: points[0].setting.to_string(),
        x_label: "jobs".into(),
        y_label: "value / verified bound: mean, least and greatest".into(),
        series: points.chunk_by(|a, b| a.family == b.family).map(curve).collect(),
        log_x: true,
        ..Figure::default()
    }
}
