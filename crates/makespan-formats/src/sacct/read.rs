//! Lines into records.

use std::io::BufRead;

use makespan_core::{Needs, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::columns::Columns;
use super::needs::needs;
use super::values::{count, duration, instant};
use crate::anomaly::{Anomaly, Report, Unit};
use crate::error::{FormatError, Place};
use crate::lines::each;
use crate::needs::Pool;
use crate::replay::record::{Logged, Record};
use crate::swf::of_week;

/// States of jobs that have not ended.
const ALIVE: [&str; 7] = ["RUNNING", "PENDING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "STOPPED"];

#[derive(Default)]
struct Reader {
    columns: Option<Columns>,
    names: FxHashSet<String>,
    users: FxHashMap<String, u32>,
    report: Report,
    needs: Pool,
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
    let Reader { records, report, .. } = reader;
    let first = records.iter().map(|&(submit, _)| submit).min().unwrap_or(0);
    let records = records.into_iter().map(|(submit, record)| {
        // Instants are below 2^40 s; a span of more than 292 years saturates and is refused with the instance.
        Record { submit: Time::from_seconds(submit - first), ..record }
    });
    let remarks = vec![format!("times count from the first submission, {first} s after 1970 by the clock of the dump")];
    let untold = "a dump of sacct does not tell how many processors the machine has";
    Ok(Logged { records: records.collect(), report, processors: None, untold, remarks, week: Some(of_week(first)) })
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
        match record(columns, &cells, line)? {
            Err(anomaly) => self.report.add(anomaly, line),
            Ok(_) if !self.names.insert(name.to_owned()) => self.report.add(Anomaly::RepeatedNumber, line),
            Ok((submit, mut record)) => {
                record.user = columns.user.map(|user| cells[user]).filter(|user| !user.is_empty()).map(|user| {
                    let next = self.users.len() as u32;
                    *self.users.entry(user.to_owned()).or_insert(next)
                });
                let (needs, broken) = needs(columns, &cells);
                record.needs = self.needs.of(needs);
                if broken {
                    self.report.add(Anomaly::BrokenNeeds, line);
                }
                if name.contains('+') {
                    self.report.add(Anomaly::Component, line);
                }
                self.records.push((submit, record));
            }
        }
        Ok(())
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
    if ALIVE.contains(&state) {
        return Ok(Err(Anomaly::NotEnded));
    }
    let run = match run(columns, cells)? {
        None => return Ok(Err(Anomaly::NoRunTime)),
        Some(0) => return Ok(Err(Anomaly::ZeroRunTime)),
        Some(run) => Time::from_seconds(run),
    };
    let mut processors = None;
    for &column in &columns.processors {
        let count = count(cells[column]).map_err(|problem| (Some("processors"), problem))?;
        processors = processors.or(count.filter(|&count| count > 0));
    }
    let Some(processors) = processors else { return Ok(Err(Anomaly::NoProcessors)) };
    let processors = u32::try_from(processors).unwrap_or(u32::MAX);
    let requested = limit(columns, cells)?.filter(|&limit| limit > 0).map(Time::from_seconds);
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
    let raw = columns.elapsed_raw.map_or(Ok(None), |column| count(cells[column]));
    if let Some(seconds) = raw.map_err(|problem| (Some("ElapsedRaw"), problem))? {
        return Ok(Some(seconds));
    }
    let elapsed = columns.elapsed.map_or(Ok(None), |column| duration(cells[column]));
    if let Some(seconds) = elapsed.map_err(|problem| (Some("Elapsed"), problem))? {
        return Ok(Some(seconds));
    }
    Ok(match (start.flatten(), end.flatten()) {
        (Some(start), Some(end)) if end >= start => Some(end - start),
        _ => None,
    })
}

/// Seconds of the time limit.
fn limit(columns: &Columns, cells: &[&str]) -> Result<Option<i64>, Problem> {
    let raw = columns.limit_raw.map_or(Ok(None), |column| count(cells[column]));
    if let Some(minutes) = raw.map_err(|problem| (Some("TimelimitRaw"), problem))? {
        return Ok(Some(minutes * 60));
    }
    columns.limit.map_or(Ok(None), |column| duration(cells[column])).map_err(|problem| (Some("Timelimit"), problem))
}
