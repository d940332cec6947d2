//! Writes a self-contained HTML page about bags on a tree: their steady state, or measured rates.

use std::io::{self, Write};

use makespan_core::Instance;
use makespan_core::tree::{Application, Rates, TreeProblem, float_of, link_load};
use serde::Serialize;

use super::cards::{ReportCard, write_card, write_remarks, write_sections};
use super::data::write_json;
use super::shell::Shell;
use super::{CHART_SCRIPT, STYLE, Section};
use crate::gantt::escape::Text;
use crate::gantt::summary::grouped;
use crate::tree_plan::{FULL, shares};

/// Content of the page.
#[derive(Clone, Copy, Debug)]
pub struct TreeReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// Line below the heading.
    pub summary: &'a str,
    /// The instance.
    pub instance: &'a Instance,
    /// The instance as a problem on a tree.
    pub problem: &'a TreeProblem,
    /// Pictures of the tree, each with the rates at which nodes compute tasks.
    pub pictures: &'a [TreePicture<'a>],
    /// True if the rates of the pictures are means over whole runs, including the slow begin and end.
    pub measured: bool,
    /// Remarks for the user, one sentence each.
    pub remarks: &'a [String],
    /// Sections after the pictures.
    pub sections: &'a [Section],
}

/// A picture of the tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePicture<'a> {
    /// Title at the head of the picture.
    pub title: &'a str,
    /// Name of the picture in comparisons with other pictures.
    pub name: &'a str,
    /// Rates at which the nodes compute tasks.
    pub rates: &'a Rates,
}

/// Script of the page. Each part uses names of the preceding parts.
const SCRIPTS: [&str; 2] = [CHART_SCRIPT, include_str!("../../assets/tree.js")];
const BODY: &str = include_str!("../../assets/tree.html");

/// Data for the script. Nodes are indices into the platform. Each column of a picture has one entry per node.
#[derive(Serialize)]
struct TreeData<'a> {
    title: &'a str,
    applications: Vec<&'a str>,
    names: Vec<&'a str>,
    /// Parent of each node, or -1 for the root.
    parents: Vec<i64>,
    /// 1 for a node that computes, 0 for a switch.
    computes: Vec<u8>,
    /// Nodes in an order in which parents precede their children.
    order: &'a [usize],
    pictures: Vec<PictureData<'a>>,
}

#[derive(Serialize)]
struct PictureData<'a> {
    title: &'a str,
    /// Share of the node's capacity that each application uses, by node and application.
    shares: Vec<f64>,
    /// Tasks per second, by node and application.
    tasks: Vec<f64>,
    /// Share of time in which the link from the parent is busy, for each node.
    links: Vec<f64>,
}

impl<'a> TreeData<'a> {
    fn new(report: &TreeReport<'a>) -> Self {
        let TreeReport { title, instance, problem, pictures, .. } = *report;
        let nodes = problem.nodes();
        Self {
            title,
            applications: problem.applications().iter().map(|app| &*instance.job(app.job).name).collect(),
            names: instance.platform().nodes().iter().map(|node| &*node.name).collect(),
            parents: nodes.iter().map(|node| node.parent.map_or(-1, |parent| parent as i64)).collect(),
            computes: nodes.iter().map(|node| u8::from(node.computes())).collect(),
            order: problem.order(),
            pictures: pictures.iter().map(|picture| PictureData::new(problem, picture)).collect(),
        }
    }
}

impl<'a> PictureData<'a> {
    fn new(problem: &TreeProblem, picture: &TreePicture<'a>) -> Self {
        let TreePicture { title, rates, .. } = *picture;
        let flows = rates.flows(problem);
        let link =
            |node: usize| problem.nodes()[node].parent.map_or(0.0, |_| float_of(&link_load(problem, &flows, node)));
        Self {
            title,
            shares: shares(problem, rates),
            tasks: rates.all().iter().map(float_of).collect(),
            links: (0..problem.nodes().len()).map(link).collect(),
        }
    }

