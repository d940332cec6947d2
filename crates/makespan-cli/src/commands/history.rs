//! `makespan history`

mod advice;

use std::path::PathBuf;
use std::process::ExitCode;

use makespan_core::{Time, counted};
use makespan_history::{Filter, History, StoredRecord, default_path, now};
use miette::{Result, miette};
use serde_json::json;

use crate::args::{
    Format, HistoryAction, HistoryExportOptions, HistoryFilter, HistoryForgetOptions, HistoryListOptions,
    HistoryOptions,
};
use crate::output::{check_target, csv_names, emit, shortened, shown, table, write_file};
use crate::summary::{bytes, figure};

/// Default number of records in the table.
const SHOWN: usize = 20;
/// Width of the table, in columns of text.
const WIDTH: usize = 80;
/// Minimum width of the column of commands. If the other columns are wide, the table is wider than [`WIDTH`].
const LEAST_COMMAND: usize = 24;

pub fn history(options: &HistoryOptions) -> Result<ExitCode> {
    match &options.action {
        None if options.list.advice => advice::advice(&options.list),
        None => list(&options.list),
        Some(HistoryAction::Forget(options)) => forget(options),
        Some(HistoryAction::Export(options)) => export(options),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn list(options: &HistoryListOptions) -> Result<()> {
    let filter = filter(&options.filter)?;
    let limit = options.limit.unwrap_or(if options.format == Format::Json { usize::MAX } else { SHOWN });
    let opened = open(&options.filter)?;
    let (entries, count) = match &opened.history {
        Some(history) => (
            history.entries(&filter, limit.min(i64::MAX as usize)).map_err(fail)?,
            history.count(&filter).map_err(fail)?,
        ),
        None => (Vec::new(), 0),
    };
    if options.format == Format::Json {
        let records: Vec<_> = entries.iter().map(record).collect();
        return emit(&format!("{:#}\n", json!({ "history": opened.name(), "records": records })));
    }
    if count == 0 {
        return emit(&match opened.history {
            Some(_) => format!("no records in {}\n", opened.name()),
            None => opened.missing() + "\n",
        });
    }
    let which = if entries.len() as u64 == count {
        String::new()
    } else {
        format!(", the latest {} of them above", entries.len())
    };
    emit(&format!("{}\n{} in {}{which}\n", rows(&entries), counted(count, "record"), opened.name()))
}

fn forget(options: &HistoryForgetOptions) -> Result<()> {
    let filter = filter(&options.filter)?;
    let mut opened = open(&options.filter)?;
    let forgotten = opened.history.as_mut().map_or(Ok(0), |history| history.forget(&filter)).map_err(fail)?;
    emit(&format!("{} removed from {}\n", counted(forgotten, "record"), opened.name()))
}

fn export(options: &HistoryExportOptions) -> Result<()> {
    if let Some(path) = &options.output {
        check_target(path)?;
    }
    let filter = filter(&options.filter)?;
    let opened = open(&options.filter)?;
    let Some(history) = &opened.history else {
        return Err(miette!("{}: there is no history yet; `makespan run` creates it", opened.name()));
    };
    let names = csv_names(options.raw_names);
    let mut text = Vec::new();
    history.export(&filter, &|name| names.write(name).into_owned(), &mut text).map_err(fail)?;
    match &options.output {
        Some(path) => write_file(path, |out| out.write_all(&text)),
        None => emit(&String::from_utf8_lossy(&text)),
    }
}

/// An open history, or the path of a history that does not exist.
struct Opened {
    path: PathBuf,
    history: Option<History>,
}

impl Opened {
    fn name(&self) -> String {
        shown(&self.path.display().to_string()).into_owned()
    }

    /// Returns the message for a history that does not exist.
    fn missing(&self) -> String {
        format!("there is no history yet; `makespan run` creates {}", self.name())
    }
}

/// Opens the history if it exists. A missing history is not created.
fn open(filter: &HistoryFilter) -> Result<Opened> {
    let path = filter.history.clone().or_else(default_path);
    let path =
        path.ok_or_else(|| miette!("the path of the history is unknown: set HOME, or name a file with --history"))?;
    let history = if path.exists() { Some(History::open_for_reading(&path).map_err(fail)?) } else { None };
    Ok(Opened { path, history })
}

fn filter(options: &HistoryFilter) -> Result<Filter> {
    let before = match &options.older_than {
        None => None,
        Some(age) => {
            let age = Time::parse(age).map_err(|error| miette!("--older-than: {error}"))?;
            Some(now().saturating_sub(age.ticks() / Time::TICKS_PER_SECOND))
        }
    };
    Ok(Filter { command: options.command.clone(), host: options.host.clone(), before })
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
fn fail(error: makespan_history::HistoryError) -> miette::Report {
    miette!("{error}")
}

/// Formats records as a table of 80 columns, if the commands then keep 24 columns. Commands are cut to fit.
fn rows(entries: &[StoredRecord]) -> String {
    let mut heading = vec!["age", "outcome", "cores", "wall (s)", "cpu (s)", "memory"];
    let has_reservations = entries.iter().any(|entry| entry.reserved.is_some());
    heading.extend(has_reservations.then_some("reserved"));
    let last = heading.len();
    heading.push("command");
    let now = now();
    let mut rows: Vec<Vec<String>> = entries.iter().map(|entry| cells(entry, now, has_reservations)).collect();
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).chain([heading[column].len()]).max().unwrap_or(0)
    };
    // Two spaces separate the columns.
    let before: usize = (0..last).map(|column| width(column) + 2).sum();
    let left = WIDTH.saturating_sub(before).max(LEAST_COMMAND);
    for row in &mut rows {
        row[last] = shortened(&row[last], left);
    }
    // The table right-aligns the column of commands, so all commands are padded to the same length.
    let longest = rows.iter().map(|row| row[last].chars().count()).max().unwrap_or(0);
    for row in &mut rows {
        row[last] = format!("{:<longest$}", row[last]);
    }
    let padded = format!("{:<longest$}", heading[last]);
    heading[last] = &padded;
    table(&heading, 2, rows)
}

fn cells(entry: &StoredRecord, now: i64, has_reservations: bool) -> Vec<String> {
    let seconds = |nanoseconds: i64| figure(Time::from_ticks(nanoseconds).seconds());
    let memory = |count: Option<i64>| count.map_or("-".into(), |count| bytes(count.max(0).unsigned_abs()));
    let outcome = match (entry.ending.as_str(), entry.status) {
        ("failed", _) if entry.memory_kill => "out of memory".to_owned(),
        ("failed", Some(status)) => format!("failed {status}"),
        (ending, _) => ending.to_owned(),
    };
    let mut cells = vec![
        age(now, entry.ended),
        outcome,
        if entry.pinned { entry.processors.to_string() } else { "any".to_owned() },
        seconds(entry.wall),
        entry.cpu.map_or("-".into(), seconds),
        memory(entry.memory),
    ];
    if has_reservations {
        let source = match entry.learned_from.filter(|_| entry.reserved.is_some()) {
            Some(runs @ 1..) => format!(", {}", counted(runs, "run")),
            _ => entry.memory_source().map_or(String::new(), |source| format!(", {source}")),
        };
        cells.push(memory(entry.reserved) + &source);
    }
    cells.push(shown(&entry.line).into_owned());
    cells
}

/// Formats an age in one unit. If `then` is in the future, for example because a clock was wrong, returns `-`.
fn age(now: i64, then: i64) -> String {
    match now.saturating_sub(then) {
        seconds if seconds < 0 => "-".into(),
        seconds if seconds < 100 => format!("{seconds} s"),
        seconds if seconds < 6000 => format!("{} min", seconds / 60),
        seconds if seconds < 172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} d", seconds / 86_400),
    }
}

fn record(entry: &StoredRecord) -> serde_json::Value {
    let seconds = |nanoseconds: i64| Time::from_ticks(nanoseconds).seconds();
    json!({
        "id": entry.id,
        "command": entry.line,
        "template": entry.template,
        "folder": entry.folder,
        "host": entry.host,
        "processors": entry.processors,
        "wall": seconds(entry.wall),
        "cpu": entry.cpu.map(seconds),
        "memory": entry.memory,
        "outcome": entry.ending,
        "status": entry.status,
        "ended": entry.ended,
        "inputs": entry.inputs,
        "explored": entry.explored,
        "pinned": entry.pinned,
        "at_once": entry.at_once,
        "memory_kill": entry.memory_kill,
        "reserved": entry.reserved,
        "memory_source": entry.memory_source(),
    })
}
