//! Tables and figures on their way to the folder of results.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use makespan_formats::picture::{PictureFormat, write_picture};
use makespan_formats::plot::{Figure, Histogram, write_figure, write_histogram};

use crate::LabError;

/// A file of results, by its name.
pub(crate) type File = (String, Vec<u8>);

/// Makes a folder, with those above it.
pub(super) fn made(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(LabError::file(folder))
}

/// Writes a file to the folder of results, and a picture beside it as a PDF.
pub(crate) fn write_result(folder: &Path, (name, contents): &File) -> Result<(), LabError> {
    write(folder, name, contents)?;
    let Some(stem) = name.strip_suffix(".svg") else { return Ok(()) };
    let (name, pdf) = in_memory(&format!("{stem}.pdf"), |out| {
        write_picture(out, &String::from_utf8_lossy(contents), PictureFormat::Pdf)
    })?;
    write(folder, &name, &pdf)
}

/// Writes a file to the folder of results, whole or not at all.
pub(crate) fn write(folder: &Path, name: &str, contents: &[u8]) -> Result<(), LabError> {
    Ok(makespan_formats::write_atomic(&folder.join(name), |out| out.write_all(contents))?)
}

/// A CSV table with the name of its file.
pub(crate) fn table(name: &str, header: &str, rows: impl Iterator<Item = Vec<String>>) -> File {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer
        .write_record(header.split(','))
        .and_then(|()| rows.into_iter().try_for_each(|row| writer.write_record(row)));
    written.expect("writing to memory does not fail, and every row has the header's length");
    (name.to_owned(), writer.into_inner().expect("flushing to memory does not fail"))
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

/// A file, written to memory first.
pub(crate) fn in_memory(name: &str, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<File, LabError> {
    let mut contents = Vec::new();
    write(&mut contents).map_err(LabError::file(name.as_ref()))?;
    Ok((name.to_owned(), contents))
}

/// A figure as SVG, with the name of its file.
pub(crate) fn figure(name: &str, figure: &Figure) -> Result<File, LabError> {
    in_memory(&format!("{name}.svg"), |svg| write_figure(svg, figure))
}

/// A histogram, as [`figure`].
pub(crate) fn histogram(name: &str, histogram: &Histogram) -> Result<File, LabError> {
    in_memory(&format!("{name}.svg"), |svg| write_histogram(svg, histogram))
}

/// How many instances are planned at the same time, and on how many cores: what times depend on.
pub(crate) fn cores(at_once: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let instances = match at_once {
        1 => "one instance at a time".to_owned(),
        count => format!("{count} instances at the same time"),
    };
    format!("{instances}; cores of the machine: {cores}")
}
