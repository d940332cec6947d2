//! The commands that connect to a service.

mod backup;
mod job;
mod listen;
mod logs;
mod queue;
mod reservation;
mod submit;
mod token;
mod user;
mod wait;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use makespan_core::Time;
use makespan_service::client::{Client, ClientError, ClientOptions, default_store};
use makespan_service::words::{JobNumber, JobOutlook, RangeShare, Reason};
use miette::{Report, Result, miette};
use serde::Serialize;

use super::queue::clock::QueueClock;
use crate::args::{ConnectionOptions, Format, JobsOptions, ServiceAction, ServiceCommands};
use crate::outlook::lines;
use crate::output::{emit, wrapped};

pub use job::job;
pub use listen::{check_addresses, listen, tls_files};
pub use logs::logs;
pub use queue::queue;
pub use submit::submit;
pub use token::token;
pub use wait::wait;

/// Carries out `makespan service`.
pub fn operate(commands: &ServiceCommands) -> Result<ExitCode> {
    match &commands.action {
        ServiceAction::Backup { backup, store } => backup::back_up(store.as_ref(), backup),
        ServiceAction::Restore { backup, store } => backup::restore(backup, store),
        ServiceAction::User(commands) => user::user(commands),
        ServiceAction::Reservation(commands) => reservation::reservation(commands),
    }
}

/// Returns the folder of the store. A missing folder is an error, so that a mistyped name does not create a second
/// store.
fn known_store(stated: Option<&PathBuf>) -> Result<PathBuf> {
    let store = stated.cloned().or_else(default_store);
    let store = store.ok_or_else(|| miette!("no store is known; name the store with --store or MAKESPAN_STORE"))?;
    if !store.is_dir() {
        return Err(miette!("{}: there is no store; `makespan serve --store FOLDER` creates it", store.display()));
    }
    Ok(store)
}

/// Prints the items of a list as a table or as JSON. `none` is the text for an empty list.
fn emit_list<T: Serialize>(format: Format, items: &[T], none: &str, table: impl Fn(&[T]) -> String) -> Result<()> {
    match format {
        Format::Text if items.is_empty() => emit(&format!("{none}\n")),
        Format::Text => emit(&table(items)),
        Format::Json => emit(&format!("{:#}\n", serde_json::json!(items))),
    }
}

fn connect(options: &ConnectionOptions) -> Result<Client> {
    Client::open(&ClientOptions::from(options)).map_err(fail)
}

#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
fn fail(error: ClientError) -> Report {
    miette!("{error}")
}

/// Cancels, holds or releases jobs. If a job cannot be changed, continues with the next job, and returns the first
/// error at the end.
pub fn change(options: &JobsOptions, what: &str) -> Result<ExitCode> {
    let client = connect(&options.connection)?;
    let mut first = None;
    for &job in &options.jobs {
        match client.change(JobNumber(job), what) {
            // The engine cancels a job a moment later.
            Ok(state) if what == "cancel" && !state.is_final() => emit(&format!("job {job} is being cancelled\n"))?,
            Ok(state) => emit(&format!("job {job} is {}\n", state.words()))?,
            Err(error) => {
                let report = miette!("job {job}: {error}");
                match &first {
                    None => first = Some(report),
                    Some(_) => {
                        crate::output::complain(&format!("error: {}", crate::output::shown(&report.to_string())))
                    }
                }
            }
        }
    }
    first.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Returns the current time, in seconds after 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Formats an instant in seconds after 1970 with its date and the time zone of this machine.
fn instant(seconds: f64) -> String {
    let seconds = seconds.round() as i64;
    QueueClock::new(seconds).full(seconds)
}

/// Parses the duration in an option. Returns seconds.
fn seconds(option: &str, text: &str) -> Result<f64> {
    Ok(Time::parse(text).map_err(|error| miette!("--{option}: {error}"))?.seconds())
}

/// Formats a duration in at most two units.
fn span(seconds: f64) -> String {
    let whole = seconds.abs().round() as u64;
    let text = match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        3600..172_800 => format!("{}:{:02} h", whole / 3600, whole % 3600 / 60),
        _ => format!("{} d", whole / 86_400),
    };
    if seconds < -0.5 { format!("-{text}") } else { text }
}