    /// Returns the number of nodes that send to their children all the time, and the mean share of time in which
    /// processors are busy. In the mean, all computing nodes have equal weight.
    fn loads(&self, problem: &TreeProblem) -> (usize, f64) {
        let nodes = problem.nodes();
        let sends = |node: usize| problem.children(node).iter().map(|&child| self.links[child]).sum::<f64>();
        let saturated = (0..nodes.len()).filter(|&node| sends(node) >= FULL).count();
        let computing = nodes.iter().filter(|node| node.computes()).count().max(1);
        (saturated, self.shares.iter().sum::<f64>() / computing as f64)
    }
}

/// Returns the values at the head of the page. If there are several pictures, each value is the range over all
/// pictures, followed by a line for each picture.
fn cards(report: &TreeReport<'_>, data: &TreeData<'_>) -> Vec<ReportCard> {
    let problem = report.problem;
    let many = report.pictures.len() > 1;
    let card = |label: &str, line: &str, value: &dyn Fn(usize) -> f64, text: &dyn Fn(f64) -> String| {
        let all: Vec<f64> = (0..report.pictures.len()).map(value).collect();
        let named =
            report.pictures.iter().zip(&all).map(|(picture, &value)| format!("{}: {}", picture.name, text(value)));
        let lines = [line.to_owned()].into_iter().chain(named.filter(|_| many)).collect();
        // The value is the range over all pictures, because all pictures are equally important.
        let ends = [f64::min, f64::max].map(|end| text(all.iter().copied().reduce(end).unwrap_or_default()));
        let value = if ends[0] == ends[1] { ends[0].clone() } else { ends.join(" to ") };
        ReportCard { label: label.to_owned(), value, badge: None, lines }
    };
    if report.pictures.is_empty() {
        return Vec::new();
    }
    let applications = problem.applications();
    let throughput = |at: usize| {
        let rates = report.pictures[at].rates;
        let of = |(at, app): (usize, &Application)| {
            let all: f64 = (0..problem.nodes().len()).map(|node| float_of(rates.of(node, at))).sum();
            all / float_of(&app.weight)
        };
        applications.iter().enumerate().map(of).fold(f64::INFINITY, f64::min)
    };
    let loads: Vec<(usize, f64)> = data.pictures.iter().map(|picture| picture.loads(problem)).collect();
    let at_work = |at: usize| {
        let apps = applications.len();
        data.pictures[at].shares.chunks(apps.max(1)).filter(|shares| shares.iter().any(|share| *share > 0.0)).count()
    };
    let computing = problem.nodes().iter().filter(|node| node.computes()).count();
    let (throughput_word, rates) = if report.measured {
        ("throughput of the whole run", "weighted tasks per second, including the slower beginning and end")
    } else {
        ("fair throughput", "weighted tasks per second, by the rates below")
    };
    let counted = |count: usize| grouped(count as f64);
    vec![
        card(throughput_word, rates, &throughput, &|value| format!("{value:.3}")),
        card("processors busy", "mean over the nodes with processors", &|at| loads[at].1, &|value| {
            format!("{:.1} %", 100.0 * value)
        }),
        card(
            "nodes at work",
            &format!("of {} with processors", counted(computing)),
            &|at| at_work(at) as f64,
            &grouped,
        ),
        card("ports that send all the time", "sending all the time", &|at| loads[at].0 as f64, &grouped),
        ReportCard {
            label: "applications".to_owned(),
            value: counted(applications.len()),
            badge: None,
            lines: vec![format!("on {} nodes", counted(problem.nodes().len()))],
        },
    ]
}

/// Writes the page of a tree.
///
/// # Errors
/// Errors of the writer.
pub fn write_tree(out: &mut impl Write, report: &TreeReport<'_>) -> io::Result<()> {
    let data = TreeData::new(report);
    let shell = Shell { title: report.title, styles: &[STYLE], scripts: &SCRIPTS, body: BODY };
    shell.write(out, |out, slot| match slot {
        "data" => write_json(out, &data),
        "origin" => write!(out, "<span>{}</span>", Text(report.summary)),
        "cards" => cards(report, &data).iter().try_for_each(|card| write_card(out, card)),
        "remarks" => write_remarks(out, report.remarks),
        "sections" => write_sections(out, "sections", report.sections),
        other => unreachable!("the page template has no slot {other}"),
    })
}
