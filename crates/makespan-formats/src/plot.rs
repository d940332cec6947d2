//! Figures of experiments, as SVG and for LaTeX. A figure is a histogram, or has series of points with ranges over
//! repetitions.

mod axis;
mod beyond;
mod histogram;
mod histogram_picture;
mod svg;

pub use histogram::Histogram;
pub use histogram_picture::write_histogram;

use std::io::{self, Write};

use axis::Axis;

/// Figure with one line for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Title above the plot.
    pub title: String,
    /// Label of the horizontal axis, with the unit.
    pub x_label: String,
    /// Label of the vertical axis, with the unit.
    pub y_label: String,
    /// Series, in the order of the legend.
    pub series: Vec<Series>,
    /// First and last value of the vertical axis. If `None`, the axis includes all points.
    pub y_range: Option<(f64, f64)>,
    /// Upper limit of the vertical axis. A larger value is shown as an arrow at the upper edge, labelled with the
    /// value.
    pub y_most: Option<f64>,
    /// True if the horizontal axis is logarithmic. On a logarithmic axis, points with `x` at or below zero are
    /// omitted.
    pub log_x: bool,
    /// True if points are not marked, for lines of very many points. If true, the horizontal axis has ticks at round
    /// values, and each line has a few marks. The marks of different lines have different positions, so that
    /// coinciding lines can be distinguished.
    pub unmarked: bool,
}

/// One series of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Name in the legend.
    pub name: String,
    /// Points in ascending order of `x`.
    pub points: Vec<Point>,
    /// Connection between consecutive points.
    pub line: Line,
}

/// Shape of a line between two consecutive points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Line {
    /// No line between points.
    Apart,
    /// Straight line between points.
    #[default]
    Straight,
    /// Step function that keeps the value of a point until the next point, as a distribution function does.
    Keeps,
    /// Step function that jumps immediately after each point, to the value of the next point. Use this form for bounds
    /// if the value at a point is valid before that point.
    Takes,
}

/// Value with its range over repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Position on the horizontal axis.
    pub x: f64,
    /// The marked value, such as the mean.
    pub y: f64,
    /// Lower end of the bar, such as the minimum.
    pub low: f64,
    /// Upper end of the bar, such as the maximum.
    pub high: f64,
}

/// Writes a figure as SVG. Points with a coordinate or range that is not finite are omitted.
///
/// The axes include all data. If only a few different `x` values occur, the ticks are at these values.
///
/// # Errors
/// Errors of the writer.
pub fn write_figure(out: &mut impl Write, figure: &Figure) -> io::Result<()> {
    let lines = shown(figure);
    let [x, y] = axes(figure, &lines);
    out.write_all(svg::figure(figure, &lines, [&x, &y]).as_bytes())
}

/// Returns the points of each series that can be drawn.
fn shown(figure: &Figure) -> Vec<Vec<Point>> {
    let drawn = |point: &&Point| {
        [point.x, point.y, point.low, point.high].iter().all(|value| value.is_finite())
            && (!figure.log_x || point.x > 0.0)
    };
    figure.series.iter().map(|series| series.points.iter().filter(drawn).copied().collect()).collect()
}

/// Returns the label of the horizontal axis. If values beyond the vertical axis are drawn as arrows, the label
/// explains the arrows.
fn x_label(figure: &Figure, beyond: &[beyond::ValuesAbove]) -> String {
    if beyond.is_empty() { figure.x_label.clone() } else { format!("{}; {}", figure.x_label, beyond::NOTE) }
}

/// Number of marks on a line with [`unmarked`](Figure::unmarked) points, if the line spans the whole axis.
const MARKED: usize = 5;

/// Returns the positions of the marks of a line with unmarked points. Different lines have marks at different
/// positions, even if the lines coincide. A single line needs no marks.
fn spaced(series: &Series, points: &[Point], x: &axis::Axis, [index, lines]: [usize; 2]) -> Vec<[f64; 2]> {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return Vec::new() };
    if lines < 2 {
        return Vec::new();
    }
    let place = |number: usize| (number as f64 + (index as f64 + 0.5) / lines as f64) / MARKED as f64;
    let places = (0..MARKED).map(|number| x.value(place(number))).filter(|at| (first.x..=last.x).contains(at));
    places.map(|at| [at, value(series.line, points, at)]).collect()
}

/// Returns the value of a line at the position `at`, which is between the first and the last point of the line.
fn value(line: Line, points: &[Point], at: f64) -> f64 {
    let next = points.partition_point(|point| point.x <= at).min(points.len() - 1);
    let (before, after) = (points[next.saturating_sub(1)], points[next]);
    match line {
        Line::Apart | Line::Keeps if after.x <= at => after.y,
        Line::Apart | Line::Keeps => before.y,
        Line::Straight if after.x > before.x => {
            before.y + (after.y - before.y) * (at - before.x) / (after.x - before.x)
        }
        Line::Takes | Line::Straight => after.y,
    }
}