/// Formats an instant relative to now: `in 5 s` or `5 s ago`.
fn relative(instant: Option<f64>, now: f64) -> String {
    match instant {
        None => "-".into(),
        Some(instant) if instant >= now => format!("in {}", span(instant - now)),
        Some(instant) => format!("{} ago", span(now - instant)),
    }
}

/// Formats the time until an expected instant: `in 5 s`, or `in 0 s` if the instant has passed.
fn ahead(instant: Option<f64>, now: f64) -> String {
    relative(instant.map(|instant| instant.max(now)), now)
}

/// Formats the expected start or end of a job. If the instant is unknown, returns the reason.
fn expected(instant: Option<f64>, behind: Option<JobNumber>, now: f64) -> String {
    match (instant, behind) {
        (None, Some(JobNumber(0))) => "unknown, because a job of another user runs longer than expected".into(),
        (None, Some(job)) => format!("unknown, because job {job} runs longer than expected"),
        _ => ahead(instant, now),
    }
}

/// Formats the range of the start of a job, and the reasons why it waits.
fn waits(indent: usize, outlook: &JobOutlook, ranges: &RangeShare, now: f64) -> String {
    let from_now = |instant: f64| span((instant - now).max(0.0));
    let between = outlook.early.zip(outlook.late);
    let between = between.map(|(early, late)| format!("{} and {} from now", from_now(early), from_now(late)));
    let reasons: Vec<String> = outlook.reasons.iter().map(with_jobs).collect();
    let remedies = outlook.reasons.iter().map(|reason| reason.remedy.as_deref());
    lines(indent, between.as_deref(), ranges.percent, reasons.iter().map(String::as_str).zip(remedies))
}

/// Formats a note about the calibration of ranges, if a job has a range.
fn note(outlooks: &[JobOutlook], ranges: &RangeShare) -> String {
    let has_range = outlooks.iter().any(|outlook| outlook.late.is_some());
    if has_range { wrapped("note: ", 6, &ranges.words()) } else { String::new() }
}

/// Returns the text of a reason, and the numbers of the jobs that the text does not name.
fn with_jobs(reason: &Reason) -> String {
    let is_named = |job: &JobNumber| {
        reason.text.split(|sign: char| !sign.is_ascii_digit()).any(|number| number.parse() == Ok(job.0))
    };
    let others: Vec<String> = reason.jobs.iter().filter(|job| !is_named(job)).map(ToString::to_string).collect();
    match others.len() {
        0 => reason.text.clone(),
        1 => format!("{} (job {})", reason.text, others[0]),
        _ => format!("{} (jobs {})", reason.text, others.join(", ")),
    }
}

/// Parses amounts of the form `NAME=AMOUNT` and adds them to `amounts`. A repeated name is an error.
pub fn add_amounts(option: &str, stated: &[String], amounts: &mut BTreeMap<String, u64>) -> Result<()> {
    for stated in stated {
        let (name, amount) = stated
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| miette!("{option} {stated}: write a name and an amount, such as matlab=1"))?;
        let amount = makespan_formats::parse_amount(amount).map_err(|error| miette!("{option} {stated}: {error}"))?;
        if amounts.insert(name.to_owned(), amount).is_some() {
            return Err(miette!("{option} {stated}: `{name}` is stated twice; remove one of the two"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        let spans =
            [(0.4, "0 s"), (59.0, "59 s"), (61.0, "1:01 min"), (3660.0, "1:01 h"), (200_000.0, "2 d"), (-5.0, "-5 s")];
        for (seconds, text) in spans {
            assert_eq!(span(seconds), text);
        }
        assert_eq!(relative(Some(10.0), 4.0), "in 6 s");
        assert_eq!(relative(Some(4.0), 10.0), "6 s ago");
        for (instant, behind, text) in [
            (Some(4.0), None, "in 0 s"),
            (None, None, "-"),
            (None, Some(3), "unknown, because job 3 runs longer than expected"),
            (None, Some(0), "unknown, because a job of another user runs longer than expected"),
            (Some(14.0), Some(3), "in 4 s"),
        ] {
            assert_eq!(expected(instant, behind.map(JobNumber), 10.0), text);
        }
    }
}
