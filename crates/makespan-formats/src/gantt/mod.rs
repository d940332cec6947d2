//! Draws Gantt charts as SVG. Processors are the rows, and time runs to the right.

mod colouring;
pub(crate) mod escape;
mod labels;
mod marks;
mod mosaic;
pub(crate) mod palette;
mod panel;
pub(crate) mod scheme;
pub(crate) mod summary;
#[cfg(test)]
mod tests;
pub(crate) mod ticks;

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};

use makespan_core::{Instance, Objective, Schedule, Time};
use makespan_verify::Bound;

use escape::{PixelCoordinate, Text, fitting};
use palette::Colours;
use panel::Panel;

pub use marks::{Deadline, Marks};
pub use ticks::duration;

/// Schedule with its name in the chart, such as "planned" or "happened".
#[derive(Clone, Copy, Debug)]
pub struct NamedSchedule<'a> {
    /// Name, shown as a heading.
    pub name: &'a str,
    /// The schedule. All schedules of a chart contain tasks of one instance.
    pub schedule: &'a Schedule,
}

/// Options for drawing a chart.
#[derive(Clone, Copy, Debug)]
pub struct GanttOptions<'a> {
    /// First line of the chart.
    pub title: &'a str,
    /// Proven bounds on the first schedule.
    pub bounds: &'a [Bound],
    /// Width in pixels. Values below 400 are raised to 400, and values above 1600 are lowered to 1600.
    pub width: u32,
    /// True if the objectives of the first schedule are shown under the title.
    pub objectives: bool,
    /// Objective for which the first schedule was planned. This objective is shown first, with its bound. Other
    /// objectives are shown without bounds. If `None`, all objectives are shown with their bounds.
    pub asked: Option<Objective>,
    /// True if each task of a bag has its own colour, also in a best-effort bag. Set this field for schedules of
    /// policies, because policies treat the tasks of a bag like jobs.
    pub bags_apart: bool,
    /// Marks for each schedule, in the order of the schedules. If no marks contain deadlines, the deadlines of the
    /// jobs are drawn.
    pub marks: &'a [Marks],
    /// A sentence about a run, if the first schedule contains the actual runs. The sentence replaces the objectives,
    /// and the time axis ends with the first schedule.
    pub run: Option<&'a str>,
}

impl Default for GanttOptions<'_> {
    fn default() -> Self {
        Self {
            title: "Schedule",
            bounds: &[],
            width: 1200,
            objectives: true,
            asked: None,
            bags_apart: false,
            marks: &[],
            run: None,
        }
    }
}

/// Width of the space to the right of the time axis, in pixels. The space contains the label of the makespan.
const RIGHT: f64 = 150.0;
/// Total height of the rows of all panels, in pixels.
const HEIGHT: f64 = 620.0;
/// Height of the space above the rows of a panel, in pixels. The space contains the heading and the labels of lines.
const ABOVE: f64 = 26.0;
/// Height of the space below the rows of a panel, in pixels. The space contains the time axis.
const BELOW: f64 = 34.0;

const STYLE: &str = "text{font:11px system-ui,'Segoe UI','DejaVu Sans',sans-serif;fill:#333}\
.title{font-size:17px;font-weight:600;fill:#111}.sub{font-size:12px;fill:#444}.name{font-size:12px;font-weight:600}\
.end{text-anchor:end}.mid{text-anchor:middle}.job{stroke:#fff;stroke-width:.6}.guess{stroke:#000;stroke-dasharray:3 2}.thin{stroke:none;shape-rendering:crispEdges}.job:hover{stroke:#000;stroke-width:1.5}\
.on{pointer-events:none;text-anchor:middle}.corner{fill:#111}.deadline{stroke:#555}.missed{stroke:#C81E1E;stroke-width:1.8}";

