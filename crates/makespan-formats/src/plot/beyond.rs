//! What lies above the end of the vertical axis: an arrow at the edge for each, with its value.

use super::axis::Axis;
use super::{Figure, Point};

/// About as wide as a digit of a label, in pixels, and the arrow before it with the room around both.
const DIGIT: f64 = 5.6;
const AROUND: f64 = 16.0;

/// One value, or range of values, that is not on the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Beyond {
    /// Of the line with this index.
    pub series: usize,
    pub x: f64,
    /// Labels that would cover each other stand in rows under each other.
    pub row: usize,
    pub label: String,
}

/// What the reader is told beside the horizontal axis.
pub(super) const NOTE: &str = "arrows: beyond the axis, with the value";

/// All that lies beyond the axis, for a plot of this width in pixels.
pub(super) fn all(figure: &Figure, lines: &[Vec<Point>], [x, y]: [&Axis; 2], width: f64) -> Vec<Beyond> {
    if figure.y_most.is_none() || figure.y_range.is_some() || figure.unmarked {
        return Vec::new();
    }
    // Where nothing lies beyond, the axis has all.
    let most = y.high;
    let each = |(series, points): (usize, &Vec<Point>)| {
        let of = |point: &Point| Some((point.x, label(point, most)?));
        points.iter().filter_map(of).map(move |(x, label)| Beyond { series, x, row: 0, label }).collect::<Vec<_>>()
    };
    let mut found: Vec<Beyond> = lines.iter().enumerate().flat_map(each).collect();
    found.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut ends: Vec<f64> = Vec::new();
    for one in &mut found {
        let (left, right) = extent(one, x.fraction(one.x) * width, width);
        one.row = ends.iter().position(|&end| end <= left).unwrap_or(ends.len());
        if one.row == ends.len() {
            ends.push(right);
        }
        ends[one.row] = right;
    }
    found
}

/// Half the width of an arrow, and the room around it.
const HALF: f64 = 6.0;

/// From where to where an arrow at this place reaches with its label, which stands right of it if there is room, and else left.
pub(super) fn extent(one: &Beyond, at: f64, width: f64) -> (f64, f64) {
    let long = AROUND - HALF + DIGIT * one.label.len() as f64;
    if is_right(one, at, width) { (at - HALF, at + long) } else { (at - long, at + HALF) }
}

/// Whether the label stands right of the arrow.
pub(super) fn is_right(one: &Beyond, at: f64, width: f64) -> bool {
    at + AROUND - HALF + DIGIT * one.label.len() as f64 <= width
}

fn label(point: &Point, most: f64) -> Option<String> {
    match (point.y > most, point.high > most) {
        (true, _) if point.high > point.y => Some(format!("{}, up to {}", short(point.y), short(point.high))),
        (true, _) => Some(short(point.y)),
        (false, true) => Some(format!("up to {}", short(point.high))),
        (false, false) => None,
    }
}

/// Three digits, or all before the point.
fn short(value: f64) -> String {
    let decimals = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
    format!("{value:.decimals$}")
}
