//! Writes a self-contained HTML page about the queue of a cluster. The page shows which jobs run on the nodes, which
//! jobs are expected to follow, and why jobs wait.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::cards::write_remarks;
use super::data::{AvailabilitySteps, Period, write_json};
use super::pack::PackedBytes;
use super::shell::Shell;
use super::{CHART_SCRIPT, STYLE};
use crate::gantt::escape::Text;
use crate::gantt::summary::grouped;

/// Number of rows of a table that are shown at first. The user can request all rows, but a browser takes seconds to
/// lay out ten thousand rows.
const SHOWN: usize = 300;

const BODY: &str = include_str!("../../assets/queue.html");
const OWN_STYLE: &str = include_str!("../../assets/queue.css");
const SCRIPTS: [&str; 2] = [CHART_SCRIPT, include_str!("../../assets/queue.js")];

/// Content of a page. All instants are in seconds after the snapshot of the queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Facts for the line below the title, in their order.
    pub origin: &'a [String],
    /// Nodes, in the order of their processors.
    pub nodes: &'a [QueueNode],
    /// Running and waiting jobs, in the order of the tables.
    pub jobs: &'a [QueuedJob],
    /// Reservations of processors.
    pub reserved: &'a [ReservedProcessors],
    /// End of the period that the bars in the table show, and that the chart shows initially.
    pub until: i64,
    /// Text for `until`.
    pub until_words: &'a str,
    /// Remarks for the user, one sentence each.
    pub remarks: &'a [String],
}

/// A node of the cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueNode {
    /// Name of the node.
    pub name: String,
    /// Number of processors. The processors of all nodes are numbered consecutively.
    pub processors: u32,
    /// Reason why the node accepts no jobs, if it accepts none.
    pub away: Option<String>,
}

/// Processors of a reservation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReservedProcessors {
    /// Description of the reservation: its name and period.
    pub text: String,
    /// Begin of the reservation.
    pub start: i64,
    /// End of the reservation.
    pub end: i64,
    /// Processor intervals, each with its first and last processor.
    pub processors: Vec<(u32, u32)>,
}

/// A running or waiting job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedJob {
    /// Job number as the cluster shows it.
    pub id: String,
    /// Name of the job.
    pub name: String,
    /// Name of the user who submitted the job.
    pub user: String,
    /// Partition in which the job runs, or partitions in which it may run.
    pub partition: String,
    /// Number of nodes that the job uses or requests.
    pub nodes: String,
    /// Time limit of the job.
    pub limit: String,
    /// True if the job is running.
    pub runs: bool,
    /// True if the job is in a table, and false if it is only in the chart.
    pub is_listed: bool,
    /// Real or expected start, or `None` if no start can be predicted.
    pub start: Option<i64>,
    /// Expected end.
    pub end: Option<i64>,
    /// Date and time of the start.
    pub starts: String,
    /// Date and time of the end.
    pub ends: String,
    /// Earliest and latest predicted start.
    pub spread: Option<(i64, i64)>,
    /// Dates and times of `spread`.
    pub between: String,
    /// Processor intervals, each with its first and last processor. A job without processors is not in the chart.
    pub processors: Vec<(u32, u32)>,
    /// Jobs that must end before this job starts, as indices into the jobs of the report.
    pub after: Vec<usize>,
    /// Reason why the job does not start now.
    pub why: String,
    /// Possible remedy.
    pub remedy: Option<String>,
}

/// Data for the script, in the form that all charts use, for a cluster in operation.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    title: &'a str,
    processors: u32,
    per_second: u32,
    live: bool,
    /// Instant of the snapshot ("now").
    origin: i64,
    home: (f64, f64),
    begin: i64,
    end: i64,
    nodes: Vec<(String, u32, u32)>,
    resources: [(); 0],
    bound: Option<f64>,
    users: Vec<&'a str>,
    unavailable: Vec<Period>,
    open: AvailabilitySteps,
    jobs: Jobs,
    edges: Option<PackedBytes>,
    choose: bool,
    schedules: [DrawnQueue<'a>; 1],
}

#[derive(Serialize)]
struct Jobs {
    count: usize,
    names: Vec<String>,
    weight: Weight,
    user: Vec<usize>,
}

/// Weight of all jobs. All weights are equal, because a queue has no weights.
#[derive(Serialize)]
struct Weight {
    values: [u32; 1],
    rows: &'static str,
}

#[derive(Serialize)]
struct DrawnQueue<'a> {
    name: &'static str,
    makespan: i64,
    count: usize,
    marks: [(); 0],
    guesses: [(); 0],
    outcomes: [(); 0],
    deadlines: [(); 0],
    groups: [(); 0],
    held: [(); 0],
    boxes: Vec<Rectangle<'a>>,
    states: Vec<&'static str>,
    texts: Vec<Vec<(&'static str, &'a str)>>,
    keys: Vec<&'a str>,
}