/// Writes schedules of one instance below each other, with a common time axis.
///
/// Tasks of best-effort bags are grey, with a legend, unless [`GanttOptions::bags_apart`] is set.
///
/// Placements smaller than a pixel are merged into shaded cells. So the size of the file is bounded for any number of
/// placements.
///
/// # Errors
/// Errors of the writer.
pub fn write_svg(
    out: &mut impl Write,
    instance: &Instance,
    schedules: &[NamedSchedule<'_>],
    options: &GanttOptions<'_>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let width = f64::from(options.width.clamp(400, 1600));
    let bound =
        options.bounds.iter().filter(|bound| bound.objective == Objective::Makespan).map(|bound| bound.value.integer());
    let bound = bound.max().map(|ticks| Time::from_ticks(i64::try_from(ticks).unwrap_or(i64::MAX)));
    let lines = schedules
        .first()
        .filter(|_| options.objectives)
        .map(|first| summary::lines(instance, first.schedule, options.bounds, options.asked));
    let lines = options.run.map_or_else(|| lines.unwrap_or_default(), |sentence| vec![sentence.to_owned()]);
    let legend = schedules
        .first()
        .filter(|_| !options.bags_apart)
        .and_then(|first| summary::best_effort(instance, first.schedule));
    let marks: Vec<Cow<'_, Marks>> = schedules
        .iter()
        .enumerate()
        .map(|(index, named)| {
            let given = options.marks.get(index).unwrap_or(Marks::NONE);
            let deadlines = Marks::deadlines_of(instance, named.schedule);
            if given.deadlines.is_empty() && !deadlines.is_empty() {
                Cow::Owned(Marks { deadlines, ..given.clone() })
            } else {
                Cow::Borrowed(given)
            }
        })
        .collect();
    let marked = Marks::legend(marks.iter().map(|marks| &**marks));
    let notes = usize::from(legend.is_some()) + usize::from(marked.is_some());
    let top = 40.0 + 18.0 * (lines.len() + notes) as f64;
    let limit = HEIGHT / schedules.len().max(1) as f64;
    let rows = (f64::from(instance.processors()) * 24.0).clamp(48.0, limit.max(120.0));
    let left = panel::gutter(instance);
    let axes = if options.run.is_some() { 1 } else { schedules.len() };
    let ends = schedules.iter().take(axes).map(|named| named.schedule.makespan()).chain(bound);
    let span = ends.max().unwrap_or(Time::ZERO).max(Time::TICK);
    let height = top + schedules.len() as f64 * (ABOVE + rows + BELOW);

    write_head(&mut out, options.title, [width, height])?;
    for (index, line) in lines.iter().enumerate() {
        let y = 46.0 + 18.0 * index as f64;
        writeln!(out, r#"<text class="sub" x="16" y="{y}">{}</text>"#, Text(line))?;
    }
    if let Some(text) = legend {
        let y = 46.0 + 18.0 * lines.len() as f64;
        let swatch = y - 10.0;
        write!(out, r#"<rect x="16" y="{swatch}" width="18" height="11" fill="{}"/>"#, scheme::BEST_EFFORT)?;
        writeln!(out, r#"<text class="sub" x="40" y="{y}">{}</text>"#, Text(&text))?;
    }
    if let Some(text) = marked {
        writeln!(out, r#"<text class="sub" x="16" y="{}">{text}</text>"#, PixelCoordinate(top + 6.0 - 18.0))?;
    }
    let colours = Colours::new(instance, options.bags_apart, schedules);
    let shared = labels::shared(instance);
    for (index, named) in schedules.iter().enumerate() {
        let panel = Panel {
            instance,
            colours: &colours,
            left,
            top: top + index as f64 * (ABOVE + rows + BELOW) + ABOVE,
            width: width - left - RIGHT,
            height: rows,
            span,
            end_word: if options.run.is_some() { "end" } else { "makespan" },
            marks: &marks[index],
            shared,
        };
        // A single chart needs no heading. The bound is valid only for the first schedule.
        let heading = if schedules.len() > 1 { named.name } else { "" };
        panel.write(&mut out, named.schedule, heading, bound.filter(|_| index == 0))?;
    }
    writeln!(out, "</svg>")?;
    out.flush()
}

fn write_head(out: &mut impl Write, title: &str, [width, height]: [f64; 2]) -> io::Result<()> {
    let (w, h) = (PixelCoordinate(width), PixelCoordinate(height));
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img">"#
    )?;
    writeln!(out, "<title>{}</title><style>{STYLE}</style>", Text(title))?;
    writeln!(
        out,
        r##"<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#eee"/><path d="M0 0v6" stroke="#999" stroke-width="1.6"/></pattern></defs>"##
    )?;
    writeln!(out, r##"<rect width="{w}" height="{h}" fill="#fff"/>"##)?;
    let shown = fitting(title, 17.0, width - 32.0).unwrap_or_default();
    writeln!(out, r#"<text class="title" x="16" y="26">{}</text>"#, Text(&shown))
}
