//! Figures of experiments as SVG: series of points with the range of their repetitions.

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
    out.write_all(svg.as_bytes())
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
        (low * 0.9, high * 1.1)
    } else {
        let (low, high) = range(low, high);
        ((low - (high - low) * 0.04), high + (high - low) * 0.04)
    };
    let spread = over(&mut points().flat_map(|point| [point.low, point.high])).unwrap_or((0.0, 1.0));
    let (y_low, y_high) = figure.y_range.filter(|(low, high)| low < high).unwrap_or_else(|| {
        let (low, high) = range(spread.0, spread.1);
        (low - (high - low) * 0.05, high + (high - low) * 0.05)
    });
    let layout = Layout::new((x_low, x_high), (y_low, y_high))
        .with_title(plain(&figure.title))
        .with_x_label(plain(&figure.x_label))
        .with_y_label(plain(&figure.y_label))
        .with_x_axis_min(x_low)
        .with_x_axis_max(x_high)
        .with_y_axis_min(y_low)
        .with_y_axis_max(y_high)
        .with_width(760.0)
        .with_height(480.0)
        .with_show_grid(true)
        .with_x_tick_format(TickFormat::Auto)
        .with_legend_position(LegendPosition::OutsideRightTop)
        .with_legend_box(false)
        .with_legend_entries(legend)
        .with_font_family("system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif");
    if figure.log_x { layout.with_log_x() } else { layout }
}

/// Text without what the plotting crate or XML would take for more than text.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{FFFD}' } else { c }).collect::<String>().replace('$', "\\$")
}