#[derive(Serialize)]
struct Rectangle<'a> {
    row: usize,
    start: i64,
    end: i64,
    processors: &'a [(u32, u32)],
}

impl QueuedJob {
    /// Returns the start and the end of the job, if both are known.
    pub fn period(&self) -> Option<(i64, i64)> {
        self.start.zip(self.end)
    }

    /// Returns the period that the chart shows, which is at least one second long.
    fn drawn(&self) -> Option<(i64, i64)> {
        let (start, end) = self.period().filter(|_| !self.processors.is_empty())?;
        Some((start, end.max(start.saturating_add(1))))
    }

    fn state(&self) -> &'static str {
        if self.runs { "running" } else { "waiting" }
    }

    fn told(&self) -> Vec<(&'static str, &str)> {
        let mut told = vec![("user", &*self.user), ("state", if self.runs { "runs" } else { "waits" })];
        told.extend([(if self.runs { "started" } else { "starts" }, &*self.starts)]);
        if self.spread.is_some() {
            told.push(("between", &self.between));
        }
        told.extend([("ends about", &*self.ends), ("limit", &self.limit), ("partition", &self.partition)]);
        told.push(("nodes", &self.nodes));
        if !self.why.is_empty() {
            told.push(("why not now", &self.why));
        }
        told
    }
}

impl<'a> Data<'a> {
    fn new(report: &QueueReport<'a>) -> Self {
        let QueueReport { title, nodes, reserved, until, .. } = *report;
        // The chart requires placements in the order of their starts.
        let mut order: Vec<(i64, i64, usize)> = report
            .jobs
            .iter()
            .enumerate()
            .filter_map(|(at, job)| job.drawn().map(|(start, end)| (start, end, at)))
            .collect();
        order.sort_unstable();
        let jobs: Vec<&QueuedJob> = order.iter().map(|&(.., at)| &report.jobs[at]).collect();
        let users: Vec<&str> = jobs.iter().map(|job| &*job.user).collect::<BTreeSet<_>>().into_iter().collect();
        let mut positions = vec![None; report.jobs.len()];
        order.iter().enumerate().for_each(|(row, &(.., at))| positions[at] = Some(row));
        let mut edges = PackedBytes::default();
        for (row, job) in jobs.iter().enumerate() {
            let before: Vec<usize> =
                job.after.iter().filter_map(|&at| positions[at]).filter(|&one| one < row).collect();
            edges.number(before.len() as u64);
            before.into_iter().for_each(|one| edges.signed(row as i64 - one as i64));
        }
        let boxes: Vec<Rectangle<'_>> = order
            .iter()
            .zip(&jobs)
            .enumerate()
            .map(|(row, (&(start, end, _), job))| Rectangle { row, start, end, processors: &job.processors })
            .collect();
        let end = order.iter().map(|one| one.1).max().unwrap_or(0).max(until);
        let begin = order.first().map_or(0, |one| one.0).min(0);
        let margin = until as f64 / 12.0;
        let mut first = 0;
        let (mut numbered, mut unavailable, mut away) = (Vec::new(), Vec::new(), 0);
        for node in nodes.iter().filter(|node| node.processors > 0) {
            numbered.push((node.name.clone(), first, node.processors));
            if let Some(why) = &node.away {
                let processors = vec![first, first + node.processors - 1];
                unavailable.push(Period { start: 0.0, end: end as f64, processors, why: Some(why.clone()) });
                away += node.processors;
            }
            first += node.processors;
        }
        unavailable.extend(reserved.iter().map(|one| Period {
            start: one.start as f64,
            end: one.end as f64,
            processors: one.processors.iter().flat_map(|&(first, last)| [first, last]).collect(),
            why: Some(one.text.clone()),
        }));
        Self {
            title,
            processors: first,
            per_second: 1,
            live: true,
            origin: 0,
            home: (-margin, until as f64 + margin / 4.0),
            begin: begin.min(-(margin as i64)),
            end,
            nodes: numbered,
            resources: [],
            bound: None,
            unavailable,
            open: AvailabilitySteps { time: vec![0.0], processors: vec![first - away] },
            edges: Some(edges),
            choose: false,
            schedules: [DrawnQueue {
                name: "queue",
                makespan: end,
                count: boxes.len(),
                marks: [],
                guesses: [],
                outcomes: [],
                deadlines: [],
                groups: [],
                held: [],
                boxes,
                states: jobs.iter().map(|job| job.state()).collect(),
                texts: jobs.iter().map(|job| job.told()).collect(),
                keys: jobs.iter().map(|job| &*job.id).collect(),
            }],
            jobs: Jobs {
                count: jobs.len(),
                names: jobs.iter().map(|job| format!("{} {}", job.id, job.name)).collect(),
                weight: Weight { values: [1], rows: "" },
                user: jobs.iter().map(|job| users.partition_point(|user| **user < *job.user)).collect(),
            },
            users,
        }
    }
}

