//! Tables and figures on their way to the folder of results.

use std::fmt::Write as _;
use std::path::Path;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use makespan_formats::plot::{Figure, write_figure};

use crate::LabError;

/// Writes a file to the folder of results, whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, contents: &[u8]) -> Result<(), LabError> {
    Ok(makespan_formats::write_atomic(&folder.join(name), |out| out.write_all(contents))?)
}

/// CSV under a header line.
pub(crate) fn csv_table(header: &str, rows: impl Iterator<Item = Vec<String>>) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(header.split(','))
        .and_then(|()| rows.into_iter().try_for_each(|row| writer.write_record(row)));
    written.expect("writing to memory does not fail, and every row has the header's length");
    writer.into_inner().expect("flushing to memory does not fail")
}

/// A table for a terminal of 100 columns.
pub(crate) fn text_table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic).set_width(100);
    table.set_header(header).add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// A table for a Markdown page.
pub(crate) fn markdown_table<const N: usize>(header: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(N));
    for row in rows {
        let cells = row.map(|cell| cell.replace('|', "\\|"));
        let _infallible = writeln!(table, "| {} |", cells.join(" | "));
    }
    table
}

/// A figure with the name of its file: the only contact of this crate with the plotting.
pub(crate) fn figure(name: &str, figure: &Figure) -> Result<(String, Vec<u8>), LabError> {
    let mut svg = Vec::new();
    write_figure(&mut svg, figure).map_err(LabError::file(name.as_ref()))?;
    Ok((name.to_owned(), svg))
}
