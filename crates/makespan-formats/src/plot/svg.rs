//! Draws a figure as SVG. Colours are attributes. If a web page contains the figure, the style sheet of the page can
//! override these colours by classes.

use std::fmt::Write as _;

use super::axis::{Axis, label};
use super::beyond::{self, ValuesAbove};
use super::{Figure, Histogram, Line, Point, spaced};
use crate::gantt::escape::Text;

/// Size of the figure, in pixels.
const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 480.0;
/// Height above the plot for the title, in pixels.
const TOP: f64 = 48.0;
/// Height below the plot for the horizontal axis, in pixels.
const BELOW: f64 = 58.0;
/// Width to the left of the plot for the vertical axis, in pixels.
const LEFT: f64 = 78.0;
/// Width to the right of a plot without a legend, in pixels.
const RIGHT: f64 = 24.0;
/// Maximum width of a legend, in pixels.
const MAX_LEGEND: f64 = 250.0;
/// Distance between the lines of a legend, in pixels.
const LINE: f64 = 22.0;
/// Average width of a letter, in pixels.
const LETTER: f64 = 6.9;

/// Colours of Okabe and Ito, without yellow, which is too light for a line on a white background.
pub(super) const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
/// Dash patterns that distinguish lines of the same colour.
const DASHES: [&str; 4] = [
    r#"stroke-dasharray="none""#,
    r#"stroke-dasharray="7 3""#,
    r#"stroke-dasharray="2 3""#,
    r#"stroke-dasharray="9 3 2 3""#,
];

/// Axes and size of the plot, in pixels.
struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    width: f64,
    height: f64,
}

impl Frame<'_> {
    /// Returns the position of a value, in pixels from the upper left corner of the plot.
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x.fraction(x) * self.width, (1.0 - self.y.fraction(y)) * self.height)
    }
}

