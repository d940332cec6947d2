//! Writes a self-contained HTML page about a schedule, or about a plan and its run.
//!
//! The page contains its data, style and script, and loads nothing. Its Content-Security-Policy forbids connections,
//! and all scripts except the page's own script. Text from users is escaped, or is JSON that the script only shows as
//! text.

mod cards;
mod data;
mod pack;
mod queue;
mod run;
mod shell;
mod simulation;
#[cfg(test)]
mod tests;
mod tree;

use std::io::{self, Write};

use makespan_core::{Instance, Objective};
use makespan_verify::Bound;

use crate::gantt::escape::Text;
use crate::gantt::{Marks, NamedSchedule};
use crate::plot::Figure;
use data::{ChartContent, ChartData};
use shell::Shell;

pub use queue::{QueueNode, QueueReport, QueuedJob, ReservedProcessors, write_queue};
pub use run::{Attempt, RunDetails};
pub use tree::{TreePicture, TreeReport, write_tree};

pub use simulation::{PolicyPanel, SimulationLevel, SimulationReport, write_simulation};

const BODY: &str = include_str!("../../assets/report.html");
const STYLE: &str = concat!(include_str!("../../assets/report.css"), include_str!("../../assets/chart.css"));
/// The script of the chart on all pages. The order of the parts matters, because each part uses names of the preceding
/// parts.
macro_rules! chart {
    ($end:literal) => {
        concat!(
            include_str!("../../assets/duration.js"),
            include_str!("../../assets/pack.js"),
            include_str!("../../assets/model.js"),
            include_str!("../../assets/colours.js"),
            include_str!("../../assets/layer.js"),
            include_str!("../../assets/draw.js"),
            include_str!("../../assets/overlay.js"),
            include_str!("../../assets/moving.js"),
            include_str!("../../assets/glossary.js"),
            include_str!("../../assets/chart.js"),
            include_str!("../../assets/export.js"),
            $end
        )
    };
}
/// The chart's script, for use as a part of another script.
const CHART_SCRIPT: &str = chart!("");
/// The chart as a separate module, for pages of other crates. The module exports the classes `Chart` and `Model`.
pub const CHART_MODULE: &str = chart!("export { Chart, Model };\n");
/// Style of the chart. The page must define the colours `--card`, `--ink`, `--soft`, `--line`, `--field`, `--rule`,
/// `--hatch`, `--busy`, `--lane`, `--second`, `--bound`, `--accent` and `--missed`. For more than two schedules, it
/// must also define `--good`.
pub const CHART_STYLE: &str = include_str!("../../assets/chart.css");
/// Style of all pages, including pages of other crates: head, cards, scrolling tables, and light and dark themes.
pub const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// Script of the page of a plan. Each part uses names of the preceding parts.
const SCRIPTS: [&str; 4] = [
    CHART_SCRIPT,
    include_str!("../../assets/table.js"),
    include_str!("../../assets/report.js"),
    include_str!("../../assets/probe.js"),
];

/// Content of a page.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The instance of the schedules.
    pub instance: &'a Instance,
    /// One schedule, or several alternative schedules. On the page of a run, the first schedule contains the actual
    /// runs, and the second schedule, if any, is the plan. All placements are of tasks of `instance`.
    pub schedules: &'a [NamedSchedule<'a>],
    /// Spec of the algorithm that made the schedule.
    pub algorithm: &'a str,
    /// Objectives that the algorithm minimises, or an empty list if they are unknown.
    pub minimised: &'a [Objective],
    /// Seed of the algorithm.
    pub seed: u64,
    /// Marks for each schedule, in the order of the schedules. Schedules beyond the end of this list have no marks.
    pub marks: &'a [Marks],
    /// Proven bounds on the first schedule, or on the plan of a run.
    pub bounds: &'a [Bound],
    /// Remarks for the user, one sentence each.
    pub remarks: &'a [String],
    /// Tables after the schedule, in this order.
    pub sections: &'a [Section],
    /// True if the schedules are alternatives, such as the points of a front. The chart shows alternatives one at a
    /// time.
    pub choose: bool,
    /// Facts about a run, if the first schedule contains the actual runs.
    pub run: Option<&'a RunDetails>,
}

/// Section with a title, a table and a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Title of the section.
    pub title: String,
    /// Paragraphs before the table. May be empty.
    pub text: String,
    /// Column headings. If there are none, the section has no table.
    pub columns: Vec<String>,
    /// Cells of the table, by rows.
    pub rows: Vec<Vec<String>>,
    /// True if the cells are words, which are left-aligned, and false if they are figures.
    pub words: bool,
    /// Figure before the table.
    pub figure: Option<Figure>,
    /// True if the section is placed before the schedule.
    pub first: bool,
    /// For each row, the index of its schedule in the schedules of the report. If the user clicks the row, the chart
    /// shows this schedule. Empty if the rows are not about schedules.
    pub schedules: Vec<usize>,
}

impl<'a> Report<'a> {
    /// Returns the schedule for which the page shows objectives and bounds: the only schedule, the first alternative,
    /// or the plan of a run. Returns `None` for a run without a plan.
    fn plan(&self) -> Option<&'a NamedSchedule<'a>> {
        self.schedules.get(usize::from(self.run.is_some()))
    }

    /// Returns the actual runs, if the page is about a run.
    fn happened(&self) -> Option<&'a NamedSchedule<'a>> {
        self.schedules.first().filter(|_| self.run.is_some())
    }

    fn charted(&self) -> ChartContent<'a> {
        let Self { title, instance, schedules, marks, bounds, choose, run, .. } = *self;
        ChartContent { title, instance, schedules, marks, bounds, choose, run }
    }
}

/// Writes the page of a plan or a run.
///
/// # Errors
/// Errors of the writer.
pub fn write_html(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    let shell = Shell { title: report.title, styles: &[STYLE], scripts: &SCRIPTS, body: BODY };
    shell.write(out, |out, slot| match slot {
        "data" => data::write_json(out, &ChartData::new(report.charted())),
        "origin" => cards::write_origin(out, report),
        "cards" => cards::write_cards(out, report),
        "remarks" => cards::write_remarks(out, report.remarks),
        "first" => cards::write_sections(out, "sections first", report.sections.iter().filter(|one| one.first)),
        "chart" => write!(out, "{}", if report.run.is_some() { "When each job ran" } else { "Schedule" }),
        "sections" => cards::write_sections(out, "sections", report.sections.iter().filter(|one| !one.first)),
        "summary" => write!(out, "{}", Text(&cards::summary(report))),
        other => unreachable!("the page template has no slot {other}"),
    })
}
