//! Writes tables and profiles of a comparison. The ending of a file selects its format.

use std::io::{self, Write};
use std::path::Path;

use makespan::spec_title;
use makespan_core::Objective;
use makespan_formats::CsvNames;
use makespan_formats::performance_profile::{PerformanceProfile, figure};
use makespan_formats::plot::write_figure;
use miette::Result;

use super::comparison::{Comparison, NO_AIM};
use super::many::{Sum, Totals};
use crate::output::{draw, write_file};

/// Endings of the formats in which tables are written.
pub const TABLES: [&str; 3] = ["csv", "md", "tex"];
pub const PROFILES: [&str; 4] = ["svg", "png", "pdf", "csv"];

/// Returns the ending of a file in lower case.
fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Writes a table of the comparisons.
pub fn write_table(path: &Path, comparisons: &[Comparison]) -> Result<()> {
    match ending(path).as_str() {
        "md" => write_file(path, |out| markdown(out, &Totals::of(comparisons))),
        "tex" => write_file(path, |out| latex(out, &Totals::of(comparisons))),
        _ => write_file(path, |out| rows(out, comparisons)),
    }
}

/// Writes the performance profile of an objective.
pub fn write_profile(
    path: &Path,
    (names, profiles): &(Vec<String>, Vec<PerformanceProfile>),
    by: Objective,
) -> Result<()> {
    let named: Vec<String> = names.iter().map(|name| spec_title(name)).collect();
    match ending(path).as_str() {
        "csv" => write_file(path, |out| steps(out, names, profiles)),
        _ => draw(&[path], |mut out| write_figure(&mut out, &figure(&named, profiles, &by.to_string()))),
    }
}

/// Writes a row for each instance and algorithm. An algorithm without a plan has a row with the reason.
fn rows(out: &mut dyn Write, comparisons: &[Comparison]) -> io::Result<()> {
    let objectives = Totals::of(comparisons).objectives;
    let mut writer = csv::Writer::from_writer(out);
    let columns = objectives
        .iter()
        .flat_map(|objective| ["", "_bound", "_ratio", "_minimised"].map(|of| format!("{}{of}", objective.name())));
    let first = ["instance", "jobs", "processors", "algorithm", "seconds"].map(str::to_owned);
    writer.write_record(first.into_iter().chain(columns).chain(["left_out".to_owned()]))?;
    for one in comparisons {
        let about = |algorithm: &str| {
            let name = CsvNames::Guarded.write(&one.name).into_owned();
            vec![name, one.jobs.to_string(), one.processors.to_string(), algorithm.to_owned()]
        };
        for row in &one.rows {
            let mut cells = about(&row.algorithm);
            cells.push(row.seconds.to_string());
            for &objective in &objectives {
                let bound = one.bounds.iter().find(|(known, _)| *known == objective);
                let found = one.figure(&row.algorithm, objective);
                let value = found.and_then(|figure| figure.value.as_ref());
                cells.push(value.map_or_else(String::new, |value| value.reached(objective)));
                cells.push(bound.map_or_else(String::new, |(_, bound)| bound.decimal(objective)));
                let ratio = found.and_then(|figure| figure.ratio);
                cells.push(ratio.map_or_else(String::new, |ratio| ratio.to_string()));
                let is_minimised = found.and_then(|figure| figure.is_minimised);
                cells.push(is_minimised.map_or_else(String::new, |is_minimised| is_minimised.to_string()));
            }
            cells.push(String::new());
            writer.write_record(cells)?;
        }
        for (algorithm, reason) in &one.left_out {
            let mut cells = about(algorithm);
            cells.resize(5 + 4 * objectives.len(), String::new());
            cells.push(reason.clone());
            writer.write_record(cells)?;
        }
    }
    writer.flush()
}

