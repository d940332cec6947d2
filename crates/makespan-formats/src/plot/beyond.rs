//! Arrows for values above the end of the vertical axis. Each arrow is at the upper edge, and its label states the
//! value.

use super::axis::Axis;
use super::{Figure, Point};

/// Approximate width of a digit in a label, in pixels.
const DIGIT: f64 = 5.6;
/// Width of an arrow with the space around the arrow and its label, in pixels.
const AROUND: f64 = 16.0;

/// A value, or a range of values, that is above the axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ValuesAbove {
    /// Index of the series.
    pub series: usize,
    pub x: f64,
    /// Row of the label. Labels that would overlap are in different rows.
    pub row: usize,
    pub label: String,
}

/// Explanation of the arrows, in the label of the horizontal axis.
pub(super) const NOTE: &str = "arrows: beyond the axis, with the value";

/// Returns the arrows of a figure. `width` is the width of the plot in pixels.
pub(super) fn all(figure: &Figure, lines: &[Vec<Point>], [x, y]: [&Axis; 2], width: f64) -> Vec<ValuesAbove> {
    if figure.y_most.is_none() || figure.y_range.is_some() || figure.unmarked {
        return Vec::new();
    }
    // The search finds no arrows if no value is above the axis.
    let most = y.high;
    let each = |(series, points): (usize, &Vec<Point>)| {
        let of = |point: &Point| Some((point.x, label(point, most)?));
        points.iter().filter_map(of).map(move |(x, label)| ValuesAbove { series, x, row: 0, label }).collect::<Vec<_>>()
    };
    let mut found: Vec<ValuesAbove> = lines.iter().enumerate().flat_map(each).collect();
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

/// Half the width of an arrow with the space around it, in pixels.
const HALF: f64 = 6.0;

/// Returns the left and right end of an arrow with its label, in pixels. The label is to the right of the arrow if
/// there is enough space, or else to the left.
pub(super) fn extent(one: &ValuesAbove, at: f64, width: f64) -> (f64, f64) {
    let long = AROUND - HALF + DIGIT * one.label.len() as f64;
    if is_right(one, at, width) { (at - HALF, at + long) } else { (at - long, at + HALF) }
}

/// Returns whether the label is to the right of the arrow.
pub(super) fn is_right(one: &ValuesAbove, at: f64, width: f64) -> bool {
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

/// Formats a value with three digits, or with more digits if more than three digits precede the decimal point.
fn short(value: f64) -> String {
    let decimals = if value.abs() < 10.0 { 2 } else { usize::from(value.abs() < 100.0) };
    format!("{value:.decimals$}")
}
