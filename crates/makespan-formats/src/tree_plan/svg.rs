//! Draws a tree with its loads as SVG.
//!
//! Nodes are below their parents, and the width of a subtree depends on its number of leaves. A node is a box, filled
//! with the colours of the applications in proportion to the busy time of its processors. The width and darkness of a
//! link show its busy time. A port that is always busy is red.

use std::io::{self, BufWriter, Write};

use makespan_core::Instance;
use makespan_core::tree::{Rates, TreeProblem, float_of, link_load};

use crate::gantt::escape::{PixelCoordinate, Text, fitting};
use crate::gantt::scheme::COLOURS;

/// Width of a leaf in pixels if there is space for names.
const CELL: f64 = 92.0;
/// Minimum width of a leaf, in pixels.
const LEAST: f64 = 3.0;
/// Maximum width of a tree with named nodes, in pixels.
const WIDE: f64 = 1600.0;
const ROW: f64 = 96.0;
const TOP: f64 = 74.0;
const MARGIN: f64 = 20.0;
const BOX: [f64; 2] = [84.0, 40.0];
const INK: &str = "#1b1f24";
const IDLE: &str = "#f1f2f0";
const SATURATED: &str = "#c81e1e";
/// Share of busy time above which a port or processor is drawn as saturated. The value is below 1, because floats only
/// approximate the exact values.
pub(crate) const FULL: f64 = 1.0 - 1e-9;

/// Data for drawing the nodes.
struct Drawing<'a> {
    instance: &'a Instance,
    problem: &'a TreeProblem,
    /// Horizontal centre and upper edge of each node's box.
    places: Vec<[f64; 2]>,
    size: [f64; 2],
    /// Share of time in which the link from each node's parent is busy.
    links: Vec<f64>,
    /// Share of each node's capacity that each application uses, by node and application.
    shares: Vec<f64>,
}

