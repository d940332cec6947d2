//! Output of tables and figures to the folder of results.

use std::fmt::{Display, Write as _};
use std::fs;
use std::path::Path;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{ContentArrangement, Table};
use makespan_formats::picture::{PictureFormat, write_picture};
use makespan_formats::plot::{Figure, Point, Series, write_figure};

use crate::LabError;
use crate::statistics::quantile;

/// The name and the content of a result file.
pub(crate) type File = (String, Vec<u8>);

/// Creates a folder and its parent folders.
pub(super) fn made(folder: &Path) -> Result<(), LabError> {
    fs::create_dir_all(folder).map_err(LabError::file(folder))
}

/// Writes a file to the folder of results. If the file is a picture, also writes it as PDF.
pub(crate) fn write_result(folder: &Path, (name, contents): &File) -> Result<(), LabError> {
    write(folder, name, contents)?;
    let Some(stem) = name.strip_suffix(".svg") else { return Ok(()) };
    let (name, pdf) = in_memory(&format!("{stem}.pdf"), |out| {
        write_picture(out, &String::from_utf8_lossy(contents), PictureFormat::Pdf)
    })?;
    write(folder, &name, &pdf)
}

/// Writes a file to the folder of results atomically.
pub(crate) fn write(folder: &Path, name: &str, contents: &[u8]) -> Result<(), LabError> {
    Ok(makespan_formats::write_atomic(&folder.join(name), |out| out.write_all(contents))?)
}

/// Returns a CSV table with the name of its file.
pub(crate) fn table(name: &str, header: &str, mut rows: impl Iterator<Item = Vec<String>>) -> File {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let written = writer.write_record(header.split(','));
    let written = written.and_then(|()| rows.try_for_each(|row| writer.write_record(row)));
    written.expect("writing to memory does not fail, and every row has the header's length");
    (name.to_owned(), writer.into_inner().expect("flushing to memory does not fail"))
}

/// Formats values as the cells of a row.
pub(crate) fn texts(cells: &[&dyn Display]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

/// Returns a row of a table: first the cells, then the numbers `figures` with six decimals.
pub(crate) fn record<F: Into<Option<f64>>>(
    cells: &[&dyn Display],
    figures: impl IntoIterator<Item = F>,
) -> Vec<String> {
    texts(cells).into_iter().chain(figures.into_iter().map(six)).collect()
}

/// Formats a number with six decimals. Returns an empty string for `None`.
pub(crate) fn six(figure: impl Into<Option<f64>>) -> String {
    figure.into().map_or_else(String::new, |figure| format!("{figure:.6}"))
}

/// Formats a number of a report with `decimals` decimals. Returns a dash for `None`.
pub(crate) fn shown(figure: impl Into<Option<f64>>, decimals: usize) -> String {
    figure.into().map_or_else(|| "-".to_owned(), |figure| format!("{figure:.decimals$}"))
}

/// Formats a line of a table. `widths` contains the width of each cell. If there are more cells than widths, the last
/// width applies to all remaining cells. A negative width means that the cell is left-aligned.
pub(crate) fn aligned<Cell: Display>(widths: &[i32], cells: impl IntoIterator<Item = Cell>) -> String {
    let widths = widths.iter().chain(std::iter::repeat(widths.last().unwrap_or(&0)));
    let pad = |(cell, &width): (Cell, &i32)| {
        let (cell, size) = (cell.to_string(), width.unsigned_abs() as usize);
        if width < 0 { format!("{cell:<size$}") } else { format!("{cell:>size$}") }
    };
    cells.into_iter().zip(widths).map(pad).collect::<String>() + "\n"
}

/// Formats a table for a terminal of 100 columns.
pub(crate) fn text_table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Dynamic).set_width(100);
    table.set_header(header.iter().copied()).add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// Formats a table for a Markdown page.
pub(crate) fn markdown_table(header: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = format!("| {} |\n|{}\n", header.join(" | "), "---|".repeat(header.len()));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        let _infallible = writeln!(table, "| {} |", cells.join(" | "));
    }
    table
}

/// Calls `write` with a buffer in memory, and returns the content of the buffer as a file.
pub(crate) fn in_memory(name: &str, write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<File, LabError> {
    let mut contents = Vec::new();
    write(&mut contents).map_err(LabError::file(name.as_ref()))?;
    Ok((name.to_owned(), contents))
}

/// Returns a figure as SVG, with the name of its file.
pub(crate) fn figure(name: &str, figure: &Figure) -> Result<File, LabError> {
    in_memory(&format!("{name}.svg"), |svg| write_figure(svg, figure))
}

/// Returns a figure with a title and the labels of its axes.
pub(crate) fn plot(title: impl Into<String>, x_label: &str, y_label: &str, series: Vec<Series>) -> Figure {
    Figure { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), series, ..Figure::default() }
}

/// Returns a curve of a figure. Each point consists of its position `x` on the horizontal axis and three positions on
/// the vertical axis: the position of the mark, and the lower and the upper end of the error bar.
pub(crate) fn series(name: impl Into<String>, points: impl IntoIterator<Item = (f64, [f64; 3])>) -> Series {
    let point = |(x, [y, low, high]): (f64, [f64; 3])| Point { x, y, low, high };
    Series { name: name.into(), points: points.into_iter().map(point).collect(), ..Series::default() }
}

/// Returns a curve that shows the quantiles of a sample at `steps` + 1 percentages from 0 to 100.
pub(crate) fn distribution(name: String, sample: &[f64], steps: u32) -> Series {
    let shares = (0..=steps).map(f64::from);
    let point = |step: f64| {
        let y = quantile(sample, step / f64::from(steps))?;
        Some((step * 100.0 / f64::from(steps), [y; 3]))
    };
    series(name, shares.filter_map(point))
}

/// Formats a note about two numbers on which measured times depend: the number of instances that are planned at the
/// same time, and the number of cores.
pub(crate) fn cores(at_once: usize) -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let instances = match at_once {
        1 => "one instance at a time".to_owned(),
        count => format!("{count} instances at the same time"),
    };
    format!("{instances}; cores of the machine: {cores}")
}
