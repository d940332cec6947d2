//! `makespan history --advice`: compares the memory that jobs state with the memory that they used.

use std::io::Write;
use std::path::Path;

use makespan_core::counted;
use makespan_formats::{CsvNames, SacctMemory, read_sacct_memory};
use makespan_history::memory::{MEMORY_SHARE, MIN_JOBS, MemoryAdvice, MemoryUse, advise};
use miette::{Result, miette};
use serde_json::json;

use super::{fail, filter, open};
use crate::args::{Format, HistoryListOptions};
use crate::output::{check_kind, check_target, complain, csv_names, emit, shortened, shown, table, write_file};
use crate::summary::bytes;

/// Maximum width of a name in the table, in columns of text.
const NAME: usize = 40;

/// Columns of the CSV table.
const HEADING: [&str; 9] = [
    "user",
    "job",
    "jobs",
    "killed",
    "stated_bytes",
    "used_by_95_percent_bytes",
    "advised_bytes",
    "reserved_gib_hours",
    "saved_gib_hours",
];

/// The jobs for which advice is given.
struct UsedMemory {
    /// The file with the jobs.
    source: String,
    jobs: Vec<MemoryUse>,
    remarks: Vec<String>,
}

/// Prints the advice about memory.
pub fn advice(options: &HistoryListOptions) -> Result<()> {
    if let Some(path) = &options.csv {
        check_target(path)?;
        check_kind("--csv", Some(path), &["csv"])?;
    }
    let used = match &options.sacct {
        Some(path) => of_dump(path)?,
        None => of_history(options)?,
    };
    let (advice, few) = advise(&used.jobs);
    if let Some(path) = &options.csv {
        let names = csv_names(options.raw_names);
        let guard = |name: &str| match names {
            CsvNames::Raw => name.to_owned(),
            CsvNames::Guarded => shown(&names.write(name)).into_owned(),
        };
        write_file(path, |out| write_csv(&advice, &guard, out))?;
    }
    if options.format == Format::Json {
        let records: Vec<_> = advice.iter().map(record).collect();
        let whole = json!({ "source": used.source, "advice": records, "not_shown": few, "remarks": used.remarks });
        return emit(&format!("{whole:#}\n"));
    }
    used.remarks.iter().for_each(|remark| complain(&format!("note: {remark}")));
    emit(&text(&used, &advice, few))
}

fn of_dump(path: &Path) -> Result<UsedMemory> {
    let read = read_sacct_memory(path).map_err(|error| miette!("{error}"))?;
    let job = |SacctMemory { user, name, stated, peak, needed, seconds, is_killed, .. }: SacctMemory| MemoryUse {
        user: Some(user),
        name,
        stated,
        peak,
        needed,
        seconds: seconds as f64,
        is_killed,
        needs_more: is_killed,
    };
    let source = shown(&path.display().to_string()).into_owned();
    Ok(UsedMemory { source, jobs: read.jobs.into_iter().map(job).collect(), remarks: read.remarks })
}

fn of_history(options: &HistoryListOptions) -> Result<UsedMemory> {
    let (filter, opened) = (filter(&options.filter)?, open(&options.filter)?);
    let history = opened.history.as_ref();
    let jobs = history.map_or(Ok(Vec::new()), |history| history.memory_uses(&filter)).map_err(fail)?;
    let remarks = history.is_none().then(|| opened.missing());
    Ok(UsedMemory { source: opened.name(), jobs, remarks: remarks.into_iter().collect() })
}

