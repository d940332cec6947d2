//! Lines into records.

use std::io::BufRead;

use makespan_core::{Needs, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::Columns;
use super::needs::needs;
use super::submitted::{Submissions, numbers};
use super::values::{count, duration, instant};
use crate::Clock;
use crate::anomaly::{Anomaly, Report, Unit};
use crate::error::{FormatError, Place};
use crate::lines::each;
use crate::needs::Pool;
use crate::replay::record::{Logged, Record};

/// States of jobs that wait, and of those that have started and not ended.
const WAITING: [&str; 4] = ["PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"];
const RUNNING: [&str; 7] = ["RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "STOPPED", "STAGE_OUT"];

/// More parts of an array than one record may stand for.
const MAX_PARTS: usize = 100_000;

#[derive(Default)]
struct Reader {
    columns: Option<Columns>,
    names: FxHashSet<String>,
    users: FxHashMap<String, u32>,
    report: Report,
    needs: Pool,
    submissions: Submissions,
    /// How many could not start when they were submitted.
    eligible_later: usize,
    /// The last instant of the dump at which anything happened, in seconds.
    last: i64,
    /// With the instants of submission apart, in seconds: times count from the first of them.
    records: Vec<(i64, Record)>,
}

/// A problem, with the column in which it is.
type Problem = (Option<&'static str>, String);

/// Reads a decompressed dump.
pub(crate) fn read_sacct(file: &str, input: &mut dyn BufRead) -> Result<Logged, FormatError> {
    let mut reader = Reader { report: Report::by(Unit::Line), ..Reader::default() };
    each(file, input, |line, content| {
        reader.line(line, content).map_err(|(column, problem)| {
            let place = Place::line(line);
            FormatError::content(file, column.map_or(place.clone(), |column| place.with_field(column)), problem)
        })
    })?;
    let Reader { records, report, columns, submissions, eligible_later, last, .. } = reader;
    let first = records.iter().map(|&(submit, _)| submit).min().unwrap_or(0);
    let alive = records.iter().filter(|(_, record)| record.is_alive).count();
    // Instants are below 2^40 s; a span of more than 292 years saturates and is refused with the instance.
    let since = |instant: i64| Time::from_seconds(instant.saturating_sub(first));
    let records = records.into_iter().map(|(submit, record)| {
        // It was kept as seconds after 1970.
        let started = record.started.map(|started| since(started.ticks() / Time::TICKS_PER_SECOND));
        Record { submit: since(submit), started, ..record }
    });
    let clock = Clock::local(first);
    let shown = clock.as_ref().map_or_else(String::new, |clock| clock.shows(Time::ZERO));
    let mut remarks = vec![format!("times count from the first submission, {shown} by the clock of the dump")];
    if eligible_later > 0 {
        remarks.push(format!(
            "{eligible_later} jobs could not start when they were submitted, for the sake of others or of a time: they are \
             submitted when they could (Eligible)"
        ));
    }
    remarks.extend(columns.map(|columns| submissions.remarks(&columns)).unwrap_or_default());
    let untold = "a dump of sacct does not tell how many processors the machine has";
    let now = (alive > 0).then(|| since(last));
    let week = clock.as_ref().map(Clock::week);
    Ok(Logged { records: records.collect(), report, processors: None, untold, remarks, week, clock, now })
}

impl Reader {
    fn line(&mut self, line: usize, content: &[u8]) -> Result<(), Problem> {
        let text = String::from_utf8_lossy(content);
        let Some(columns) = &self.columns else {
            self.columns = Some(Columns::read(&text).map_err(|problem| (Some("header"), problem))?);
            return Ok(());
        };
        let mut cells: Vec<&str> = text.split('|').map(str::trim).collect();
        if cells.len() == columns.count + 1 && cells.last() == Some(&"") {
            cells.pop();
        }
        let name = cells.get(columns.job).copied().unwrap_or_default();
        // A step is a part of its job.
        if name.contains('.') {
            return Ok(());
        }
        if cells.len() > columns.count {
            self.report.add(Anomaly::LongRecord, line);
            return Ok(());
        }
        let short = cells.len() < columns.count;
        cells.resize(columns.count, "");
        if short {
            self.report.add(Anomaly::ShortRecord, line);
        }
        let (submit, mut record) = match record(columns, &cells, line)? {
            Err(anomaly) => {
                self.report.add(anomaly, line);
                return Ok(());
            }
            Ok(found) => found,
        };
        record.user = columns.user.map(|user| cells[user]).filter(|user| !user.is_empty()).map(|user| {
            let next = self.users.len() as u32;
            *self.users.entry(user.to_owned()).or_insert(next)
        });
        let (needs, broken) = needs(columns, &cells);
        record.needs = self.needs.of(needs);
        let eligible = columns.eligible.map_or(Ok(None), |column| instant(cells[column]));
        let eligible = eligible.map_err(|problem| (Some("Eligible"), problem))?;
        // What a job waits for before it could start is not for a scheduler to shorten.
        let started = record.started.map_or(i64::MAX, |started| started.ticks() / Time::TICKS_PER_SECOND);
        let release = eligible.filter(|&at| at > submit && at <= started).unwrap_or(submit);
        // The start of a job that waits is what Slurm expects, and has not happened.
        let waits = record.is_alive && record.started.is_none();
        let last = last_of(columns, &cells)?.filter(|_| !waits);
        let seen = [Some(submit), Some(release).filter(|_| !waits), last];
        self.last = seen.into_iter().flatten().fold(self.last, i64::max);
        let (names, array) = parts(name);
        let mut added = false;
        for name in names {
            if !self.names.insert(name.clone()) {
                self.report.add(Anomaly::RepeatedNumber, line);
                continue;
            }
            added = true;
            self.eligible_later += usize::from(release > submit);
            let submission = Some(self.submissions.of(columns, &cells, array));
            if record.is_alive {
                let is = if record.started.is_some() { Anomaly::StillRuns } else { Anomaly::StillWaits };
                self.report.add(is, line);
            }
            self.records.push((release, Record { name, submission, needs: record.needs.clone(), ..record.copy() }));
        }
        if added && broken {
            self.report.add(Anomaly::BrokenNeeds, line);
        }
        if added && name.contains('+') {
            self.report.add(Anomaly::Component, line);
        }
        Ok(())
    }
}

/// The last instant of a line, in seconds: now, of a job that runs.
fn last_of(columns: &Columns, cells: &[&str]) -> Result<Option<i64>, Problem> {
    let at = |column: Option<usize>| column.map_or(Ok(None), |column| instant(cells[column]));
    let start = at(columns.start).map_err(|problem| (Some("Start"), problem))?;
    let end = at(columns.end).map_err(|problem| (Some("End"), problem))?;
    let run = run_of(columns, cells)?;
    Ok(end.or_else(|| Some(start? + run?)))
}

/// The parts of an array for which a record stands, such as `7_[2-9%3]`, with the number of the array and how many may run at a
/// time; any other name is its own.
fn parts(name: &str) -> (Vec<String>, Option<(&str, Option<u32>)>) {
    let own = || vec![name.to_owned()];
    let Some((array, rest)) = name.split_once('_') else { return (own(), None) };
    let Some(list) = rest.strip_prefix('[').and_then(|list| list.strip_suffix(']')) else {
        return (own(), Some((array, None)));
    };
    let (list, most) = list.split_once('%').map_or((list, None), |(list, most)| (list, most.parse().ok()));
    let expanded = numbers(list, MAX_PARTS).filter(|numbers| numbers.len() <= MAX_PARTS);
    match expanded {
        Some(numbers) => (numbers.iter().map(|number| format!("{array}_{number}")).collect(), Some((array, most))),
        None => (own(), Some((array, most))),
    }
}

/// A line as the instant of its submission and its record, or why it is none.
fn record(columns: &Columns, cells: &[&str], line: usize) -> Result<Result<(i64, Record), Anomaly>, Problem> {
    let name = cells[columns.job];
    if name.is_empty() {
        return Ok(Err(Anomaly::NoNumber));
    }
    let Some(submit) = instant(cells[columns.submit]).map_err(|problem| (Some("Submit"), problem))? else {
        return Ok(Err(Anomaly::NoSubmitTime));
    };
    let state = columns.state.map_or("", |state| cells[state]).split_whitespace().next().unwrap_or_default();
    let (waits, runs) = (WAITING.contains(&state), RUNNING.contains(&state));
    let requested = limit(columns, cells)?.filter(|&limit| limit > 0).map(Time::from_seconds);
    let run = if waits || runs {
        // It has taken so long already.
        let taken = Time::from_seconds(if runs { run_of(columns, cells)?.unwrap_or(0) } else { 0 });
        let Some(limit) = requested else { return Ok(Err(Anomaly::NotEnded)) };
        limit.max(taken)
    } else {
        match run(columns, cells)? {
            None => return Ok(Err(Anomaly::NoRunTime)),
            Some(0) => return Ok(Err(Anomaly::ZeroRunTime)),
            Some(run) => Time::from_seconds(run),
        }
    };
    let start = columns.start.filter(|_| !waits).map_or(Ok(None), |column| instant(cells[column]));
    let start = start.map_err(|problem| (Some("Start"), problem))?;
    let mut processors = None;
    for &column in &columns.processors {
        let count = count(cells[column]).map_err(|problem| (Some("processors"), problem))?;
        processors = processors.or(count.filter(|&count| count > 0));
    }
    let Some(processors) = processors else { return Ok(Err(Anomaly::NoProcessors)) };
    let processors = u32::try_from(processors).unwrap_or(u32::MAX);
    let submitted = Time::ZERO;
    Ok(Ok((
        submit,
        Record {
            at: line,
            name: name.to_owned(),
            submit: submitted,
            run,
            processors,
            requested,
            user: None,
            queue: None,
            efficiency: None,
            needs: Needs::NONE,
            measured: false,
            started: start.map(Time::from_seconds),
            submission: None,
            is_alive: waits || runs,
        },
    )))
}

/// Seconds from start to end; `None` for a job that never started or never ended.
fn run(columns: &Columns, cells: &[&str]) -> Result<Option<i64>, Problem> {
    let at = |column: Option<usize>| column.map(|column| instant(cells[column])).transpose();
    let start = at(columns.start).map_err(|problem| (Some("Start"), problem))?;
    let end = at(columns.end).map_err(|problem| (Some("End"), problem))?;
    // A column that is there and says that the job did not start or end is believed.
    if start == Some(None) || end == Some(None) {
        return Ok(None);
    }
    Ok(run_of(columns, cells)?.or(match (start.flatten(), end.flatten()) {
        (Some(start), Some(end)) if end >= start => Some(end - start),
        _ => None,
    }))
}

/// Seconds that it has run, as the dump counts them.
fn run_of(columns: &Columns, cells: &[&str]) -> Result<Option<i64>, Problem> {
    let raw = columns.elapsed_raw.map_or(Ok(None), |column| count(cells[column]));
    if let Some(seconds) = raw.map_err(|problem| (Some("ElapsedRaw"), problem))? {
        return Ok(Some(seconds));
    }
    let elapsed = columns.elapsed.map_or(Ok(None), |column| duration(cells[column]));
    elapsed.map_err(|problem| (Some("Elapsed"), problem))
}

/// Seconds of the time limit.
fn limit(columns: &Columns, cells: &[&str]) -> Result<Option<i64>, Problem> {
    let raw = columns.limit_raw.map_or(Ok(None), |column| count(cells[column]));
    if let Some(minutes) = raw.map_err(|problem| (Some("TimelimitRaw"), problem))? {
        return Ok(Some(minutes * 60));
    }
    columns.limit.map_or(Ok(None), |column| duration(cells[column])).map_err(|problem| (Some("Timelimit"), problem))
}