/// Writes the page of a queue.
///
/// # Errors
/// Errors of the writer.
pub fn write_queue(out: &mut impl Write, report: &QueueReport<'_>) -> io::Result<()> {
    let shell = Shell { title: report.title, styles: &[STYLE, OWN_STYLE], scripts: &SCRIPTS, body: BODY };
    shell.write(out, |out, slot| match slot {
        "data" => write_json(out, &Data::new(report)),
        "origin" => report.origin.iter().try_for_each(|line| write!(out, "<span>{}</span> ", Text(line))),
        "remarks" => write_remarks(out, report.remarks),
        "until" => write!(out, "{}", Text(report.until_words)),
        "waiting" => listed(report, false).try_for_each(|(job, is_shown)| waiting(out, job, is_shown, report.until)),
        "running" => listed(report, true).try_for_each(|(job, is_shown)| running(out, job, is_shown, report.until)),
        "more-waiting" => more(out, listed(report, false).count()),
        "more-running" => more(out, listed(report, true).count()),
        other => unreachable!("the page template has no slot {other}"),
    })
}

/// Returns the jobs of a table. The second value is true if the job is shown at first.
fn listed<'a>(report: &QueueReport<'a>, runs: bool) -> impl Iterator<Item = (&'a QueuedJob, bool)> {
    let jobs = report.jobs.iter().filter(move |job| job.is_listed && job.runs == runs);
    jobs.enumerate().map(|(at, job)| (job, at < SHOWN))
}

/// Writes a note if the table has more rows than are shown.
fn more(out: &mut impl Write, count: usize) -> io::Result<()> {
    if count <= SHOWN {
        return Ok(());
    }
    let count = grouped(count as f64);
    write!(
        out,
        "<p class=\"hint more-rows\">The first {SHOWN} of {count}. <button type=\"button\">Show all</button></p>"
    )
}

fn waiting(out: &mut impl Write, job: &QueuedJob, is_shown: bool, until: i64) -> io::Result<()> {
    head(out, job, is_shown)?;
    let (limit, starts, between) = (Text(&job.limit), Text(&job.starts), Text(&job.between));
    write!(out, "<td class=\"t more\">{limit}<td class=t>{starts}<td class=\"t more\">{between}")?;
    bars(out, until, job, job.spread)?;
    write!(out, "<td class=why>{}", Text(&job.why))?;
    job.remedy.as_ref().map_or(Ok(()), |remedy| write!(out, "<br><small>{}</small>", Text(remedy)))?;
    writeln!(out, "</tr>")
}

fn running(out: &mut impl Write, job: &QueuedJob, is_shown: bool, until: i64) -> io::Result<()> {
    head(out, job, is_shown)?;
    write!(out, "<td class=\"t more\">{}<td class=t>{}", Text(&job.starts), Text(&job.ends))?;
    bars(out, until, job, None)?;
    writeln!(out, "</tr>")
}

/// Writes the first cells of a row. On a phone, the job number and the user are side by side, and the name and the
/// partition are omitted.
fn head(out: &mut impl Write, job: &QueuedJob, is_shown: bool) -> io::Result<()> {
    let hidden = if is_shown { "" } else { " hidden" };
    write!(out, "<tr data-job=\"{}\"{hidden}>", Text(&job.id))?;
    let cells = [
        ("job", &job.id),
        ("user", &job.user),
        ("name more", &job.name),
        ("more", &job.partition),
        ("nodes", &job.nodes),
    ];
    cells.iter().try_for_each(|(class, text)| write!(out, "<td class=\"{class}\" title=\"{0}\">{0}", Text(text)))
}

/// Draws bars for the spread of the start and for the period of a job. Coordinates are in thousandths of the shown
/// period. Bars are clipped at the end of the shown period. If the job starts after this end, a text replaces the
/// bars. The bars are an SVG, because the page's Content-Security-Policy forbids style attributes.
fn bars(out: &mut impl Write, until: i64, job: &QueuedJob, spread: Option<(i64, i64)>) -> io::Result<()> {
    let part = |at: i64| (at as f64 / until.max(1) as f64 * 1000.0).clamp(0.0, 1000.0);
    write!(out, "<td class=when>")?;
    let periods = [("w", spread), ("r", job.period())];
    let mut shown =
        periods.iter().filter_map(|(class, period)| Some((class, (*period)?))).filter(|one| one.1.0 < until).peekable();
    if shown.peek().is_some() {
        write!(out, "<svg viewBox=\"0 0 1000 13\" preserveAspectRatio=none aria-hidden=true>")?;
        for (class, (from, to)) in shown {
            let (left, right) = (part(from), part(to));
            let width = (right - left).max(4.0).min(1000.0 - left);
            write!(out, "<rect class={class} x=\"{left:.1}\" width=\"{width:.1}\" height=13 />")?;
        }
        write!(out, "</svg>")?;
    }
    if job.start.is_some_and(|start| start >= until) {
        write!(out, "<span class=later>later, at {} \u{2192}</span>", Text(&job.starts))?;
    }
    Ok(())
}
