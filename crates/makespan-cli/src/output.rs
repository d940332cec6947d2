//! What goes to standard output and into files.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Write};
use std::path::Path;

use comfy_table::presets;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use makespan_core::{Bound, Instance, Schedule};
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan_formats::report::{Report, write_html};
use makespan_formats::{jobs_csv, write_atomic};
use miette::{Result, miette};

use crate::args::PictureOptions;

/// Prints to standard output. A reader that has gone away, as in `makespan algorithms | head`, is no error.
pub fn emit(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(harmless(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(miette!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}

/// Prints a line to standard error; where nobody reads it there is nobody to tell.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// Names come from files: the control characters in them are shown, and never reach the terminal.
pub fn harmless(text: &str) -> Cow<'_, str> {
    let harmful = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(harmful) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if harmful(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// A text after its label, in lines of at most 100 columns; the further ones are indented.
pub fn wrapped(label: &str, indent: usize, text: &str) -> String {
    const WIDTH: usize = 100;
    let (mut lines, mut line, mut empty) = (String::new(), label.to_owned(), true);
    for word in text.split_whitespace() {
        if !empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            (line, empty) = (" ".repeat(indent), true);
        }
        if !empty {
            line.push(' ');
        }
        line += word;
        empty = false;
    }
    lines + &line + "\n"
}

/// Writes a file whole or not at all.
pub fn write_file(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_atomic(path, content).map_err(|error| miette!("{error}"))
}

/// Refuses a file that could not be written for its folder or since it is one, before any work is done for it.
pub fn check_target(path: &Path) -> Result<()> {
    let name = path.display();
    if path.is_dir() {
        return Err(miette!("{name}: cannot write: it is a folder; name a file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(miette!("{name}: cannot write: `{}` is a file, not a folder", folder.display())),
        Err(_) => Err(miette!("{name}: cannot write: the folder `{}` does not exist; make it first", folder.display())),
    }
}

/// Refuses output files that would overwrite the instance or each other, besides what [`check_target`] refuses.
pub fn check_targets(instance: &Path, targets: &[&Path]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // A device, such as /dev/null, takes any number of outputs.
    let device = |path: &Path| path.metadata().is_ok_and(|metadata| !metadata.is_file());
    for (index, target) in targets.iter().enumerate() {
        check_target(target)?;
        let name = target.display();
        if !device(target) && real(target) == real(instance) {
            return Err(miette!("{name}: the output would replace the instance; name another file"));
        }
        if !device(target) && targets[..index].iter().any(|other| real(other) == real(target)) {
            return Err(miette!("{name}: two outputs name this file; name a file for each"));
        }
    }
    Ok(())
}

/// A plain table: a heading line and right-aligned figures; the first `words` columns, and any without a heading, are left-aligned.
pub fn table(heading: &[&str], words: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading);
    table.add_rows(rows);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= words && !heading[index].is_empty() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// What pictures of a plan, or of a plan and what happened, are drawn from.
pub struct Picture<'a> {
    pub title: &'a str,
    pub instance: &'a Instance,
    pub schedules: &'a [NamedSchedule<'a>],
    pub algorithm: &'a str,
    pub seed: u64,
    pub bounds: &'a [Bound],
    pub remarks: &'a [String],
}

impl Picture<'_> {
    /// Writes what the options name; the CSV is of the last schedule.
    pub fn write(&self, options: &PictureOptions) -> Result<()> {
        if let Some(path) = &options.gantt {
            self.gantt(path)?;
        }
        if let Some(path) = &options.report {
            self.report(path)?;
        }
        if let Some((path, last)) = options.jobs.as_ref().zip(self.schedules.last()) {
            self.jobs(path, last.schedule)?;
        }
        Ok(())
    }

    pub fn gantt(&self, path: &Path) -> Result<()> {
        let options = GanttOptions { title: self.title, bounds: self.bounds, ..GanttOptions::default() };
        write_file(path, |mut out| write_svg(&mut out, self.instance, self.schedules, &options))
    }

    pub fn report(&self, path: &Path) -> Result<()> {
        let Self { title, instance, schedules, algorithm, seed, bounds, remarks } = *self;
        let report = Report { title, instance, schedules, algorithm, seed, bounds, remarks, sections: &[] };
        write_file(path, |mut out| write_html(&mut out, &report))
    }

    fn jobs(&self, path: &Path, schedule: &Schedule) -> Result<()> {
        write_file(path, |out| Ok(jobs_csv::write_schedule(self.instance, self.title, schedule, out)?))
    }
}