fn steps(out: &mut dyn Write, names: &[String], profiles: &[PerformanceProfile]) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(["algorithm", "factor", "share"])?;
    for (name, profile) in names.iter().zip(profiles) {
        for (factor, share) in profile.steps() {
            writer.write_record([name.as_str(), &factor.to_string(), &share.to_string()])?;
        }
    }
    writer.flush()
}

/// Returns the cells of a table: the algorithm, the number of instances that the algorithm planned, and for each
/// objective the mean ratio, the largest ratio and the number of best results.
fn cells(totals: &Totals) -> Vec<Vec<String>> {
    let row = |total: &super::many::AlgorithmTotal| {
        let sums =
            total.sums.iter().flat_map(|sum| sum.as_ref().map_or_else(|| ["", "", ""].map(str::to_owned), Sum::cells));
        [spec_title(&total.algorithm), total.planned.to_string()].into_iter().chain(sums).collect()
    };
    totals.rows.iter().map(row).collect()
}

/// Returns the note below a table. Returns `None` if no value needs an explanation.
fn note(totals: &Totals) -> Option<String> {
    let is_marked = cells(totals).iter().flatten().any(|cell| cell.ends_with(NO_AIM));
    let mark = is_marked.then(|| format!("{NO_AIM} marks an objective that the algorithm does not minimise"));
    let notes: Vec<String> = totals.partial().into_iter().chain(mark).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn markdown(out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
    let columns =
        totals.objectives.iter().map(|objective| format!(" {objective}: geometric mean ratio | max | best |"));
    writeln!(out, "| algorithm | planned of {} |{}", totals.instances, columns.collect::<String>())?;
    writeln!(out, "|---|--:|{}", "--:|--:|--:|".repeat(totals.objectives.len()))?;
    for row in cells(totals) {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    note(totals).map_or(Ok(()), |note| writeln!(out, "\nNote: {note}."))
}

fn latex(out: &mut dyn Write, totals: &Totals) -> io::Result<()> {
    let count = totals.objectives.len();
    writeln!(
        out,
        "% Needs \\usepackage{{booktabs}}. Ratios are of values to proven bounds, over {} instances.",
        totals.instances
    )?;
    writeln!(out, "\\begin{{tabular}}{{lr{}}}\n\\toprule", "rrr".repeat(count))?;
    let over = totals
        .objectives
        .iter()
        .map(|objective| format!(" & \\multicolumn{{3}}{{c}}{{{}}}", tex(&objective.to_string())));
    writeln!(out, "& {} \\\\", over.collect::<String>())?;
    for at in 0..count {
        write!(out, "\\cmidrule(lr){{{}-{}}}", 3 + 3 * at, 5 + 3 * at)?;
    }
    writeln!(out, "\nalgorithm & planned{} \\\\\n\\midrule", " & geometric mean & max & best".repeat(count))?;
    for row in cells(totals) {
        let cells: Vec<String> = row.iter().map(|cell| tex(cell)).collect();
        writeln!(out, "{} \\\\", cells.join(" & "))?;
    }
    writeln!(out, "\\bottomrule")?;
    if let Some(note) = note(totals) {
        let columns = 2 + 3 * count;
        writeln!(out, "\\multicolumn{{{columns}}}{{p{{0.9\\linewidth}}}}{{\\footnotesize Note: {}.}}", tex(&note))?;
    }
    writeln!(out, "\\end{{tabular}}")
}

/// Escapes the special characters of TeX in a text.
fn tex(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '\\' => escaped += "\\textbackslash{}",
            '~' => escaped += "\\textasciitilde{}",
            '^' => escaped += "\\textasciicircum{}",
            '<' => escaped += "\\textless{}",
            '>' => escaped += "\\textgreater{}",
            '|' => escaped += "\\textbar{}",
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(c);
            }
            // Without braces, a bracket could begin or end an option.
            '[' | ']' => {
                escaped.extend(['{', c, '}']);
            }
            c if c.is_control() => escaped.push('\u{FFFD}'),
            c => escaped.push(c),
        }
    }
    escaped
}
