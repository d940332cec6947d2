//! Draws one schedule of a chart.

use std::io::{self, Write};

use makespan_core::{Instance, Placement, ProcSet, Schedule, Time};

use super::escape::{PixelCoordinate, Text, fitting};
use super::labels::label;
use super::marks::{Deadline, Marks, SIZE};
use super::mosaic::CellGrid;
use super::palette::{Colours, Palette, text_on};
use super::scheme::COLOURS;
use super::summary::{bound_word, is_guess};
use super::ticks;

/// Maximum number of rectangles that have tooltips. Further rectangles have no tooltips.
const DETAILED: usize = 4_000;
/// Minimum width and height of a rectangle in pixels. Smaller rectangles are merged.
const SMALLEST: f64 = 1.0;
/// Minimum width and height of a rectangle with a frame, in pixels. A smaller rectangle has no frame, because a frame
/// would cover too much of the rectangle. Smaller rectangles are aligned to whole pixels.
const FRAMED: f64 = 4.0;

/// Position of one schedule in the chart, and data for drawing it.
pub(super) struct Panel<'a> {
    pub instance: &'a Instance,
    pub colours: &'a Colours<'a>,
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
    /// Last instant of the time axis.
    pub span: Time,
    /// Label of the line at the end of the last task.
    pub end_word: &'static str,
    /// Marks of the schedule.
    pub marks: &'a Marks,
    /// Common prefix of the names of all jobs.
    pub shared: &'a str,
}

/// Rectangle of a placement.
struct Shape {
    placement: usize,
    /// Left edge, top edge, width and height, in pixels.
    area: [f64; 4],
}

/// Returns the width of the space for processor ids or node names, to the left of the rows.
pub(super) fn gutter(instance: &Instance) -> f64 {
    let nodes = instance.platform().nodes();
    let longest = nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0).min(14);
    let digits = instance.processors().to_string().len();
    30.0 + 7.0 * (if nodes.len() > 1 { longest.max(digits) } else { digits }) as f64
}