/// Draws the tasks that nodes compute, and the busy time of links.
///
/// # Errors
/// Errors of the writer.
pub fn write_tree_svg(
    out: &mut impl Write,
    instance: &Instance,
    problem: &TreeProblem,
    rates: &Rates,
    title: &str,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let (places, cell, [width, height]) = places(problem);
    let size = [(cell - 8.0).clamp(2.0, BOX[0]), if cell < CELL { 14.0 } else { BOX[1] }];
    let flows = rates.flows(problem);
    let links = (0..places.len()).map(|node| match problem.nodes()[node].parent {
        Some(_) => float_of(&link_load(problem, &flows, node)),
        None => 0.0,
    });
    let links = links.collect();
    let drawing = Drawing { instance, problem, places, size, links, shares: shares(problem, rates) };
    let (w, h) = (PixelCoordinate(width), PixelCoordinate(height));
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="{INK}">"#
    )?;
    writeln!(out, "<title>{}</title>", Text(title))?;
    writeln!(out, r##"<rect width="{w}" height="{h}" fill="#fff"/>"##)?;
    writeln!(out, r#"<text x="{MARGIN}" y="24" font-size="15" font-weight="600">{}</text>"#, Text(title))?;
    drawing.legend(&mut out, width)?;
    for &node in problem.order() {
        drawing.link(&mut out, node)?;
    }
    for &node in problem.order() {
        drawing.node(&mut out, node)?;
    }
    writeln!(out, "</svg>")?;
    out.flush()
}

/// Returns the position of each node, the width of a leaf, and the size of the picture, in pixels.
fn places(problem: &TreeProblem) -> (Vec<[f64; 2]>, f64, [f64; 2]) {
    let nodes = problem.nodes().len();
    let mut leaves = vec![0_usize; nodes];
    for &node in problem.order().iter().rev() {
        leaves[node] = leaves[node].max(1);
        if let Some(parent) = problem.nodes()[node].parent {
            leaves[parent] += leaves[node];
        }
    }
    let all = leaves[problem.root()] as f64;
    let cell = if all * CELL <= WIDE { CELL } else { (WIDE / all).max(LEAST) };
    let (mut first, mut depth) = (vec![0_usize; nodes], vec![0_usize; nodes]);
    for &node in problem.order() {
        let mut next = first[node];
        for &child in problem.children(node) {
            (first[child], depth[child]) = (next, depth[node] + 1);
            next += leaves[child];
        }
    }
    let deepest = depth.iter().copied().max().unwrap_or(0) as f64;
    let middle = |node: usize| MARGIN + (first[node] as f64 + leaves[node] as f64 / 2.0) * cell;
    let row = if deepest * ROW > 4000.0 { (4000.0 / deepest).max(4.0) } else { ROW };
    let places = (0..nodes).map(|node| [middle(node), TOP + depth[node] as f64 * row]).collect();
    let width = (all * cell + 2.0 * MARGIN).max(420.0);
    (places, cell, [width, TOP + deepest * row + BOX[1] + MARGIN])
}

/// Returns the share of each node's capacity that each application uses, by node and application.
pub(crate) fn shares(problem: &TreeProblem, rates: &Rates) -> Vec<f64> {
    let applications = problem.applications();
    let share = |node: usize| {
        let capacity = float_of(&problem.capacity(node));
        let works = applications.iter().enumerate();
        works.map(move |(at, app)| float_of(rates.of(node, at)) * float_of(&app.work) / capacity.max(f64::MIN_POSITIVE))
    };
    (0..problem.nodes().len()).flat_map(share).collect()
}

impl Drawing<'_> {
    fn legend(&self, out: &mut impl Write, width: f64) -> io::Result<()> {
        let mut x = MARGIN;
        for (at, job) in self.instance.jobs().iter().enumerate() {
            let Some(name) = fitting(&job.name, 12.0, 140.0) else { continue };
            let next = x + 34.0 + name.chars().count() as f64 * 7.5;
            if next > width - MARGIN {
                break;
            }
            let colour = COLOURS[at % (COLOURS.len() - 1)];
            write!(out, r#"<rect x="{}" y="38" width="14" height="12" fill="{colour}"/>"#, PixelCoordinate(x))?;
            writeln!(out, r#"<text x="{}" y="48">{}</text>"#, PixelCoordinate(x + 19.0), Text(&name))?;
            x = next;
        }
        Ok(())
    }

    fn link(&self, out: &mut impl Write, node: usize) -> io::Result<()> {
        let Some(parent) = self.problem.nodes()[node].parent else { return Ok(()) };
        let load = self.links[node].clamp(0.0, 1.0);
        let ([x1, y1], [x2, y2]) = (self.places[parent], self.places[node]);
        let colour = match load {
            0.0 => "#d9dcdf",
            _ if self.port(parent) >= FULL => SATURATED,
            _ => "#59636e",
        };
        let name = Text(&self.instance.platform().nodes()[node].name).to_string();
        writeln!(
            out,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="{colour}" stroke-width="{}"><title>link to {name}: {:.1} % of the time</title></line>"#,
            PixelCoordinate(x1),
            PixelCoordinate(y1 + self.size[1]),
            PixelCoordinate(x2),
            PixelCoordinate(y2),
            PixelCoordinate(1.0 + 7.0 * load),
            100.0 * load
        )
    }

    /// Returns the share of time in which a node sends.
    fn port(&self, node: usize) -> f64 {
        self.problem.children(node).iter().map(|&child| self.links[child]).sum()
    }

    fn node(&self, out: &mut impl Write, node: usize) -> io::Result<()> {
        let [middle, y] = self.places[node];
        let [width, height] = self.size;
        let x = middle - width / 2.0;
        let applications = self.instance.jobs().len();
        let shares = &self.shares[node * applications..][..applications];
        let busy: f64 = shares.iter().sum();
        let one = &self.instance.platform().nodes()[node];
        let computes = self.problem.nodes()[node].computes();
        let (left, top, wide, high) =
            (PixelCoordinate(x), PixelCoordinate(y), PixelCoordinate(width), PixelCoordinate(height));
        write!(out, "<g><title>{}: ", Text(&one.name))?;
        if computes {
            write!(out, "computes {:.1} %, ", 100.0 * busy)?;
        }
        write!(out, "sends {:.1} % of the time</title>", 100.0 * self.port(node))?;
        let ground = if computes { IDLE } else { "#fff" };
        write!(out, r#"<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="{ground}"/>"#)?;
        let mut at = x;
        for (app, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let (from, part) = (PixelCoordinate(at), PixelCoordinate(share * width));
            let colour = COLOURS[app % (COLOURS.len() - 1)];
            write!(out, r#"<rect x="{from}" y="{top}" width="{part}" height="{high}" fill="{colour}"/>"#)?;
            at += share * width;
        }
        let edge = if self.port(node) >= FULL { SATURATED } else { "#9aa1a8" };
        write!(out, r#"<rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="none" stroke="{edge}"/>"#)?;
        if let Some(name) = fitting(&one.name, 12.0, width - 6.0).filter(|_| height > 30.0) {
            write!(
                out,
                r#"<text x="{}" y="{}" text-anchor="middle">{}</text>"#,
                PixelCoordinate(middle),
                PixelCoordinate(y + 17.0),
                Text(&name)
            )?;
            let load = if computes { format!("{:.0} %", 100.0 * busy) } else { "switch".into() };
            write!(
                out,
                r#"<text x="{}" y="{}" text-anchor="middle" font-size="11">{load}</text>"#,
                PixelCoordinate(middle),
                PixelCoordinate(y + 32.0)
            )?;
        }
        writeln!(out, "</g>")
    }
}