/// Returns a figure with lines as SVG.
pub(super) fn figure(figure: &Figure, lines: &[Vec<Point>], [x, y]: [&Axis; 2]) -> String {
    let longest = figure.series.iter().map(|series| series.name.chars().count()).max().unwrap_or(0);
    let named = figure.series.iter().any(|series| !series.name.is_empty());
    let legend = if named { (longest as f64 * LETTER + 54.0).min(MAX_LEGEND) } else { RIGHT };
    let frame = Frame { x, y, width: WIDTH - LEFT - legend, height: HEIGHT - TOP - BELOW };
    let beyond = beyond::all(figure, lines, [x, y], frame.width);
    let x_label = super::x_label(figure, &beyond);
    let mut svg = opened([&figure.title, &x_label, &figure.y_label], &frame);
    // The nested element clips everything beyond the axes.
    let _ = write!(
        svg,
        r#"<svg x="{LEFT}" y="{TOP}" width="{:.1}" height="{:.1}" overflow="hidden">"#,
        frame.width, frame.height
    );
    // The series are shifted sideways, because bars at the same position would overlap.
    let ranged = lines.iter().flatten().any(|point| point.low < point.high);
    let apart = if ranged && lines.len() > 1 { 4.0_f64.min(24.0 / lines.len() as f64) } else { 0.0 };
    for (index, points) in lines.iter().enumerate() {
        let aside = (index as f64 - (lines.len() as f64 - 1.0) / 2.0) * apart;
        svg += &line(figure, &frame, points, index, aside);
    }
    for (index, points) in lines.iter().enumerate().filter(|_| figure.unmarked) {
        for [at_x, at_y] in spaced(&figure.series[index], points, x, [index, lines.len()]) {
            let (x, y) = frame.at(at_x, at_y);
            svg += &marker(index, x, y);
        }
    }
    for one in &beyond {
        svg += &arrow(one, &frame);
    }
    svg += "</svg>\n";
    if named {
        let left = WIDTH - legend + 14.0;
        let fits = ((MAX_LEGEND - 54.0) / LETTER) as usize;
        for (index, series) in figure.series.iter().enumerate() {
            let y = TOP + 10.0 + LINE * index as f64;
            let name: String = series.name.chars().take(fits).collect();
            let (colour, dash) = look(figure, index);
            if series.line != Line::Apart {
                let _ = write!(
                    svg,
                    r#"<path d="M{left:.1} {y:.1}h26" stroke="{colour}" stroke-width="1.8" {dash} fill="none"/>"#
                );
            }
            if !figure.unmarked || lines.len() > 1 {
                svg += &marker(index, left + 13.0, y);
            }
            let _ = writeln!(svg, r#"<text x="{:.1}" y="{:.1}">{}</text>"#, left + 32.0, y + 4.0, Text(&name));
        }
    }
    svg + "</svg>\n"
}

/// Returns a histogram as SVG, with bars that begin at the horizontal axis.
pub(super) fn histogram(histogram: &Histogram, shares: &[f64], [x, y]: [&Axis; 2]) -> String {
    let frame = Frame { x, y, width: WIDTH - LEFT - RIGHT, height: HEIGHT - TOP - BELOW };
    let mut svg = opened([&histogram.title, &histogram.x_label, "share"], &frame);
    let step = frame.width / shares.len() as f64;
    for (index, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let (left, (_, top)) = (LEFT + index as f64 * step, frame.at(x.low, share));
        let (width, height) = ((step - 0.6).max(0.4), frame.height - top);
        let _ = write!(
            svg,
            r#"<rect x="{left:.2}" y="{:.2}" width="{width:.2}" height="{height:.2}" fill="{}"/>"#,
            TOP + top,
            COLOURS[0]
        );
    }
    svg + "</svg>\n"
}

/// Returns the colour and the dash pattern of a series. If points are unmarked, consecutive series have different dash
/// patterns. So if two lines coincide, the lower line is visible in the gaps of the upper line.
fn look(figure: &Figure, index: usize) -> (&'static str, &'static str) {
    let dash = if figure.unmarked { index } else { index / COLOURS.len() };
    (COLOURS[index % COLOURS.len()], DASHES[dash % DASHES.len()])
}

/// Returns the figure without its data: title, axes, axis labels and grid.
fn opened([title, x_label, y_label]: [&str; 3], frame: &Frame<'_>) -> String {
    let (right, bottom) = (LEFT + frame.width, TOP + frame.height);
    let mut svg = format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" font-family="system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="12.5" fill="#333"><title>{0}</title>
<rect class="paper" width="{WIDTH}" height="{HEIGHT}" fill="#fff"/><text x="{LEFT}" y="26" font-size="15" font-weight="600">{0}</text>
"##,
        Text(title)
    );
    for &tick in &frame.y.ticks {
        let y = TOP + frame.at(frame.x.low, tick).1;
        let (end, baseline) = (LEFT - 8.0, y + 4.0);
        let _ = write!(svg, r##"<path class="grid" d="M{LEFT} {y:.1}H{right:.1}" stroke="#ddd" fill="none"/>"##);
        let _ = writeln!(svg, r#"<text x="{end}" y="{baseline:.1}" text-anchor="end">{}</text>"#, Text(&label(tick)));
    }
    for tick in frame.x.labelled(frame.width, |text| text.len() as f64 * LETTER + 12.0) {
        let (x, below) = (LEFT + frame.at(tick, frame.y.low).0, bottom + 20.0);
        let _ = write!(svg, r##"<path class="axis" d="M{x:.1} {bottom:.1}v5" stroke="#555" fill="none"/>"##);
        let _ = writeln!(svg, r#"<text x="{x:.1}" y="{below:.1}" text-anchor="middle">{}</text>"#, Text(&label(tick)));
    }
    let _ =
        writeln!(svg, r##"<path class="axis" d="M{LEFT} {TOP}V{bottom:.1}H{right:.1}" stroke="#555" fill="none"/>"##);
    let (middle, centre) = (LEFT + frame.width / 2.0, TOP + frame.height / 2.0);
    let _ = writeln!(
        svg,
        r#"<text x="{middle:.1}" y="{:.1}" text-anchor="middle">{}</text><text transform="translate(20 {centre:.1}) rotate(-90)" text-anchor="middle">{}</text>"#,
        bottom + 44.0,
        Text(x_label),
        Text(y_label)
    );
    svg
}

/// Returns one line with its points and their ranges.
fn line(figure: &Figure, frame: &Frame<'_>, points: &[Point], index: usize, aside: f64) -> String {
    let (colour, dash) = look(figure, index);
    let mut path = String::new();
    let mut marks = String::new();
    for (number, point) in points.iter().enumerate() {
        let (x, y) = frame.at(point.x, point.y);
        let x = x + aside;
        let _ = match number {
            0 => write!(path, "M{x:.1} {y:.1}"),
            _ => match figure.series[index].line {
                Line::Apart => Ok(()),
                Line::Straight => write!(path, "L{x:.1} {y:.1}"),
                Line::Keeps => write!(path, "H{x:.1}V{y:.1}"),
                Line::Takes => write!(path, "V{y:.1}H{x:.1}"),
            },
        };
        if point.low < point.high {
            let (low, high) = (frame.at(point.x, point.low).1, frame.at(point.x, point.high).1);
            let _ = write!(
                marks,
                r#"<path d="M{x:.1} {low:.1}V{high:.1}m-3 0h6M{:.1} {low:.1}h6" stroke="{colour}" fill="none"/>"#,
                x - 3.0
            );
        }
        if !figure.unmarked {
            marks += &marker(index, x, y);
        }
    }
    format!(r#"<path d="{path}" stroke="{colour}" stroke-width="1.8" {dash} fill="none"/>{marks}"#)
}

/// Returns an arrow at the upper edge, with a label that states the value.
fn arrow(one: &ValuesAbove, frame: &Frame<'_>) -> String {
    let colour = COLOURS[one.series % COLOURS.len()];
    // The horizontal position of an arrow is the position of the point.
    let at = frame.x.fraction(one.x) * frame.width;
    let (anchor, text) = if beyond::is_right(one, at, frame.width) { ("start", at + 6.0) } else { ("end", at - 6.0) };
    let top = 4.0 + 13.0 * one.row as f64;
    format!(
        r#"<path d="M{at:.1} {top:.1}l4 8h-8z" fill="{colour}"/><text x="{text:.1}" y="{:.1}" text-anchor="{anchor}" font-size="10.5" stroke="white" stroke-width="3" paint-order="stroke">{}</text>"#,
        top + 8.5,
        one.label
    )
}

/// Returns the mark of a point. Its shape distinguishes series even in black and white.
fn marker(index: usize, x: f64, y: f64) -> String {
    let colour = COLOURS[index % COLOURS.len()];
    let (shape, filled) = match index % 6 {
        0 => return format!(r#"<circle cx="{x:.1}" cy="{y:.1}" r="4" fill="{colour}"/>"#),
        1 => ("m-3.6 -3.6h7.2v7.2h-7.2z", true),
        2 => ("m0 -4.6l4.4 7.8h-8.8z", true),
        3 => ("m0 -5l5 5l-5 5l-5 -5z", true),
        4 => ("m-4 -4l8 8m0 -8l-8 8", false),
        _ => ("m0 -5v10m-5 -5h10", false),
    };
    let (fill, stroke) = if filled { (colour, "none") } else { ("none", colour) };
    format!(r#"<path d="M{x:.1} {y:.1}{shape}" fill="{fill}" stroke="{stroke}" stroke-width="1.8"/>"#)
}
