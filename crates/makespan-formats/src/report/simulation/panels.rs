//! Draws the usage and the queue of each policy as SVG. The plots of all policies are below each other, with a common
//! time axis.

use std::io::{self, Write};

use makespan_core::Time;
use serde::Serialize;

use super::envelope::{Column, Spread, columns};
use super::phase_strip;
use super::{PolicyPanel, SimulationReport};
use crate::gantt::escape::{PixelCoordinate, Text};
use crate::gantt::summary::grouped;
use crate::gantt::ticks;

/// Size of the picture in SVG units. The page scales the picture.
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 18.0;
/// Height of the line with the name of a policy, above the plots of this policy.
const NAME: f64 = 30.0;
/// Height above the plots of a policy for its phases, if it has phases.
const PHASES: f64 = 17.0;
const STRIP: f64 = 13.0;
const USAGE: f64 = 92.0;
const BETWEEN: f64 = 9.0;
const QUEUE: f64 = 64.0;
const AFTER: f64 = 12.0;
const AXIS: f64 = 28.0;
/// Maximum number of levels of a series that is drawn exactly.
const EXACT: usize = 2_000;
/// Number of columns of a longer series, each about two pixels wide.
const COLUMNS: usize = 500;

/// Data of the picture, ready to be drawn.
pub(super) struct Panels<'a> {
    policies: &'a [PolicyPanel<'a>],
    series: Vec<Vec<Column>>,
    span: [Time; 2],
    /// End of the last job under any policy.
    end: Time,
    processors: u32,
    is_present: bool,
}

/// The drawn series, for the script that shows the values at the pointer. Times are in seconds after the first
/// instant of the picture.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    span: f64,
    width: f64,
    left: f64,
    right: f64,
    policies: Vec<PanelSeries<'a>>,
}

#[derive(Serialize)]
struct PanelSeries<'a> {
    name: &'a str,
    from: Vec<f64>,
    held: Vec<f64>,
    waiting: Vec<f64>,
}

impl<'a> Panels<'a> {
    pub(super) fn new(report: &SimulationReport<'a>) -> Self {
        let policies = report.policies;
        let first = report.instance.jobs().iter().map(|job| job.release).min().unwrap_or_default();
        let end = policies.iter().map(|policy| policy.end).max().unwrap_or_default().max(first + Time::TICK);
        let shown = if report.is_present { all_started(policies, first) } else { None };
        let span = [first, shown.map_or(end, |shown| shown.min(end))];
        let series: Vec<Vec<Column>> =
            policies.iter().map(|policy| columns(policy.levels, span, EXACT, COLUMNS)).collect();
        let held = series.iter().flatten().map(|column| column.held.most);
        let processors = policies.iter().map(|policy| policy.processors).chain(held).max().unwrap_or(0);
        Self { policies, series, span, end, processors, is_present: report.is_present }
    }

    pub(super) fn is_present(&self) -> bool {
        self.is_present
    }

    /// Returns the end of the last job, in seconds, if the picture ends earlier.
    pub(super) fn rest(&self) -> Option<f64> {
        (self.end > self.span[1]).then(|| (self.end - self.span[0]).seconds())
    }

    /// Returns whether a series is reduced to columns.
    pub(super) fn is_reduced(&self) -> bool {
        self.policies.iter().any(|policy| policy.levels.len() > EXACT)
    }

    pub(super) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let room = |policy: &PolicyPanel<'_>| if policy.phases.is_some() { PHASES } else { 0.0 };
        let each = |policy| NAME + room(policy) + USAGE + BETWEEN + QUEUE + AFTER;
        let height = self.policies.iter().map(each).sum::<f64>() + AXIS;
        write!(
            out,
            r#"<svg id="panels" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" "#
        )?;
        writeln!(out, r#"aria-label="Busy processors and waiting jobs over time">"#)?;
        let mut start = 0.0;
        for (policy, series) in self.policies.iter().zip(&self.series) {
            let mut top = start + NAME;
            start += each(policy);
            writeln!(
                out,
                r#"<text class="policy" x="{LEFT}" y="{}">{}</text>"#,
                PixelCoordinate(top - 9.0),
                Text(policy.name)
            )?;
            let line = Text(policy.summary);
            writeln!(
                out,
                r#"<text class="end" x="{}" y="{}">{line}</text>"#,
                WIDTH - RIGHT,
                PixelCoordinate(top - 9.0)
            )?;
            if let Some(phases) = policy.phases {
                phase_strip::write(out, phases, self.span, [LEFT, WIDTH - LEFT - RIGHT], [top, STRIP])?;
                top += PHASES;
            }
            // In a log, the number of busy processors may exceed the number in the header.
            let most = series.iter().map(|column| column.held.most).max().unwrap_or(0).max(policy.processors);
            let held = Quantity { class: "held", word: "busy", all: self.processors, most, of: |column| column.held };
            self.write_plot(out, [top, USAGE], &held, series)?;
            let queue = top + USAGE + BETWEEN;
            // Each policy has its own scale for its queue. If one queue grows without limit, a common scale would make
            // the other queues look flat.
            let longest = series.iter().map(|column| column.waiting.most).max().unwrap_or(0);
            let waiting = Quantity {
                class: "waiting",
                word: "waiting",
                all: longest.max(1),
                most: longest.max(1),
                of: |column| column.waiting,
            };
            self.write_plot(out, [queue, QUEUE], &waiting, series)?;
        }
        self.write_axis(out, height - AXIS + 4.0)?;
        writeln!(out, r#"<path id="pointer" d="M0 0V{}" visibility="hidden"/></svg>"#, PixelCoordinate(height - AXIS))
    }

    /// Returns the series for the script.
    pub(super) fn data(&self) -> Data<'a> {
        let readings = |(policy, series): (&PolicyPanel<'a>, &Vec<Column>)| PanelSeries {
            name: policy.name,
            from: series.iter().map(|column| (column.from - self.span[0]).seconds()).collect(),
            held: series.iter().map(|column| rounded(column.held.mean)).collect(),
            waiting: series.iter().map(|column| rounded(column.waiting.mean)).collect(),
        };
        Data {
            span: (self.span[1] - self.span[0]).seconds(),
            width: WIDTH,
            left: LEFT,
            right: RIGHT,
            policies: self.policies.iter().zip(&self.series).map(readings).collect(),
        }
    }

