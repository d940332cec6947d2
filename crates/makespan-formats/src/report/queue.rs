//! One self-contained HTML page about the queue of a cluster: what runs and is expected on its nodes, and why jobs wait.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::cards::write_remarks;
use super::data::{Period, Steps, write_json};
use super::pack::Packed;
use super::shell::Shell;
use super::{CHART_SCRIPT, STYLE};
use crate::gantt::escape::Text;
use crate::gantt::summary::grouped;

/// Rows of a table that are shown before somebody asks for all: a browser takes seconds to arrange ten thousand.
const SHOWN: usize = 300;

const BODY: &str = include_str!("../../assets/queue.html");
const OWN_STYLE: &str = include_str!("../../assets/queue.css");
const SCRIPTS: [&str; 2] = [CHART_SCRIPT, include_str!("../../assets/queue.js")];

/// What a page shows. All instants are seconds after that of the queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Figures under it, one after the other.
    pub origin: &'a [String],
    /// The nodes, in the order of their processors.
    pub nodes: &'a [QueueNode],
    /// What runs and what waits; the tables have them in this order.
    pub jobs: &'a [QueuedJob],
    /// What is reserved.
    pub reserved: &'a [Reserved],
    /// What the bars of the table show, and the chart to begin with: until when.
    pub until: i64,
    /// The same in words.
    pub until_words: &'a str,
    /// What the user should know, one sentence each.
    pub remarks: &'a [String],
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueNode {
    /// Its name.
    pub name: String,
    /// How many processors it has; they have the numbers after those of the nodes before it.
    pub processors: u32,
    /// Why it takes no jobs, if it takes none.
    pub away: Option<String>,
}

/// Processors that a reservation keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// What is said of it: its name and when it is.
    pub text: String,
    /// From when.
    pub start: i64,
    /// Until when.
    pub end: i64,
    /// First and last of each interval.
    pub processors: Vec<(u32, u32)>,
}

/// A job that runs or waits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueuedJob {
    /// Its number, as the cluster shows it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    /// Where it runs or may run.
    pub partition: String,
    /// How many nodes it has or asks for.
    pub nodes: String,
    /// How long it may run.
    pub limit: String,
    /// Whether it runs.
    pub runs: bool,
    /// Whether the tables have it, and not the chart alone.
    pub is_listed: bool,
    /// When it started or is expected to; `None` where nothing shows that it will.
    pub start: Option<i64>,
    /// When it is expected to end.
    pub end: Option<i64>,
    /// Its start on the clock.
    pub starts: String,
    /// Its end on the clock.
    pub ends: String,
    /// Its start where it is early, and where it is late.
    pub spread: Option<(i64, i64)>,
    /// The same on the clock.
    pub between: String,
    /// Its processors, first and last of each interval; without any it is not in the chart.
    pub processors: Vec<(u32, u32)>,
    /// Jobs of the report whose ends it waits for.
    pub after: Vec<usize>,
    /// Why it does not start now.
    pub why: String,
    /// What would help.
    pub remedy: Option<String>,
}

/// What the script draws: the data of the chart of all pages, of a cluster that goes on.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    title: &'a str,
    processors: u32,
    per_second: u32,
    live: bool,
    /// The instant "now".
    origin: i64,
    home: (f64, f64),
    begin: i64,
    end: i64,
    nodes: Vec<(String, u32, u32)>,
    resources: [(); 0],
    bound: Option<f64>,
    users: Vec<&'a str>,
    unavailable: Vec<Period>,
    open: Steps,
    jobs: Jobs,
    edges: Option<Packed>,
    choose: bool,
    schedules: [Drawn<'a>; 1],
}

#[derive(Serialize)]
struct Jobs {
    count: usize,
    names: Vec<String>,
    weight: Weight,
    user: Vec<usize>,
}

/// The same for all jobs: a queue has no weights.
#[derive(Serialize)]
struct Weight {
    values: [u32; 1],
    rows: &'static str,
}

#[derive(Serialize)]
struct Drawn<'a> {
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
    /// From when to when it runs, where that is known.
    pub fn period(&self) -> Option<(i64, i64)> {
        self.start.zip(self.end)
    }

    /// From when to when it is drawn, at least for a second.
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
        // A chart has its placements by start.
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
        let mut edges = Packed::default();
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
            open: Steps { time: vec![0.0], processors: vec![first - away] },
            edges: Some(edges),
            choose: false,
            schedules: [Drawn {
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

/// Writes the page.
///
/// # Errors
/// Those of the writer.
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

/// The jobs of a table, each with whether it is shown at first.
fn listed<'a>(report: &QueueReport<'a>, runs: bool) -> impl Iterator<Item = (&'a QueuedJob, bool)> {
    let jobs = report.jobs.iter().filter(move |job| job.is_listed && job.runs == runs);
    jobs.enumerate().map(|(at, job)| (job, at < SHOWN))
}

/// Says that a table has more rows than are shown.
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

/// The first cells of a row: on a phone job and user stand beside each other, and its name and partition are left out.
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

/// The spread of its start and its run as bars, in thousandths of what is shown; what is beyond that is cut off, and of a run that
/// begins there a sign says so. The policy of the page allows no styles in its elements, so the bars are a picture.
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
