//! The runs on a tree as one HTML page.

use std::path::Path;

use makespan::TreeRun;
use makespan_core::Time;
use makespan_core::tree::{Rates, TreeProblem};
use makespan_formats::plot::{Figure, Point, Series};
use makespan_formats::report::{Section, TreePicture, TreeReport, write_tree};
use miette::Result;

use super::report::TreeReportPage;
use crate::output::write_file;
use crate::summary::figure;

/// Maximum number of points of a line in a figure.
const POINTS: usize = 40;

/// Writes a comparison of the measures, and for each policy a picture of the mean loads and a figure of the progress.
pub fn write(path: &Path, title: &str, problem: &TreeProblem, page: &TreeReportPage<'_>) -> Result<()> {
    let rates: Vec<Rates> = page.runs.iter().map(|run| run.rates(page.scene, problem)).collect();
    let named = |run: &TreeRun| (format!("Mean loads under {}", run.heuristic), run.heuristic.to_string());
    let names: Vec<(String, String)> = page.runs.iter().map(named).collect();
    let pictures: Vec<TreePicture<'_>> =
        names.iter().zip(&rates).map(|((title, name), rates)| TreePicture { title, name, rates }).collect();
    let remarks: Vec<String> = page.runs.iter().flat_map(|run| page.remarks(run)).collect();
    let (columns, rows) = page.comparison();
    let text = format!(
        "No schedule has a larger fair throughput in the long run than {} weighted tasks a second. This is proved{}. The fair throughput of a \
         run is measured between 10\u{A0}% and 90\u{A0}% of the time at which the first application ends.",
        figure(page.scene.bound),
        page.instance.condition()
    );
    let comparison = Section { title: "Measures".into(), text, columns, rows, ..Section::default() };
    let sections: Vec<Section> =
        std::iter::once(comparison).chain(page.runs.iter().map(|run| progress(page, run))).collect();
    let report = TreeReport {
        title,
        summary: &page.headline(),
        instance: page.instance,
        problem,
        pictures: &pictures,
        measured: true,
        remarks: &remarks,
        sections: &sections,
    };
    write_file(path, |mut out| write_tree(&mut out, &report))
}

/// Returns a figure of the completed tasks of each application over time.
fn progress(page: &TreeReportPage<'_>, run: &TreeRun) -> Section {
    let line = |(job, ends): (usize, &Vec<Time>)| Series {
        name: page.instance.jobs()[job].name.clone(),
        points: done(ends, run.run.tasks[job]),
        ..Series::default()
    };
    let figure = Figure {
        title: format!("Tasks done under {}", run.heuristic),
        x_label: "seconds".into(),
        y_label: "% of the application".into(),
        series: run.run.completions.iter().enumerate().map(line).collect(),
        y_range: Some((0.0, 100.0)),
        ..Figure::default()
    };
    Section { title: format!("Progress under {}", run.heuristic), figure: Some(figure), ..Section::default() }
}

/// Returns the points of a curve: at each instant of `ends`, the share of the tasks that have ended. `ends` is
/// ascending. If there are too many instants, some in between are left out.
fn done(ends: &[Time], tasks: u64) -> Vec<Point> {
    let step = ends.len().div_ceil(POINTS).max(1);
    let counts = (1..=ends.len()).filter(|count| count % step == 0 || *count == ends.len());
    let point = |count: usize| {
        let y = 100.0 * count as f64 / tasks.max(1) as f64;
        Point { x: ends[count - 1].seconds(), y, low: y, high: y }
    };
    std::iter::once(Point::default()).chain(counts.map(point)).collect()
}
