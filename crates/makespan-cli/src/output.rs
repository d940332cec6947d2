//! Output to standard output, to standard error and to files.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use comfy_table::presets;
use comfy_table::{CellAlignment, ContentArrangement, Table};
use makespan_core::is_control;
pub use makespan_core::{harmless, shown};
use makespan_formats::gantt::{GanttOptions, NamedSchedule, write_svg};
use makespan_formats::list::quoted;
use makespan_formats::picture::{PictureFormat, write_picture};
use makespan_formats::report::{Report, write_html};
use makespan_formats::{CsvNames, jobs_csv, write_atomic};
use miette::{Result, miette};

use crate::args::PictureOptions;

/// Exit status of a program that Ctrl-C stopped, by the convention of shells.
pub const INTERRUPTED: i32 = 130;

/// Prints to standard output. If the reader of a pipe has exited, as in `makespan algorithms | head`, this is no
/// error.
pub fn emit(text: &str) -> Result<()> {
    write_out(&harmless(text))
}

fn write_out(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(miette!("cannot write to standard output: {error}")),
        _ => Ok(()),
    }
}

/// The tone of a line, from good to bad. On a terminal with colours, the tone selects the colour of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    Plain,
    Good,
    Doubtful,
    Bad,
}

/// A line of output with its tone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    pub tone: Tone,
    pub text: String,
}

impl Line {
    pub fn new(tone: Tone, text: impl Into<String>) -> Self {
        let mut text = text.into();
        text.truncate(text.trim_end_matches('\n').len());
        Self { tone, text }
    }

    pub fn plain(text: String) -> Self {
        Self::new(Tone::Plain, text)
    }

