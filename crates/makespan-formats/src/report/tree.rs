//! One self-contained HTML page about bags on a tree: their steady state, or what happened. It has no script.

use std::io::{self, BufWriter, Write};

use makespan_core::Instance;
use makespan_core::tree::{Rates, TreeProblem};

use super::cards::{write_remarks, write_sections};
use super::{STYLE, Section, hash};
use crate::gantt::escape::Text;
use crate::tree_plan::write_tree_svg;

/// What the page shows.
#[derive(Clone, Copy, Debug)]
pub struct TreeReport<'a> {
    /// Heading of the page.
    pub title: &'a str,
    /// A line under it.
    pub summary: &'a str,
    /// The problem.
    pub instance: &'a Instance,
    /// Its view as a tree.
    pub problem: &'a TreeProblem,
    /// Who computes what, one picture after the other.
    pub pictures: &'a [TreePicture<'a>],
    /// What the user should know, one sentence each.
    pub remarks: &'a [String],
    /// Tables after the pictures.
    pub sections: &'a [Section],
}

/// One picture of the tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePicture<'a> {
    /// In its head.
    pub title: &'a str,
    /// Who computes what.
    pub rates: &'a Rates,
}

/// Writes the page.
///
/// # Errors
/// Those of the writer.
pub fn write_tree(out: &mut impl Write, report: &TreeReport<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    let style = STYLE.replace('\r', "");
    let (title, policy) = (Text(report.title), hash(&style));
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src '{policy}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n<h1><bdi>{title}</bdi></h1>\n\
         <p class=\"origin\">{}</p>\n</header>\n<main>\n",
        Text(report.summary)
    )?;
    write_remarks(&mut out, report.remarks)?;
    write!(
        out,
        "<section>\n<h2>Loads</h2>\n<p class=\"hint\">A box is filled as far as its processors are busy, in the colours of the \
         applications; a link is as thick as it is busy. Red: a port that never idles.</p>\n"
    )?;
    for picture in report.pictures {
        writeln!(out, "<figure>")?;
        write_tree_svg(&mut out, report.instance, report.problem, picture.rates, picture.title)?;
        writeln!(out, "</figure>")?;
    }
    writeln!(out, "</section>")?;
    write_sections(&mut out, report.sections)?;
    writeln!(out, "</main>\n</body>\n</html>")?;
    out.flush()
}
