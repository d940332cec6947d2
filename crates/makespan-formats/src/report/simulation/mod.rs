//! Writes a self-contained HTML page that compares the results of several policies on one log. The page loads nothing.
//! Long series are drawn in columns that show their extremes.
//!
//! The chart, the distributions and the tables of jobs need the schedule of each policy. A schedule takes about ten
//! bytes per placement. A page without schedules has only the series and the measures.

mod envelope;
mod panels;
mod phase_strip;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use makespan_core::{Instance, Job, Phases, Schedule, Time};

use super::cards::{write_remarks, write_sections};
use super::data::{ChartContent, ChartData, write_json};
use super::shell::Shell;
use super::{CHART_SCRIPT, STYLE, Section};
use crate::gantt::summary::grouped;
use crate::gantt::ticks::duration;
use crate::gantt::{Marks, NamedSchedule};
use panels::Panels;
use serde::Serialize;

pub use envelope::SimulationLevel;

const BODY: &str = include_str!("../../../assets/simulation.html");
const OWN_STYLE: &str = include_str!("../../../assets/simulation.css");
const SCRIPTS: [&str; 5] = [
    CHART_SCRIPT,
    include_str!("../../../assets/table.js"),
    include_str!("../../../assets/figures.js"),
    include_str!("../../../assets/simulation.js"),
    include_str!("../../../assets/probe.js"),
];

/// Content of a page.
#[derive(Clone, Copy, Debug)]
pub struct SimulationReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The platform, and the jobs with their estimates.
    pub instance: &'a Instance,
    /// Results of the policies.
    pub policies: &'a [PolicyPanel<'a>],
    /// Seed of all random choices.
    pub seed: u64,
    /// Remarks for the user, one sentence each.
    pub remarks: &'a [String],
    /// True if instant 0 is the present. If true, the pictures end shortly after the last start of a job, even if some
    /// jobs run much longer.
    pub is_present: bool,
    /// Second of the week at instant 0, counted from Monday, 0:00. If `None`, days are numbered instead of named.
    pub week: Option<i64>,
    /// Table that compares the measures of the policies.
    pub comparison: &'a Section,
    /// Sections after the charts, in this order.
    pub sections: &'a [Section],
}

/// Results of one policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyPanel<'a> {
    /// Spec of the policy.
    pub name: &'a str,
    /// Line with the most important figures.
    pub summary: &'a str,
    /// End of the last job.
    pub end: Time,
    /// Number of processors of the platform.
    pub processors: u32,
    /// Levels of busy processors and waiting jobs, in ascending order of time.
    pub levels: &'a [SimulationLevel],
    /// Phases of a flow of tasks, drawn above the usage. `None` for other instances.
    pub phases: Option<&'a Phases>,
    /// Schedule, for the chart and all data about single jobs. `None` if there are too many placements.
    pub schedule: Option<&'a Schedule>,
    /// Marks in the chart.
    pub marks: &'a Marks,
}

/// Writes the page of a comparison.
///
/// # Errors
/// Errors of the writer.
pub fn write_simulation(out: &mut impl Write, report: &SimulationReport<'_>) -> io::Result<()> {
    let panels = Panels::new(report);
    let shell = Shell { title: report.title, styles: &[STYLE, OWN_STYLE], scripts: &SCRIPTS, body: BODY };
    shell.write(out, |out, slot| match slot {
        "data" => write_data(out, report, &panels),
        "origin" => write_origin(out, report),
        "remarks" => write_remarks(out, report.remarks),
        "comparison" => write_sections(out, "sections", std::slice::from_ref(report.comparison)),
        // A table with many columns needs the full width of the page.
        "wide" if report.comparison.columns.len() > 4 => out.write_all(b" wide"),
        "wide" => Ok(()),
        "phases" => phase_strip::write_legend(out, report.policies),
        "panels" => panels.write(out),
        "reduced" => out.write_all(note(&panels).as_bytes()),
        "sections" => write_sections(out, "sections", report.sections),
        other => unreachable!("the page template has no slot {other}"),
    })
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

/// Returns an explanation of the picture.
fn note(panels: &Panels<'_>) -> String {
    let shades = if panels.is_reduced() {
        " The log is long, so each column is a period: the dark part shows its minimum, the paler part its mean, the palest part its maximum."
    } else {
        ""
    };
    let origin = if panels.is_present() { "now" } else { "the first submission" };
    let rest = panels.rest().map_or(String::new(), |seconds| {
        format!(" The picture is cut off soon after the last start; the last job ends {} from now.", duration(seconds))
    });
    format!(
        "Time counts from {origin}. The axis of busy processors is the same for all policies; the axis of waiting jobs ends at the longest queue of its policy.{rest}{shades}"
    )
}

/// Data for the script: the series, and the chart if all policies have schedules.
#[derive(Serialize)]
struct Data<'a> {
    panels: panels::Data<'a>,
    chart: Option<ChartData<'a>>,
    week: Option<i64>,
}

fn write_data(out: &mut impl Write, report: &SimulationReport<'_>, panels: &Panels<'_>) -> io::Result<()> {
    let all = report.policies.iter().map(|policy| {
        let schedule = policy.schedule?;
        Some(NamedSchedule { name: policy.name, schedule })
    });
    let schedules = all.collect::<Option<Vec<_>>>().unwrap_or_default();
    let marks: Vec<Marks> = report.policies.iter().map(|policy| policy.marks.clone()).collect();
    let (title, instance) = (report.title, report.instance);
    let choose = schedules.len() > 3;
    let charted =
        ChartContent { title, instance, schedules: &schedules, marks: &marks, bounds: &[], choose, run: None };
    let chart = (!schedules.is_empty()).then(|| ChartData::new(charted));
    write_json(out, &Data { panels: panels.data(), chart, week: report.week })
}