    fn coloured(&self) -> String {
        let text = harmless(&self.text);
        let code = match self.tone {
            Tone::Plain => return text.into_owned(),
            Tone::Good => 32,
            Tone::Doubtful => 33,
            Tone::Bad => 31,
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// Prints lines to standard output. Uses colours if standard output is a terminal and `NO_COLOR` is not set
/// (<https://no-color.org>).
pub fn emit_lines(lines: &[Line]) -> Result<()> {
    write_out(&painted(lines, io::stdout().is_terminal()))
}

/// Prints lines to standard error, as [`emit_lines`] does.
pub fn complain_lines(lines: &[Line]) {
    let _ = io::stderr().lock().write_all(painted(lines, io::stderr().is_terminal()).as_bytes());
}

fn painted(lines: &[Line], is_terminal: bool) -> String {
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    if plain || dumb || !is_terminal {
        return harmless(&lines.iter().map(|line| line.text.clone() + "\n").collect::<String>()).into_owned();
    }
    lines.iter().map(|line| line.coloured() + "\n").collect()
}

/// Prints text that consists of whole lines to standard error.
pub fn complain_text(text: &str) {
    let _ = io::stderr().lock().write_all(harmless(text).as_bytes());
}

/// Prints a line to standard error. Ignores write errors, because there is no other place to report them.
pub fn complain(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", harmless(text));
}

/// Quotes a word for a shell. Bytes that are not UTF-8 are written as `$'..'`, which bash, ksh and zsh understand.
pub fn shell_word(word: &OsStr) -> String {
    let plain = word.to_str().filter(|text| !text.contains(is_control));
    if let Some(plain) = plain {
        return quoted(plain);
    }
    let mut text = String::from("$'");
    for chunk in word.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => text.push_str("\\n"),
                '\\' | '\'' => text.extend(['\\', c]),
                // Octal escapes have three digits, because the next character may be a digit.
                c if is_control(c) => {
                    let bytes = c.to_string().into_bytes();
                    text.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
                }
                c => text.push(c),
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\{byte:03o}")));
    }
    text + "'"
}

/// Shortens a text to `width` characters. If the text is longer, its last visible character is an ellipsis.
pub fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Formats a label and a text in lines of at most 100 columns, or fewer if the terminal is narrower. All lines after
/// the first are indented.
pub fn wrapped(label: &str, indent: usize, text: &str) -> String {
    wrapped_at(100, label, indent, text)
}

/// Formats a label and a text as [`wrapped`] does, in lines of at most 80 columns.
pub fn narrow(label: &str, indent: usize, text: &str) -> String {
    wrapped_at(80, label, indent, text)
}

fn wrapped_at(width: usize, label: &str, indent: usize, text: &str) -> String {
    const LEAST: usize = 40;
    let columns = known_columns().map_or(width, |columns| columns.clamp(LEAST, width));
    // Only spaces separate words. Other white space in a name, such as a line break, is escaped.
    filled(columns, label, indent, text.split(' ').filter(|word| !word.is_empty())) + "\n"
}

/// Formats a label and words in lines of at most `columns` columns. All lines after the first are indented. A word that
/// is longer than a line, such as a list of names, is also broken after commas.
pub fn filled<'a>(columns: usize, label: &str, indent: usize, words: impl Iterator<Item = &'a str>) -> String {
    let (mut lines, mut line, mut empty) = (String::new(), label.to_owned(), true);
    for word in words.map(shown) {
        let is_long = word.chars().count() > columns.saturating_sub(indent);
        let parts: Vec<&str> = if is_long { word.split_inclusive(',').collect() } else { vec![&word] };
        for (index, part) in parts.into_iter().enumerate() {
            let space = usize::from(!empty && index == 0);
            if !empty && line.chars().count() + space + part.chars().count() > columns {
                lines += &line;
                lines.push('\n');
                (line, empty) = (" ".repeat(indent), true);
            }
            if !empty && index == 0 {
                line.push(' ');
            }
            line += part;
            empty = false;
        }
    }
    lines + &line
}

/// Writes a file completely or not at all.
pub fn write_file(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    write_atomic(path, content).map_err(|error| miette!("{error}"))
}

/// Returns an error if an output file cannot be written because its folder is missing or the path is a folder. Call
/// this function before a long computation.
pub fn check_target(path: &Path) -> Result<()> {
    let name = path.display();
    if path.is_dir() {
        return Err(miette!("{name}: cannot write: this path is a folder; name a file"));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => Ok(()),
        Ok(_) => Err(miette!("{name}: cannot write: `{}` is a file, not a folder", folder.display())),
        Err(_) => Err(miette!(
            "{name}: cannot write: the folder `{}` does not exist; create the folder first",
            folder.display()
        )),
    }
}

/// Returns an error if the ending of an output file does not match its format. A file without an ending is accepted.
pub fn check_kind(option: &str, path: Option<&PathBuf>, endings: &[&str]) -> Result<()> {
    let Some(ending) = path.and_then(|path| path.extension()).map(|ending| ending.to_string_lossy().to_lowercase())
    else {
        return Ok(());
    };
    if endings.contains(&ending.as_str()) {
        return Ok(());
    }
    let name = path.map(|path| path.display().to_string()).unwrap_or_default();
    Err(miette!(
        "{option} {name}: this output can only be written as .{}, not as .{ending}; name a file with {} ending",
        listed(endings),
        if endings.len() == 1 { "that" } else { "such an" }
    ))
}

/// Lists endings, such as `svg, .png or .pdf`.
fn listed(endings: &[&str]) -> String {
    match endings {
        [rest @ .., last] if !rest.is_empty() => format!("{} or .{last}", rest.join(", .")),
        names => names.concat(),
    }
}

/// Returns an error if a picture, report or table file has the ending of another format.
pub fn check_pictures(pictures: &PictureOptions) -> Result<()> {
    check_gantt(&pictures.gantt)?;
    check_kind("--report", pictures.report.as_ref(), &["html", "htm"])?;
    check_kind("--jobs", pictures.jobs.as_ref(), &["csv"])
}

/// Returns an error if the extension of a chart file names no picture format, or a picture format that this build
/// cannot write.
pub fn check_gantt(paths: &[PathBuf]) -> Result<()> {
    paths.iter().try_for_each(|path| check_kind("--gantt", Some(path), &PictureFormat::ENDINGS))?;
    match paths.iter().find(|path| !PictureFormat::of(path).is_available()) {
        None => Ok(()),
        Some(path) => Err(miette!(
            "{}: this makespan was built without the feature `pictures` and writes SVG only; name a file that ends in .svg",
            path.display()
        )),
    }
}

/// Returns an error if an output file would overwrite the instance or another output file, or if [`check_target`]
/// returns an error.
pub fn check_targets(instance: &Path, targets: &[&Path]) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    // Several outputs may go to the same device, such as /dev/null.
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

/// Returns the number of characters that fit into a line: the value of `COLUMNS`, otherwise the width of the terminal,
/// otherwise 80.
pub fn columns() -> usize {
    known_columns().filter(|&columns| columns >= 20).unwrap_or(80)
}

fn known_columns() -> Option<usize> {
    let stated = std::env::var("COLUMNS").ok();
    stated_or(stated.as_deref(), || Table::new().width().map(usize::from))
}

/// Returns the value of `COLUMNS` if it is valid, otherwise the width of the terminal. Shells do not export `COLUMNS`,
/// so a value in the environment is deliberate.
fn stated_or(stated: Option<&str>, terminal: impl FnOnce() -> Option<usize>) -> Option<usize> {
    stated.and_then(|text| text.parse().ok()).filter(|&columns| columns > 0).or_else(terminal)
}

/// Formats a plain table with a heading line. The first `words` columns, and columns without a heading, are
/// left-aligned. All other columns contain numbers and are right-aligned.
pub fn table(heading: &[&str], words: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(heading.iter().map(|cell| shown(cell)));
    table.add_rows(rows.into_iter().map(|row| row.into_iter().map(|cell| shown(&cell).into_owned())));
    for (index, column) in table.column_iter_mut().enumerate() {
        if index >= words && !heading[index].is_empty() {
            column.set_cell_alignment(CellAlignment::Right);
        }
        column.set_padding((if index == 0 { 0 } else { 2 }, 0));
    }
    table.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// Formats a table. The first column contains words, and all other columns contain numbers. A table wider than `width` is split into parts, and each part begins with the `first` columns.
pub fn blocks(first: &[&str], names: &[impl AsRef<str>], rows: &[Vec<String>], width: usize) -> String {
    let fixed = first.len();
    let length = |at: usize, heading: &str| {
        let cells = rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        cells.max(heading.chars().count()) + 2
    };
    let own: usize = first.iter().enumerate().map(|(at, word)| length(at, word)).sum();
    let (mut parts, mut from) = (Vec::new(), 0);
    while from < names.len() {
        let (mut to, mut left) = (from, width.saturating_sub(own));
        while to < names.len() && (to == from || length(fixed + to, names[to].as_ref()) <= left) {
            left = left.saturating_sub(length(fixed + to, names[to].as_ref()));
            to += 1;
        }
        let heading: Vec<&str> = first.iter().copied().chain(names[from..to].iter().map(AsRef::as_ref)).collect();
        let cells = rows.iter().map(|row| [&row[..fixed], &row[fixed + from..fixed + to]].concat());
        parts.push(table(&heading, 1, cells));
        from = to;
    }
    parts.join("\n")
}

/// Writes the pictures, the page and the table that the options request for a report. If the schedules are
/// alternatives, the table contains the chosen schedule. Otherwise, the table contains the last schedule.
pub fn write_pictures(report: &Report<'_>, options: &PictureOptions) -> Result<()> {
    write_gantt(report, &options.gantt)?;
    if let Some(path) = &options.report {
        write_page(report, path)?;
    }
    if let Some((path, last)) = options.jobs.as_ref().zip(drawn(report).last()) {
        let names = csv_names(options.raw_names);
        write_file(path, |out| {
            Ok(jobs_csv::write_schedule(report.instance, report.title, last.schedule, names, out)?)
        })?;
    }
    Ok(())
}

/// Selects how names are written into CSV tables: unchanged if `raw` is true, otherwise safe for spreadsheets.
pub fn csv_names(raw: bool) -> CsvNames {
    if raw { CsvNames::Raw } else { CsvNames::Guarded }
}

/// Returns the schedules to draw: only the chosen schedule if the schedules are alternatives, otherwise all schedules.
fn drawn<'a>(report: &Report<'a>) -> &'a [NamedSchedule<'a>] {
    if report.choose { &report.schedules[..1] } else { report.schedules }
}