fn axes(figure: &Figure, lines: &[Vec<Point>]) -> [Axis; 2] {
    let points = || lines.iter().flatten();
    let x: Vec<f64> = points().map(|point| point.x).collect();
    let y: Vec<[f64; 3]> = points().map(|point| [point.low, point.y, point.high]).collect();
    let vertical = figure.y_range.filter(|(low, high)| low < high);
    let vertical = vertical.map_or_else(|| Axis::up_to(&y, figure.y_most), |(low, high)| Axis::of(low, high));
    [Axis::around(&x, figure.log_x, !figure.unmarked), vertical]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(figure: &Figure) -> String {
        let mut bytes = Vec::new();
        write_figure(&mut bytes, figure).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        text
    }

    fn figure(name: &str, points: &[(f64, f64)]) -> Figure {
        let point = |&(x, y): &(f64, f64)| Point { x, y, low: y - 0.5, high: y + 1.0 };
        let series =
            vec![Series { name: name.into(), points: points.iter().map(point).collect(), ..Series::default() }];
        Figure { title: name.into(), x_label: name.into(), y_label: name.into(), series, ..Figure::default() }
    }

    #[test]
    fn text_is_escaped() {
        for name in ["<b>&\"'</svg>", "\u{0}\u{8}", "$\\alpha$ $", "קו", ""] {
            let text = svg(&figure(name, &[(1.0, 2.0), (2.0, 3.0)]));
            assert!(!text.contains("<b>"), "{name}");
        }
        assert!(svg(&figure("cost in $x$", &[(1.0, 2.0)])).contains("cost in $x$"));
    }

    #[test]
    fn ticks_stand_at_the_sizes() {
        let points: Vec<(f64, f64)> = [25.0, 50.0, 100.0, 200.0, 400.0].map(|x| (x, 1.5)).to_vec();
        for log_x in [false, true] {
            let text = svg(&Figure { log_x, ..figure("a", &points) });
            for size in ["50", "100", "200", "400"] {
                assert!(text.contains(&format!(">{size}</text>")), "{size}: {text}");
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_has_a_label_wherever_the_points_are() {
        for points in [&[16.0][..], &[64.0], &[16.0, 64.0], &[0.3], &[10.0], &[9.5], &[4000.0, 7000.0]] {
            let points: Vec<(f64, f64)> = points.iter().map(|&x| (x, 1.3)).collect();
            let text = svg(&Figure { log_x: true, y_range: Some((1.25, 1.75)), ..figure("", &points) });
            for (x, _) in points {
                assert!(text.contains(&format!(">{x}</text>")), "{x}: {text}");
            }
        }
    }

    #[test]
    fn the_range_of_the_axis_is_the_one_asked_for() {
        let mut figure = figure("a", &[(1.0, 1.2), (10.0, 1.9), (100.0, 2.0)]);
        figure.y_range = Some((1.0, 3.0));
        for log_x in [false, true] {
            figure.log_x = log_x;
            let text = svg(&figure);
            let document = roxmltree::Document::parse(&text).unwrap();
            let labels: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
            assert!(labels.contains(&"1") && labels.contains(&"3") && !labels.contains(&"4"), "{labels:?}");
        }
    }

    /// Checks the arrows for values above the end of the vertical axis. The axis ends at 6. The labels state the true
    /// values.
    #[test]
    fn what_lies_beyond_the_axis_is_pointed_out_and_true() {
        let mut figure = figure("a", &[(25.0, 8.28), (50.0, 5.5), (100.0, 2.0)]);
        figure.y_most = Some(6.0);
        let text = svg(&figure);
        for part in [">8.28, up to 9.28</text>", ">up to 6.50</text>", "arrows: beyond the axis", ">6</text>"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains(">8</text>"), "the axis ends: {text}");
        figure.y_most = Some(20.0);
        assert!(!svg(&figure).contains("arrows"), "an axis is no longer than its data");
        assert!(!svg(&figure).contains(">20</text>"));
    }

    #[test]
    fn lines_that_coincide_are_all_seen() {
        let points: Vec<(f64, f64)> = (1..40).map(|x| (f64::from(x), 0.5)).collect();
        let [mut one, mut other] = ["one", "other"].map(|name| figure(name, &points));
        one.series.append(&mut other.series);
        for point in one.series.iter_mut().flat_map(|series| &mut series.points) {
            (point.low, point.high) = (point.y, point.y);
        }
        one.unmarked = true;
        let text = svg(&one);
        let circles: Vec<&str> =
            text.split("<circle cx=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(circles.len() >= 4, "{text}");
        let squares = text.matches("m-3.6 -3.6h7.2").count();
        assert_eq!(squares, circles.len(), "each line has as many marks, and one in the legend");
        // The last mark is in the legend.
        for at in &circles[..circles.len() - 1] {
            assert!(!text.contains(&format!("M{at} ")), "no two marks are at the same place");
        }
    }

    #[test]
    fn degenerate_figures_are_figures() {
        svg(&Figure::default());
        svg(&Figure { log_x: true, ..Figure::default() });
        svg(&figure("one point", &[(3.0, 3.0)]));
        svg(&figure("not finite", &[(f64::NAN, 1.0), (1.0, f64::INFINITY)]));
        svg(&Figure { log_x: true, ..figure("zero on a logarithmic axis", &[(0.0, 1.0), (2.0, 1.0)]) });
        svg(&Figure { y_range: Some((2.0, 1.0)), ..figure("a range upside down", &[(0.0, 1.0)]) });
    }
}
