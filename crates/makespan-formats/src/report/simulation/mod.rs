//! One self-contained HTML page about what several policies made of one log.
//!
//! As the page of a plan it loads nothing. Its size does not grow with the log: long series are drawn in columns with
//! their extremes, and the Gantt charts merge what is smaller than a pixel.

mod envelope;
mod panels;
mod phase_strip;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use makespan_core::{Instance, Job, Phases, Schedule, Time};

use super::cards::{write_remarks, write_sections};
use super::{STYLE, Section, fill, hash};
use crate::gantt::escape::Text;
use crate::gantt::summary::grouped;
use crate::gantt::ticks::duration;
use crate::gantt::{GanttOptions, Marks, NamedSchedule, write_svg};
use panels::Panels;

pub use envelope::Level;

const PAGE: &str = include_str!("../../../assets/simulation.html");
const OWN_STYLE: &str = include_str!("../../../assets/simulation.css");
const SCRIPTS: [&str; 2] = [include_str!("../../../assets/duration.js"), include_str!("../../../assets/simulation.js")];

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct SimulationReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The jobs with their estimates, and the platform.
    pub instance: &'a Instance,
    /// What each policy made of them.
    pub policies: &'a [PolicyPanel<'a>],
    /// The seed of all random choices.
    pub seed: u64,
    /// What the user should know, one sentence each.
    pub remarks: &'a [String],
    /// Measures side by side.
    pub comparison: &'a Section,
    /// Tables after the charts, in this order.
    pub sections: &'a [Section],
}

/// One policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyPanel<'a> {
    /// Its spec.
    pub name: &'a str,
    /// A line of figures.
    pub summary: &'a str,
    /// When the last job ended.
    pub end: Time,
    /// Busy processors and waiting jobs, by ascending time.
    pub levels: &'a [Level],
    /// The phases of a flow of tasks, drawn above the usage; `None` for other instances.
    pub phases: Option<&'a Phases>,
    /// What ran where, for a Gantt chart; `None` where there are too many jobs for one.
    pub schedule: Option<&'a Schedule>,
    /// What is pointed out in that chart.
    pub marks: &'a Marks,
}

/// Writes the page.
///
/// # Errors
/// Those of the writer.
pub fn write_simulation(out: &mut impl Write, report: &SimulationReport<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let style = [STYLE, OWN_STYLE].concat().replace('\r', "");
    let script = format!("\"use strict\";\n(() => {{\n{}}})();\n", SCRIPTS.concat().replace('\r', ""));
    let panels = Panels::new(report);
    fill(&mut out, PAGE, |out, slot| match slot {
        "title" => write!(out, "{}", Text(report.title)),
        "policy" => write!(out, "script-src '{}'; style-src '{}'", hash(&script), hash(&style)),
        "style" => out.write_all(style.as_bytes()),
        "script" => out.write_all(script.as_bytes()),
        "data" => panels.write_data(out),
        "origin" => write_origin(out, report),
        "remarks" => write_remarks(out, report.remarks),
        "comparison" => write_sections(out, std::slice::from_ref(report.comparison)),
        "phases" => phase_strip::write_legend(out, report.policies),
        "panels" => panels.write(out),
        "reduced" => out.write_all(note(&panels).as_bytes()),
        "gantt" => write_gantt(out, report),
        "sections" => write_sections(out, report.sections),
        other => unreachable!("the page template has no slot {other}"),
    })?;
    out.flush()
}

fn write_origin(out: &mut impl Write, report: &SimulationReport<'_>) -> io::Result<()> {
    let jobs = report.instance.jobs();
    let first = jobs.iter().map(|job| job.release).min().unwrap_or_default();
    let last = jobs.iter().map(|job| job.release).max().unwrap_or_default();
    let (count, processors) = (report.instance.tasks(), grouped(f64::from(report.instance.processors())));
    let count = grouped(count as f64);
    if report.instance.has_compound_jobs() {
        // A policy serves each task of a bag like a job.
        let served = jobs.iter().map(Job::equal_tasks).sum::<u64>();
        write!(out, "<span><b>{}</b> jobs of <b>{count}</b> tasks", grouped(served as f64))?;
    } else {
        write!(out, "<span><b>{count}</b> jobs")?;
    }
    write!(out, " on <b>{processors}</b> processors</span> ")?;
    write!(out, "<span>submitted over <b>{}</b></span> ", duration((last - first).seconds()))?;
    write!(out, "<span>seed <b>{}</b></span>", report.seed)
}

/// How the picture is read.
fn note(panels: &Panels<'_>) -> String {
    let shades = if panels.is_reduced() {
        " The log is long: a column shows a period, dark what there always was in it, lighter the mean, lightest the most."
    } else {
        ""
    };
    format!("Time counts from the first submission. All queues have one scale.{shades}")
}

/// The charts as a picture of its own, so that their style and names stay apart from those of the page.
fn write_gantt<'a>(out: &mut impl Write, report: &SimulationReport<'a>) -> io::Result<()> {
    let shown = || report.policies.iter().filter_map(|policy| Some((policy, policy.schedule?)));
    let named = |(policy, schedule): (&'_ PolicyPanel<'a>, _)| NamedSchedule { name: policy.name, schedule };
    let schedules: Vec<NamedSchedule<'_>> = shown().map(named).collect();
    let marks: Vec<Marks> = shown().map(|(policy, _)| policy.marks.clone()).collect();
    if schedules.is_empty() {
        return Ok(());
    }
    let mut svg = Vec::new();
    let options = GanttOptions {
        title: "What ran where",
        width: 1400,
        objectives: false,
        bags_apart: true,
        marks: &marks,
        ..GanttOptions::default()
    };
    write_svg(&mut svg, report.instance, &schedules, &options)?;
    writeln!(out, "<section><h2>Schedules</h2><figure class=\"gantt\">")?;
    let text = "Gantt charts, one a policy: processors downwards, time to the right";
    writeln!(out, "<img alt=\"{text}\" src=\"data:image/svg+xml;base64,{}\"></figure></section>", STANDARD.encode(svg))
}