/// Draws the schedules of a report into each of these files.
pub fn write_gantt(report: &Report<'_>, paths: &[PathBuf]) -> Result<()> {
    let Report { title, bounds, marks, minimised, .. } = *report;
    let asked = if let [one] = minimised { Some(*one) } else { None };
    let options = GanttOptions { title, bounds, marks, asked, ..GanttOptions::default() };
    draw(paths, |mut out| write_svg(&mut out, report.instance, drawn(report), &options))
}

/// Draws a picture once as SVG and writes it into each file, in the format that the file's ending selects.
pub fn draw(paths: &[impl AsRef<Path>], svg: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    match paths {
        [] => Ok(()),
        [path] if PictureFormat::of(path.as_ref()) == PictureFormat::Svg => write_file(path.as_ref(), svg),
        paths => {
            let mut drawn = Vec::new();
            svg(&mut drawn).map_err(|error| miette!("cannot draw: {error}"))?;
            let drawn = String::from_utf8_lossy(&drawn);
            let write = |path: &Path| write_file(path, |out| write_picture(out, &drawn, PictureFormat::of(path)));
            paths.iter().try_for_each(|path| write(path.as_ref()))
        }
    }
}

/// Writes a report as an HTML page.
pub fn write_page(report: &Report<'_>, path: &Path) -> Result<()> {
    write_file(path, |mut out| write_html(&mut out, report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_columns_says_counts_before_the_terminal() {
        let terminal = || Some(100);
        assert_eq!(
            [Some("80"), Some("0"), Some("wide"), None].map(|stated| stated_or(stated, terminal)),
            [80, 100, 100, 100].map(Some)
        );
        assert_eq!(stated_or(None, || None), None);
    }

    proptest::proptest! {
        #[test]
        fn lines_hold_all_words_and_lists(words in proptest::collection::vec("[a-z]{1,12}|[a-z]{1,9}(,[a-z]{1,9}){0,12}", 0..12), columns in 20_usize..90) {
            let text = filled(columns, "note: ", 6, words.iter().map(String::as_str));
            proptest::prop_assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            proptest::prop_assert_eq!(bare(&text), bare(&format!("note: {}", words.join(" "))));
        }
    }
}
