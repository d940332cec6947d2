//! The paper's figures, drawn anew.

use makespan_formats::plot::{Figure, Point as Mark, Series};

use super::{Point, Points, SCHEDULERS, claims};
use crate::LabError;
use crate::campaign::figure;

/// Gaps above this are off the scale.
const LARGEST: f64 = 1.2;

/// Names and contents. Figures 9 and 10: maxspan over its bound, for every scheduler; 11 and 12: by how much PTFS is better than
/// the best other scheduler of Table 2. The paper's 9 and 10 are at a high rate and a swinging one alone.
pub(super) fn all(points: &Points) -> Result<Vec<(String, Vec<u8>)>, LabError> {
    let mut figures = Vec::new();
    for (number, size) in [(9, 50_000), (10, 5000)] {
        if points.of_size(size).next().is_none() {
            continue;
        }
        figures.push(figure(&format!("figure{number}.svg"), &maxspans(points, size))?);
        figures.push(figure(&format!("figure{}.svg", number + 2), &differences(points, size))?);
        figures.push(figure(&format!("figure{}b.svg", number + 2), &utilisations(points, size))?);
    }
    Ok(figures)
}

const X: &str = "mean rate of arrival / balance line";

fn curve(points: &Points, size: u32, of: impl Fn(&[Point]) -> f64) -> Vec<Mark> {
    let mark = |(x, row): (f64, &[Point])| {
        let y = of(row);
        Mark { x, y, low: y, high: y }
    };
    points.of_size(size).map(mark).collect()
}

fn each(points: &Points, size: u32, of: impl Fn(&Point) -> f64) -> Vec<Series> {
    let series = |(at, scheduler): (usize, &super::Scheduler)| Series {
        name: scheduler.name.into(),
        points: curve(points, size, |row| of(&row[at])),
    };
    SCHEDULERS.iter().enumerate().map(series).collect()
}

fn maxspans(points: &Points, size: u32) -> Figure {
    let mut series = each(points, size, |point| 1.0 + point.gap);
    series.iter_mut().for_each(|one| one.points.retain(|mark| mark.y <= LARGEST));
    Figure {
        title: format!("Maxspan over its bound, mean size {size}"),
        x_label: X.into(),
        y_label: format!("maxspan / bound, up to {LARGEST}"),
        series,
        log_x: true,
        ..Figure::default()
    }
}

fn utilisations(points: &Points, size: u32) -> Figure {
    Figure {
        title: format!("Mean utilisation of the nodes, mean size {size}"),
        x_label: X.into(),
        y_label: "mean over nodes".into(),
        series: each(points, size, |point| point.utilisation),
        log_x: true,
        ..Figure::default()
    }
}

fn differences(points: &Points, size: u32) -> Figure {
    let maxspan = curve(points, size, |row| 100.0 * claims::advantage(row));
    let used = curve(points, size, |row| 100.0 * claims::more_used(row));
    Figure {
        title: format!("PTFS beside the best other scheduler of Table 2, mean size {size}"),
        x_label: X.into(),
        y_label: "percent".into(),
        series: vec![
            Series { name: "maxspan saved".into(), points: maxspan },
            Series { name: "utilisation gained".into(), points: used },
        ],
        log_x: true,
        ..Figure::default()
    }
}
