//! Figures of experiments as SVG: series of points with the range of their repetitions, and histograms.

mod histogram;

pub use histogram::{Histogram, write_histogram};

use std::io::{self, Write};

use kuva::plot::legend::{LegendEntry, LegendPosition, LegendShape};
use kuva::plot::scatter::MarkerShape;
use kuva::plot::{LinePlot, ScatterPlot};
use kuva::render::layout::Layout;
use kuva::render::layout::TickFormat;
use kuva::render::plots::Plot;

/// Okabe and Ito's colours without their yellow, which is too light for a line on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"];
/// Markers tell the series apart in black and white.
const MARKERS: [MarkerShape; 6] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::Cross,
    MarkerShape::Plus,
];

/// Size in pixels.
const WIDTH: u32 = 760;
const HEIGHT: u32 = 480;

/// A figure with one line for each series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Above the plot.
    pub title: String,
    /// Under the horizontal axis, with its unit.
    pub x_label: String,
    /// Beside the vertical axis, with its unit.
    pub y_label: String,
    /// The lines, in the order of the legend.
    pub series: Vec<Series>,
    /// First and last value of the vertical axis; what the points need when `None`.
    pub y_range: Option<(f64, f64)>,
    /// Whether the horizontal axis is logarithmic; then points at or below zero are left out.
    pub log_x: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// In the legend.
    pub name: String,
    /// By ascending `x`.
    pub points: Vec<Point>,
}

/// A value with the range of its repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// The marked value, such as the mean.
    pub y: f64,
    /// Lower end of the bar, such as the minimum.
    pub low: f64,
    /// Upper end of the bar, such as the maximum.
    pub high: f64,
}

/// Writes a figure. Points with a figure that is not finite are left out.
///
/// # Errors
/// Those of the writer.
pub fn write_figure(out: &mut impl Write, figure: &Figure) -> io::Result<()> {
    let shown = |point: &&Point| {
        [point.x, point.y, point.low, point.high].iter().all(|value| value.is_finite())
            && (!figure.log_x || point.x > 0.0)
    };
    let series: Vec<Vec<Point>> =
        figure.series.iter().map(|series| series.points.iter().filter(shown).copied().collect()).collect();
    let mut plots: Vec<Plot> = Vec::new();
    let mut legend = Vec::new();
    for (index, (series, points)) in figure.series.iter().zip(&series).enumerate() {
        let (colour, marker) = (COLOURS[index % COLOURS.len()], MARKERS[index % MARKERS.len()]);
        let data: Vec<(f64, f64)> = points.iter().map(|point| (point.x, point.y)).collect();
        let arms = points.iter().map(|point| ((point.y - point.low).max(0.0), (point.high - point.y).max(0.0)));
        let arms: Vec<(f64, f64)> = arms.collect();
        plots.push(LinePlot::new().with_data(data.clone()).with_color(colour).with_stroke_width(1.8).into());
        let markers = ScatterPlot::new().with_data(data).with_y_err_asymmetric(arms);
        plots.push(markers.with_color(colour).with_size(4.0).with_marker(marker).into());
        legend.push(LegendEntry {
            label: plain(&series.name),
            color: colour.to_owned(),
            shape: LegendShape::Marker(marker),
            dasharray: None,
        });
    }
    let svg = kuva::render_to_svg(plots, layout(figure, &series, legend));
    out.write_all(scalable(&svg).as_bytes())
}

/// With a view box the figure scales to the page that holds it. The plotting crate counts its clip paths through the whole
/// process; counted through the figure they are the same whenever it is drawn.
fn scalable(svg: &str) -> String {
    const CLIP: &str = "kuva-clip-";
    let mut known: Vec<&str> = Vec::new();
    let mut parts = svg.split(CLIP);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, rest) = part.split_at(digits);
        let at = known.iter().position(|&other| other == number).unwrap_or_else(|| {
            known.push(number);
            known.len() - 1
        });
        text += &format!("{CLIP}{at}{rest}");
    }
    text.replacen("<svg ", &format!("<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" "), 1)
}

/// Axes of these ranges, with title and labels.
fn axes(x: (f64, f64), y: (f64, f64), [title, x_label, y_label]: [&str; 3]) -> Layout {
    Layout::new(x, y)
        .with_title(plain(title))
        .with_x_label(plain(x_label))
        .with_y_label(plain(y_label))
        .with_x_axis_min(x.0)
        .with_x_axis_max(x.1)
        .with_y_axis_min(y.0)
        .with_y_axis_max(y.1)
        .with_width(f64::from(WIDTH))
        .with_height(f64::from(HEIGHT))
        .with_show_grid(true)
        .with_x_tick_format(TickFormat::Auto)
        .with_font_family("system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif")
}

fn layout(figure: &Figure, series: &[Vec<Point>], legend: Vec<LegendEntry>) -> Layout {
    let points = || series.iter().flatten();
    let range = |low: f64, high: f64| if low < high { (low, high) } else { (low - 0.5, low + 0.5) };
    let over = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        })
    };
    let (low, high) = over(&mut points().map(|point| point.x)).unwrap_or((1.0, 10.0));
    // The first and last points stand clear of the frame.
    let (x_low, x_high) = if figure.log_x {
        with_power_of_ten(low * 0.9, high * 1.1)
    } else {
        let (low, high) = range(low, high);
        ((low - (high - low) * 0.04), high + (high - low) * 0.04)
    };
    let spread = over(&mut points().flat_map(|point| [point.low, point.high])).unwrap_or((0.0, 1.0));
    let (y_low, y_high) = figure.y_range.filter(|(low, high)| low < high).unwrap_or_else(|| {
        let (low, high) = range(spread.0, spread.1);
        (low - (high - low) * 0.05, high + (high - low) * 0.05)
    });
    let layout = axes((x_low, x_high), (y_low, y_high), [&figure.title, &figure.x_label, &figure.y_label])
        .with_legend_position(LegendPosition::OutsideRightTop)
        .with_legend_box(false)
        .with_legend_entries(legend);
    if figure.log_x { layout.with_log_x() } else { layout }
}

/// The range, or a larger one up to the next power of ten: the ticks of a logarithmic axis are powers of ten.
fn with_power_of_ten(low: f64, high: f64) -> (f64, f64) {
    let (below, above) = (10_f64.powf(low.log10().floor()), 10_f64.powf(low.log10().ceil()));
    if above <= high {
        (low, high)
    } else if low / below < above / high {
        (below * 0.9, high)
    } else {
        (low, above * 1.1)
    }
}

/// Text without what the plotting crate or XML would take for more than text.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect::<String>().replace('$', "\\$")
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
        let series = vec![Series { name: name.into(), points: points.iter().map(point).collect() }];
        Figure { title: name.into(), x_label: name.into(), y_label: name.into(), series, y_range: None, log_x: false }
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
    fn a_logarithmic_axis_has_a_label_wherever_the_points_are() {
        for points in
            [&[16.0][..], &[64.0], &[256.0], &[16.0, 64.0], &[2.0], &[0.3], &[10.0], &[9.5], &[4000.0, 7000.0]]
        {
            let points: Vec<(f64, f64)> = points.iter().map(|&x| (x, 1.3)).collect();
            let text = svg(&Figure { log_x: true, y_range: Some((1.25, 1.75)), ..figure("", &points) });
            let document = roxmltree::Document::parse(&text).unwrap();
            let texts = document.descendants().filter_map(|node| node.text()?.trim().parse::<f64>().ok());
            let powers: Vec<f64> = texts.filter(|value| value.log10().fract().abs() < 1e-9).collect();
            assert!(!powers.is_empty(), "{points:?}: {text}");
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