impl Panel<'_> {
    /// Draws the schedule with axes, legend, deadlines and lines.
    pub(super) fn write(
        &self,
        out: &mut impl Write,
        schedule: &Schedule,
        heading: &str,
        bound: Option<Time>,
    ) -> io::Result<()> {
        let (x, y, w, h) = (
            PixelCoordinate(self.left),
            PixelCoordinate(self.top),
            PixelCoordinate(self.width),
            PixelCoordinate(self.height),
        );
        writeln!(out, r##"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="#f7f7f5"/>"##)?;
        if !heading.is_empty() {
            writeln!(
                out,
                r#"<text class="name" x="16" y="{}">{}</text>"#,
                PixelCoordinate(self.top - 9.0),
                Text(heading)
            )?;
        }
        self.write_axes(out)?;
        self.write_unavailable(out)?;
        let palette = Palette::new(self.colours, schedule);
        self.write_placements(out, schedule, &palette)?;
        writeln!(out, r##"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill="none" stroke="#999"/>"##)?;
        self.write_legend(out, &palette)?;
        self.write_deadlines(out)?;
        self.write_lines(out, schedule.makespan(), bound)
    }

    /// Draws the legend of the colours, to the right of the rows.
    fn write_legend(&self, out: &mut impl Write, palette: &Palette<'_>) -> io::Result<()> {
        for (at, (colour, name)) in palette.legend().into_iter().enumerate() {
            let (x, y) = (self.left + self.width + 12.0, self.top + 4.0 + 16.0 * at as f64);
            let colour = COLOURS[colour];
            let (left, top, right, base) =
                (PixelCoordinate(x), PixelCoordinate(y), PixelCoordinate(x + 16.0), PixelCoordinate(y + 9.5));
            let name = fitting(name, 11.0, 110.0).unwrap_or_default();
            write!(out, r#"<rect x="{left}" y="{top}" width="11" height="11" fill="{colour}"/>"#)?;
            writeln!(out, r#"<text x="{right}" y="{base}">{}</text>"#, Text(&name))?;
        }
        Ok(())
    }

    pub(super) fn x(&self, at: Time) -> f64 {
        self.left + self.width * (at.min(self.span).seconds() / self.span.seconds()).max(0.0)
    }

    fn row(&self) -> f64 {
        self.height / f64::from(self.instance.processors())
    }

    /// Returns the rectangles of a set of processors during a period, one for each interval of processor ids.
    fn areas<'s>(&'s self, processors: &'s ProcSet, start: Time, end: Time) -> impl Iterator<Item = [f64; 4]> + 's {
        let (from, to) = (self.x(start), self.x(end));
        let known = processors.intervals().iter().filter(|interval| interval.1 < self.instance.processors());
        known.map(move |&(first, last)| {
            let y = self.top + self.row() * f64::from(first);
            [from, y, to - from, self.row() * f64::from(last - first + 1)]
        })
    }

    fn write_axes(&self, out: &mut impl Write) -> io::Result<()> {
        let bottom = self.top + self.height;
        let span = self.span.seconds();
        let step = ticks::step(span, (self.width / 95.0) as usize);
        for index in 0..=(span / step + 1e-9) as u32 {
            let seconds = f64::from(index) * step;
            let x = PixelCoordinate(self.left + self.width * seconds / span);
            writeln!(
                out,
                r##"<path d="M{x} {}V{}" stroke="#ddd"/>"##,
                PixelCoordinate(self.top),
                PixelCoordinate(bottom + 4.0)
            )?;
            let label = ticks::label(seconds, step);
            writeln!(out, r#"<text class="mid" x="{x}" y="{}">{label}</text>"#, PixelCoordinate(bottom + 17.0))?;
        }
        if self.instance.platform().nodes().len() > 1 { self.write_nodes(out) } else { self.write_ids(out) }
    }

    fn write_ids(&self, out: &mut impl Write) -> io::Result<()> {
        let step = (ticks::round_up(14.0 / self.row()) as usize).max(1);
        for id in (0..self.instance.processors()).step_by(step) {
            // The label is in the middle of a row of at most 24 pixels, and near the top of a higher row.
            let y = self.top + self.row() * f64::from(id) + self.row().min(24.0) / 2.0 + 4.0;
            writeln!(
                out,
                r#"<text class="end" x="{}" y="{}">{id}</text>"#,
                PixelCoordinate(self.left - 6.0),
                PixelCoordinate(y)
            )?;
        }
        Ok(())
    }

    fn write_nodes(&self, out: &mut impl Write) -> io::Result<()> {
        let platform = self.instance.platform();
        let mut free_from = f64::NEG_INFINITY;
        for (index, node) in platform.nodes().iter().enumerate().filter(|(_, node)| node.processors > 0) {
            let first = platform.processors_of(index).intervals().first().map_or(0, |interval| interval.0);
            let y = self.top + self.row() * f64::from(first);
            let middle = y + self.row() * f64::from(node.processors) / 2.0 + 4.0;
            if middle < free_from {
                continue;
            }
            free_from = middle + 13.0;
            let (right, y) = (PixelCoordinate(self.left), PixelCoordinate(y));
            writeln!(out, r##"<path d="M{} {y}H{right}" stroke="#bbb"/>"##, PixelCoordinate(self.left - 8.0))?;
            let name = fitting(&node.name, 10.0, self.left - 12.0).unwrap_or_default();
            let (x, middle) = (PixelCoordinate(self.left - 10.0), PixelCoordinate(middle));
            writeln!(out, r#"<text class="end" x="{x}" y="{middle}">{}</text>"#, Text(&name))?;
        }
        Ok(())
    }

    fn write_unavailable(&self, out: &mut impl Write) -> io::Result<()> {
        let periods = self.instance.unavailable().iter().filter(|period| period.start < self.span);
        for period in periods {
            let mut path = String::new();
            self.areas(&period.processors, period.start, period.end).for_each(|area| path += &outline(area));
            let (start, end) = (ticks::duration(period.start.seconds()), ticks::duration(period.end.seconds()));
            let title = format!("unavailable: processors {}, {start} to {end}", period.processors);
            writeln!(out, r#"<path fill="url(#hatch)" d="{path}"><title>{title}</title></path>"#)?;
        }
        Ok(())
    }

    fn write_placements(&self, out: &mut impl Write, schedule: &Schedule, palette: &Palette<'_>) -> io::Result<()> {
        let mut mosaic = CellGrid::new(self.width, self.height);
        let mut shapes = Vec::new();
        let is_before_end = |one: &Placement| one.start < self.span || one.end <= self.span;
        for (index, placement) in schedule.placements().iter().enumerate().filter(|(_, one)| is_before_end(one)) {
            for area in self.areas(&placement.processors, placement.start, placement.end) {
                if area[2] < SMALLEST || area[3] < SMALLEST {
                    let local = [area[0] - self.left, area[1] - self.top, area[2], area[3]];
                    mosaic.add(local, palette.colour(index));
                } else {
                    shapes.push(Shape { placement: index, area });
                }
            }
        }
        mosaic.write(out, self.left, self.top)?;
        if shapes.len() > DETAILED {
            shapes.sort_by(|a, b| (b.area[2] * b.area[3]).total_cmp(&(a.area[2] * a.area[3])));
            write_plain(out, palette, &shapes[DETAILED..])?;
            shapes.truncate(DETAILED);
            shapes.sort_by_key(|shape| shape.placement);
        }
        for group in shapes.chunk_by(|a, b| a.placement == b.placement) {
            self.write_placement(out, schedule, palette.colour(group[0].placement), group)?;
        }
        Ok(())
    }

    /// Draws the rectangles of one placement, with a tooltip.
    fn write_placement(
        &self,
        out: &mut impl Write,
        schedule: &Schedule,
        colour: usize,
        shapes: &[Shape],
    ) -> io::Result<()> {
        let placement = &schedule.placements()[shapes[0].placement];
        let known = self.instance.has_task(placement.task);
        let name = if known { self.instance.name(placement.task) } else { placement.task.to_string().into() };
        let (start, end) = (ticks::duration(placement.start.seconds()), ticks::duration(placement.end.seconds()));
        let (count, ids) = (placement.processors.len(), fitting(&placement.processors.to_string(), 1.0, 60.0));
        let ids = ids.unwrap_or_default();
        let colour = COLOURS[colour];
        let guess = is_guess(self.instance, placement);
        let part = schedule.group(shapes[0].placement).map_or_else(String::new, |group| format!(", {group}"));
        write!(out, r#"<g fill="{colour}"><title>{}&#10;{start} to {end}, "#, Text(&name))?;
        let guessed = if guess { ", the run time is a guess" } else { "" };
        write!(out, "{count} processor{} ({ids}){}{guessed}</title>", if count == 1 { "" } else { "s" }, Text(&part))?;
        for shape in shapes {
            let class = match (guess, is_thin(shape.area)) {
                (false, false) => "job",
                (false, true) => "job thin",
                (true, false) => "job guess",
                (true, true) => "job guess thin",
            };
            let [x, y, w, h] = shape.area.map(PixelCoordinate);
            write!(out, r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}"/>"#)?;
        }
        writeln!(out, "</g>")?;
        self.marks.write_corner(out, placement.task, shapes[0].area)?;
        let largest = shapes.iter().max_by(|a, b| (a.area[2] * a.area[3]).total_cmp(&(b.area[2] * b.area[3])));
        let label = label(self.instance, placement.task, self.shared);
        largest.map_or(Ok(()), |shape| write_label(out, &label, shape.area, text_on(colour)))
    }

    /// Draws a triangle for each deadline on the time axis.
    pub(super) fn write_deadlines(&self, out: &mut impl Write) -> io::Result<()> {
        let (half, top) = (PixelCoordinate(SIZE / 2.0), PixelCoordinate(self.top));
        for Deadline { at, text, missed, job } in
            self.marks.deadlines.iter().filter(|deadline| deadline.at <= self.span)
        {
            let (class, x) = (if *missed { "missed" } else { "deadline" }, PixelCoordinate(self.x(*at)));
            let path = format!("M{x} {top}l-{half} -{}h{}z", PixelCoordinate(SIZE - 1.0), PixelCoordinate(SIZE));
            let colour = COLOURS[self.colours.of_job(*job)];
            writeln!(out, r#"<path class="{class}" fill="{colour}" d="{path}"><title>{}</title></path>"#, Text(text))?;
        }
        Ok(())
    }

    /// Draws lines for the makespan and its bound. The labels never overlap: the label of the earlier line is to the
    /// left of this line, and the label of the later line is to the right.
    fn write_lines(&self, out: &mut impl Write, makespan: Time, bound: Option<Time>) -> io::Result<()> {
        let bound_after = bound.is_some_and(|bound| bound > makespan);
        if let Some(bound) = bound {
            let word = bound_word(self.instance.condition());
            self.write_line(
                out,
                &Line { word: &word, at: bound, colour: "#B3006B", dashes: "5 3", after: bound_after },
            )?;
        }
        let word = self.end_word;
        self.write_line(out, &Line { word, at: makespan, colour: "#004488", dashes: "none", after: !bound_after })
    }

    fn write_line(&self, out: &mut impl Write, line: &Line<'_>) -> io::Result<()> {
        let Line { word, at, colour, dashes, after } = *line;
        let x = self.x(at);
        let (top, bottom) = (PixelCoordinate(self.top - 8.0), PixelCoordinate(self.top + self.height));
        let is_beyond = at > self.span;
        if !is_beyond {
            let path = format!("M{} {top}V{bottom}", PixelCoordinate(x));
            writeln!(out, r#"<path d="{path}" stroke="{colour}" stroke-width="1.6" stroke-dasharray="{dashes}"/>"#)?;
        }
        let arrow = if is_beyond { " \u{2192}" } else { "" };
        let label = format!("{word} {}{arrow}", ticks::duration(at.seconds()));
        // If the space to the left of the line is too small, the label is to the right. The space to the right is free
        // in this case.
        let after = after || x - self.left < super::escape::width_of(&label, 11.0);
        let (class, x) = if after { ("", x + 4.0) } else { ("end", x - 4.0) };
        let (x, y) = (PixelCoordinate(x), PixelCoordinate(self.top - 9.0));
        writeln!(out, r#"<text class="{class}" x="{x}" y="{y}" style="fill:{colour}">{label}</text>"#)
    }
}

/// Labelled vertical line at an instant.
struct Line<'a> {
    word: &'a str,
    at: Time,
    colour: &'static str,
    dashes: &'static str,
    /// True if the label is to the right of the line.
    after: bool,
}

fn is_thin([_, _, width, height]: [f64; 4]) -> bool {
    width < FRAMED || height < FRAMED
}

fn outline(area: [f64; 4]) -> String {
    let [x, y, w, h] = area.map(PixelCoordinate);
    format!("M{x} {y}h{w}v{h}h-{w}z")
}

/// Draws rectangles without tooltips. Each colour has one path for the rectangles with frames, and one path for the
/// rectangles without frames.
fn write_plain(out: &mut impl Write, palette: &Palette<'_>, shapes: &[Shape]) -> io::Result<()> {
    let mut paths = vec![[String::new(), String::new()]; COLOURS.len()];
    for shape in shapes {
        paths[palette.colour(shape.placement)][usize::from(is_thin(shape.area))] += &outline(shape.area);
    }
    for (colour, [framed, thin]) in COLOURS.iter().zip(paths) {
        if !framed.is_empty() {
            writeln!(out, r##"<path fill="{colour}" stroke="#fff" stroke-width=".2" d="{framed}"/>"##)?;
        }
        if !thin.is_empty() {
            writeln!(out, r#"<path class="thin" fill="{colour}" d="{thin}"/>"#)?;
        }
    }
    Ok(())
}

fn write_label(out: &mut impl Write, name: &str, [x, y, w, h]: [f64; 4], colour: &str) -> io::Result<()> {
    let size = (h * 0.8).min(11.0);
    let Some(text) = fitting(name, size, w - 6.0).filter(|_| size >= 8.0) else { return Ok(()) };
    let (x, y) = (PixelCoordinate(x + w / 2.0), PixelCoordinate(y + h / 2.0 + size * 0.36));
    let style = format!("fill:{colour};font-size:{}px", PixelCoordinate(size));
    writeln!(out, r#"<text class="on" x="{x}" y="{y}" style="{style}">{}</text>"#, Text(&text))
}