    fn x(&self, at: Time) -> f64 {
        let share = (at - self.span[0]).seconds() / (self.span[1] - self.span[0]).seconds();
        LEFT + (WIDTH - LEFT - RIGHT) * share.clamp(0.0, 1.0)
    }

    /// Draws a quantity as three areas, for the minimum, the mean and the maximum in each column.
    fn write_plot(
        &self,
        out: &mut impl Write,
        [top, height]: [f64; 2],
        quantity: &Quantity,
        series: &[Column],
    ) -> io::Result<()> {
        let Quantity { class, word, all, most, of } = *quantity;
        let (bottom, width) = (top + height, WIDTH - LEFT - RIGHT);
        let scale = height / f64::from(all.max(1));
        let ground = scale * f64::from(most);
        let (y, h) = (PixelCoordinate(bottom - ground), PixelCoordinate(ground));
        writeln!(out, r#"<rect class="ground" x="{LEFT}" y="{y}" width="{width}" height="{h}"/>"#)?;
        for shade in ["most", "mean", "least"] {
            let mut path = format!("M{LEFT} {}", PixelCoordinate(bottom));
            for column in series {
                let Spread { least, mean, most } = of(column);
                let value = match shade {
                    "most" => f64::from(most),
                    "mean" => mean,
                    _ => f64::from(least),
                };
                path += &format!("V{}H{}", PixelCoordinate(bottom - scale * value), PixelCoordinate(self.x(column.to)));
            }
            writeln!(out, r#"<path class="{class} {shade}" d="{path}V{}z"/>"#, PixelCoordinate(bottom))?;
        }
        let labels = [(bottom - ground + 9.0, grouped(f64::from(most))), (bottom - 1.0, "0".to_owned())];
        for (y, text) in labels.iter().map(|(y, text)| (PixelCoordinate(*y), Text(text))) {
            writeln!(out, r#"<text class="end" x="{}" y="{y}">{text}</text>"#, LEFT - 7.0)?;
        }
        let middle = PixelCoordinate(top + height / 2.0 + 4.0);
        writeln!(out, r#"<text class="end word" x="{}" y="{middle}">{word}</text>"#, LEFT - 7.0)
    }

    fn write_axis(&self, out: &mut impl Write, top: f64) -> io::Result<()> {
        let seconds = (self.span[1] - self.span[0]).seconds();
        let step = ticks::step(seconds, 11);
        for index in 0..=(seconds / step + 1e-9) as u32 {
            let at = f64::from(index) * step;
            let x = LEFT + (WIDTH - LEFT - RIGHT) * at / seconds;
            writeln!(out, r#"<path class="rule" d="M{} {}V0"/>"#, PixelCoordinate(x), PixelCoordinate(top))?;
            let anchor = if x > WIDTH - 40.0 { "end" } else { "middle" };
            let (x, y) = (PixelCoordinate(x), PixelCoordinate(top + 14.0));
            writeln!(out, r#"<text class="{anchor}" x="{x}" y="{y}">{}</text>"#, ticks::label(at, step))?;
        }
        Ok(())
    }
}

/// Returns an instant some time after the last start of a waiting job under any policy, or `None` if no job ever
/// waits.
fn all_started(policies: &[PolicyPanel<'_>], first: Time) -> Option<Time> {
    let of = |policy: &PolicyPanel<'_>| {
        let last = policy.levels.iter().rposition(|level| level.waiting > 0)?;
        Some(policy.levels.get(last + 1).map_or(policy.end, |level| level.time))
    };
    let until = policies.iter().filter_map(of).max()?;
    Some(until + Time::from_ticks((until - first).ticks() / 8 + 1))
}

/// A quantity that a plot shows.
struct Quantity {
    /// Class in the style sheet.
    class: &'static str,
    /// Label next to the plot.
    word: &'static str,
    /// Value at the top of the plot. The value is the same in all plots that are compared.
    all: u32,
    /// Largest value that the plotted quantity can have under this policy.
    most: u32,
    of: fn(&Column) -> Spread,
}

/// Rounds a mean to a tenth, because the picture shows less detail.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