/// Formats the advice as a table, followed by the total saving.
fn text(used: &UsedMemory, advice: &[MemoryAdvice], few: usize) -> String {
    let others = match few {
        0 => String::new(),
        few => format!(
            "{} not shown, because fewer than {MIN_JOBS} jobs have the same {}\n",
            counted(few, "job"),
            if advice.iter().any(|advice| advice.user.is_some()) { "user and name" } else { "command" }
        ),
    };
    if advice.is_empty() {
        return format!("no advice: {} has too few jobs with known memory\n{others}", used.source);
    }
    let share = format!("{MEMORY_SHARE} % used");
    let mut heading = vec!["user", "job", "jobs", "killed", "stated", &share, "advice", "saved (GiB h)"];
    let has_users = advice.iter().any(|advice| advice.user.is_some());
    let mut rows: Vec<Vec<String>> = advice.iter().map(row).collect();
    if !has_users {
        heading.remove(0);
        rows.iter_mut().for_each(|row| drop(row.remove(0)));
    }
    let (reserved, saved) = advice.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.reserved, sum.1 + of.saved));
    let rows = table(&heading, if has_users { 2 } else { 1 }, rows);
    let first = advice.first().and_then(sentence).unwrap_or_default();
    let killed = advice.iter().max_by_key(|advice| advice.killed).and_then(sentence_about_kills).unwrap_or_default();
    let total = if reserved <= 0.0 {
        "no job states its memory, so nothing can be saved\n".to_owned()
    } else if saved >= 0.0 {
        format!("with this advice, {} of {} reserved GiB h would be saved\n", tenths(saved), tenths(reserved))
    } else {
        format!("with this advice, jobs would reserve {} GiB h more than {}\n", tenths(-saved), tenths(reserved))
    };
    format!("{rows}\n{first}{killed}{total}{others}")
}

/// Returns a sentence about jobs that state more memory than they need.
fn sentence(advice: &MemoryAdvice) -> Option<String> {
    let stated = advice.stated.filter(|&stated| advice.saved > 0.0 && advice.advised < stated)?;
    Some(format!(
        "{}: you state {}, but {MEMORY_SHARE} % of these jobs used at most {}; state {}\n",
        label(advice),
        bytes(stated),
        bytes(advice.used),
        bytes(advice.advised)
    ))
}

/// Returns a sentence about jobs that were killed and should state more memory.
fn sentence_about_kills(advice: &MemoryAdvice) -> Option<String> {
    let stated = advice.stated.filter(|&stated| advice.killed > 0 && advice.advised > stated)?;
    Some(format!(
        "{}: you state {}, but {} of {} were killed for lack of memory; state {}\n",
        label(advice),
        bytes(stated),
        advice.killed,
        counted(advice.jobs, "job"),
        bytes(advice.advised)
    ))
}

/// Returns the user and the name of jobs.
fn label(advice: &MemoryAdvice) -> String {
    let user = advice.user.as_ref().map_or(String::new(), |user| format!("{} ", shown(user)));
    user + &shortened(&shown(&advice.name), NAME)
}

/// Formats a number with one decimal, and never as `-0.0`.
fn tenths(number: f64) -> String {
    format!("{:.1}", (10.0 * number).round() / 10.0 + 0.0)
}

fn row(advice: &MemoryAdvice) -> Vec<String> {
    let user = advice.user.as_deref().unwrap_or_default();
    vec![
        shortened(&shown(if user.is_empty() { "-" } else { user }), NAME),
        shortened(&shown(if advice.name.is_empty() { "-" } else { &advice.name }), NAME),
        advice.jobs.to_string(),
        advice.killed.to_string(),
        advice.stated.map_or_else(|| "-".to_owned(), bytes),
        bytes(advice.used),
        if advice.is_unchanged { "no change".to_owned() } else { bytes(advice.advised) },
        if advice.reserved > 0.0 { tenths(advice.saved) } else { "-".to_owned() },
    ]
}

fn record(advice: &MemoryAdvice) -> serde_json::Value {
    json!({
        "user": advice.user,
        "name": advice.name,
        "jobs": advice.jobs,
        "killed": advice.killed,
        "stated": advice.stated,
        "used_by_95_percent": advice.used,
        "advised": advice.advised,
        "reserved_gib_hours": advice.reserved,
        "saved_gib_hours": advice.saved,
    })
}

/// Writes the advice as CSV. `guard` is applied to each name and protects spreadsheets from formulas.
fn write_csv(advice: &[MemoryAdvice], guard: &dyn Fn(&str) -> String, out: &mut dyn Write) -> std::io::Result<()> {
    let mut table = csv::Writer::from_writer(out);
    table.write_record(HEADING)?;
    for MemoryAdvice { user, name, jobs, killed, stated, used, advised, reserved, saved, .. } in advice {
        table.write_record([
            user.as_deref().map_or(String::new(), guard),
            guard(name),
            jobs.to_string(),
            killed.to_string(),
            stated.map_or(String::new(), |stated| stated.to_string()),
            used.to_string(),
            advised.to_string(),
            format!("{reserved:.6}"),
            format!("{:.6}", (1e6 * saved).round() / 1e6 + 0.0),
        ])?;
    }
    table.flush()
}
