//! One self-contained HTML page about a schedule, or about a plan and what happened.
//!
//! The page loads nothing: its data, style and script are inside, and its Content-Security-Policy forbids connections
//! and any script but its own. User text reaches the page escaped or as JSON that the script shows as text only.

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

use makespan_core::{Bound, Instance, Objective};

use crate::gantt::escape::Text;
use crate::gantt::{Marks, NamedSchedule};
use crate::plot::Figure;
use data::{ChartData, Charted};
use shell::Shell;

pub use queue::{QueueNode, QueueReport, QueuedJob, Reserved, write_queue};
pub use run::{Attempt, RunDetails};
pub use tree::{TreePicture, TreeReport, write_tree};

pub use simulation::{Level, PolicyPanel, SimulationReport, write_simulation};

const BODY: &str = include_str!("../../assets/report.html");
const STYLE: &str = concat!(include_str!("../../assets/report.css"), include_str!("../../assets/chart.css"));
/// The chart of every page, in the order of its parts: each uses names of those before it.
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
/// As a part of a script.
const CHART_SCRIPT: &str = chart!("");
/// The chart as a module of its own, for pages of other crates. It exports the classes `Chart` and `Model`.
pub const CHART_MODULE: &str = chart!("export { Chart, Model };\n");
/// The style of the chart. It uses the colours `--card`, `--ink`, `--soft`, `--line`, `--field`, `--rule`, `--hatch`, `--busy`,
/// `--lane`, `--second`, `--bound`, `--accent`, `--missed` and, for more than two schedules, `--good` of the page.
pub const CHART_STYLE: &str = include_str!("../../assets/chart.css");
/// The style of all pages, for those of other crates: head, cards, tables that scroll inside their frames, light and dark.
pub const PAGE_STYLE: &str = include_str!("../../assets/report.css");
/// The script of the page of a plan. Each part uses names of those before it.
const SCRIPTS: [&str; 4] = [
    CHART_SCRIPT,
    include_str!("../../assets/table.js"),
    include_str!("../../assets/report.js"),
    include_str!("../../assets/probe.js"),
];

/// What a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// The problem.
    pub instance: &'a Instance,
    /// One schedule, or alternatives, or what happened in a run and perhaps its plan. All placements are of jobs of the
    /// instance.
    pub schedules: &'a [NamedSchedule<'a>],
    /// Spec of the algorithm that made the schedule.
    pub algorithm: &'a str,
    /// Objectives that the algorithm minimises, or an empty list if they are unknown.
    pub minimised: &'a [Objective],
    /// Its seed.
    pub seed: u64,
    /// What is pointed out in each schedule, in their order; nothing in those beyond its end.
    pub marks: &'a [Marks],
    /// Proven bounds on the first schedule, or on the plan of a run.
    pub bounds: &'a [Bound],
    /// What the user should know, one sentence each.
    pub remarks: &'a [String],
    /// Tables after the schedule, in this order.
    pub sections: &'a [Section],
    /// Whether the schedules are alternatives, of which the chart shows one at a time: the points of a front.
    pub choose: bool,
    /// Facts about a run, if the first schedule is what happened in it.
    pub run: Option<&'a RunDetails>,
}

/// A titled table under the schedule, and a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// A paragraph before the table; may be empty.
    pub text: String,
    /// Headings of the columns; no table when there is none.
    pub columns: Vec<String>,
    /// Cells, row by row.
    pub rows: Vec<Vec<String>>,
    /// Whether the cells are words, which stand left, and not figures.
    pub words: bool,
    /// Drawn before the table.
    pub figure: Option<Figure>,
    /// Whether it stands before the schedule.
    pub first: bool,
    /// Of each row the schedule that the chart shows when the row is pressed, as a position among those of the report; empty where
    /// rows are not about schedules.
    pub schedules: Vec<usize>,
}

impl<'a> Report<'a> {
    /// Returns the schedule that has the objectives and bounds, if there is one: the only one, the first alternative, or
    /// the plan of a run.
    fn plan(&self) -> Option<&'a NamedSchedule<'a>> {
        self.schedules.get(usize::from(self.run.is_some()))
    }

    /// Returns what happened in a run.
    fn happened(&self) -> Option<&'a NamedSchedule<'a>> {
        self.schedules.first().filter(|_| self.run.is_some())
    }

    fn charted(&self) -> Charted<'a> {
        let Self { title, instance, schedules, marks, bounds, choose, run, .. } = *self;
        Charted { title, instance, schedules, marks, bounds, choose, run }
    }
}

/// Writes the page.
///
/// # Errors
/// Those of the writer.
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
