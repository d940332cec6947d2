//! Converts the lines of a dump, the output of sacct, to records of a log.

use std::io::BufRead;

use makespan_core::{Time, counted};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{RecordJobs, cells, is_step, parts};
use super::columns::SacctColumns;
use super::needs::needs;
use super::submitted::Submissions;
use super::values::{count, duration, instant, zone};
use crate::Clock;
use crate::anomaly::{Anomaly, LogStatistics, Unit};
use crate::error::{FilePlace, FormatError};
use crate::lines::each;
use crate::needs::Pool;
use crate::replay::LoggedEnd;
use crate::replay::record::{LogContent, LogRecord, guessed_run};

/// States of waiting jobs, and states of jobs that have started and not ended.
const WAITING: [&str; 4] = ["PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"];
const RUNNING: [&str; 7] = ["RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "RESIZING", "STOPPED", "STAGE_OUT"];

/// The output that has all columns of a log.
const COMMAND: &str = "the output of `SLURM_BITSTR_LEN=0 sacct --allusers --parsable2 \
                       --format=JobID,User,Account,Partition,QOS,Submit,Start,End,Elapsed,Timelimit,AllocCPUS,State`";

/// Returns true for the state of a job that has not ended.
pub(super) fn is_alive(state: &str) -> bool {
    WAITING.contains(&state) || RUNNING.contains(&state)
}

/// Maximum total number of array tasks that are read from task lists of a dump.
const MAX_EXPANDED: usize = 1_000_000;

#[derive(Default)]
struct Reader {
    columns: Option<SacctColumns>,
    names: FxHashSet<String>,
    users: FxHashMap<String, u32>,
    report: LogStatistics,
    needs: Pool,
    submissions: Submissions,
    /// Number of array tasks read so far from task lists such as `7_[2-9]`. The first task of each list is not
    /// counted.
    expanded: usize,
    /// Number of jobs that could not start immediately after their submission.
    eligible_later: usize,
    /// Latest instant of any event in the dump, in seconds after the beginning of 1970.
    last: i64,
    /// Time zone of the first submit time that states a zone, in seconds east of Greenwich.
    east: Option<i64>,
    /// Records, each with its release date in seconds after the beginning of 1970. The field `submit` of a record is
    /// set after all records are read, relative to the earliest release date.
    records: Vec<(i64, LogRecord)>,
}

/// Problem, and the name of its column.
type Problem = (Option<&'static str>, String);

/// Reads a decompressed dump.
pub(crate) fn read_sacct(file: &str, input: &mut dyn BufRead) -> Result<LogContent, FormatError> {
    let mut reader = Reader { report: LogStatistics::by(Unit::Line), ..Reader::default() };
    each(file, input, |line, content| {
        reader.line(line, content).map_err(|(column, problem)| {
            let place = FilePlace::line(line);
            FormatError::content(file, column.map_or(place.clone(), |column| place.with_field(column)), problem)
        })
    })?;
    let Reader { records, report, columns, submissions, eligible_later, last, east, .. } = reader;
    let first = records.iter().map(|&(submit, _)| submit).min().unwrap_or(0);
    let alive = records.iter().filter(|(_, record)| record.is_alive).count();
    // Instants are below 2^40 s. A span of more than 292 years saturates, and the instance is then refused.
    let since = |instant: i64| Time::from_seconds(instant.saturating_sub(first));
    let records = records.into_iter().map(|(submit, record)| {
        // So far, `started` contains seconds after the beginning of 1970.
        let started = record.started.map(|started| since(started.ticks() / Time::TICKS_PER_SECOND));
        LogRecord { submit: since(submit), started, ..record }
    });
    let clock = Clock::local(first + east.unwrap_or(0));
    let shown = clock.as_ref().map_or_else(String::new, |clock| clock.shows(Time::ZERO));
    let mut plan_remarks = vec![format!("time 0 is the first submission ({shown} in the local time of the dump)")];
    plan_remarks.extend(columns.map(|columns| submissions.remarks(&columns)).unwrap_or_default());
    let mut remarks = Vec::new();
    if eligible_later > 0 {
        remarks.push(format!(
            "{} waited for other jobs or for a begin time after the submission; their submit time is replaced by the \
             time at which they could first start (Eligible)",
            counted(eligible_later, "job")
        ));
    }
    let untold = "a dump of sacct does not state the number of processors of the machine";
    let now = (alive > 0).then(|| since(last));
    let week = clock.as_ref().map(Clock::week);
    let (records, processors) = (records.collect(), None);
    Ok(LogContent { records, report, processors, untold, remarks, plan_remarks, week, clock, now })
}

impl Reader {
    fn line(&mut self, line: usize, content: &[u8]) -> Result<(), Problem> {
        let text = String::from_utf8_lossy(content);
        let Some(columns) = &self.columns else {
            self.columns = Some(SacctColumns::read(&text, COMMAND).map_err(|problem| (Some("header"), problem))?);
            return Ok(());
        };
        let Some(mut cells) = cells(columns, &text) else {
            // A step is a part of a job, so skipping a step loses no job.
            if !is_step(&name_of(columns, &text)) {
                self.report.add(Anomaly::LongRecord, line);
            }
            return Ok(());
        };
        let name = cells.get(columns.job).copied().unwrap_or_default();
        if is_step(name) {
            return Ok(());
        }
        // If several dumps are concatenated, each of them begins with a header.
        if name.eq_ignore_ascii_case("JobID") || name.eq_ignore_ascii_case("JobIDRaw") {
            let mut next = SacctColumns::read(&text, COMMAND).map_err(|problem| (Some("header"), problem))?;
            next.unused
                .extend(columns.unused.iter().filter(|name| !next.unused.contains(name)).cloned().collect::<Vec<_>>());
            self.columns = Some(next);
            return Ok(());
        }
        let short = cells.len() < columns.count;
        cells.resize(columns.count, "");
        if short {
            self.report.add(Anomaly::ShortRecord, line);
        }
        let mut odd = Vec::new();
        let (submit, mut record) = match record(columns, &cells, line, &mut odd) {
            Err(anomaly) => {
                self.report.add(anomaly, line);
                return Ok(());
            }
            Ok(found) => found,
        };
        self.east = self.east.or(zone(cells[columns.submit]).1);
        record.user = columns.user.map(|user| cells[user]).filter(|user| !user.is_empty()).map(|user| {
            let next = self.users.len() as u32;
            *self.users.entry(user.to_owned()).or_insert(next)
        });
        let (needs, broken) = needs(columns, &cells);
        record.needs = self.needs.of(needs);
        let eligible = instant_of(columns.eligible, &cells, &mut odd);
        // The release date is the instant from which the job could start, because no scheduler can start the job
        // earlier.
        let started = record.started.map_or(i64::MAX, |started| started.ticks() / Time::TICKS_PER_SECOND);
        let release = eligible.filter(|&at| at > submit && at <= started).unwrap_or(submit);
        // For a waiting job, Slurm prints the expected start. The expected start is ignored.
        let waits = record.is_alive && record.started.is_none();
        let last = last_of(columns, &cells).filter(|_| !waits);
        let seen = [Some(submit), Some(release).filter(|_| !waits), last];
        self.last = seen.into_iter().flatten().fold(self.last, i64::max);
        let RecordJobs { mut names, array, mut missing } = parts(name);
        self.expanded += names.len() - 1;
        if self.expanded > MAX_EXPANDED {
            (names, missing) = (vec![name.to_owned()], Some(Anomaly::UnreadArray));
        }
        odd.extend(missing);
        odd.extend(broken.then_some(Anomaly::BrokenNeeds));
        odd.extend(name.contains('+').then_some(Anomaly::Component));
        odd.sort_unstable();
        odd.dedup();
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
            self.records.push((release, LogRecord { name, submission, needs: record.needs.clone(), ..record.copy() }));
        }
        odd.into_iter().filter(|_| added).for_each(|anomaly| self.report.add(anomaly, line));
        Ok(())
    }
}

/// Returns the cell in the column of job names. The result is correct only if no earlier cell contains a `|`.
fn name_of(columns: &SacctColumns, line: &str) -> String {
    line.split('|').nth(columns.job).unwrap_or_default().trim().to_owned()
}

/// Returns the instant in a column. If the instant is unreadable, records an anomaly and returns `None`.
fn instant_of(column: Option<usize>, cells: &[&str], odd: &mut Vec<Anomaly>) -> Option<i64> {
    instant(cells[column?]).unwrap_or_else(|_| {
        odd.push(Anomaly::BrokenField);
        None
    })
}

/// Returns the end of a job, in seconds. For a running job, returns the instant at which the dump was written: the
/// start of the job plus its run time so far.
pub(super) fn last_of(columns: &SacctColumns, cells: &[&str]) -> Option<i64> {
    let at = |column: Option<usize>| instant(cells[column?]).ok().flatten();
    at(columns.end).or_else(|| Some(at(columns.start)? + run_of(columns, cells).ok()??))
}

/// Returns the submit time and the record of a line, or the reason why the line is skipped. Adds an anomaly to `odd`
/// for each value that was replaced.
fn record(
    columns: &SacctColumns,
    cells: &[&str],
    line: usize,
    odd: &mut Vec<Anomaly>,
) -> Result<(i64, LogRecord), Anomaly> {
    let name = cells[columns.job];
    if name.is_empty() {
        return Err(Anomaly::NoNumber);
    }
    let submit = instant(cells[columns.submit]).ok().flatten().ok_or(Anomaly::NoSubmitTime)?;
    let state = columns.state.map_or("", |state| cells[state]).split_whitespace().next().unwrap_or_default();
    let (waits, runs) = (WAITING.contains(&state), RUNNING.contains(&state));
    let requested = limit(columns, cells).unwrap_or_else(|_| {
        odd.push(Anomaly::BrokenLimit);
        None
    });
    let mut is_guess = false;
    let run = if waits || runs {
        // The estimated run time of a running job is at least its run time so far.
        let taken = run_of(columns, cells).ok().flatten().filter(|_| runs);
        requested.ok_or(Anomaly::NotEnded)?.max(Time::from_seconds(taken.unwrap_or(0)))
    } else {
        match run(columns, cells, odd).and_then(|run| run.map(time_of).transpose()) {
            Ok(None) => return Err(Anomaly::NoRunTime),
            Ok(Some(Time::ZERO)) if state == "CANCELLED" && columns.start.is_none() => return Err(Anomaly::NoRunTime),
            Ok(Some(Time::ZERO)) => {
                odd.push(Anomaly::ZeroRunTime);
                Time::TICK
            }
            Ok(Some(run)) => run,
            Err(_) => {
                odd.push(Anomaly::GuessedRunTime);
                is_guess = true;
                guessed_run(requested)
            }
        }
    };
    let start = instant_of(columns.start.filter(|_| !waits), cells, odd);
    Ok((
        submit,
        LogRecord {
            at: line,
            name: name.to_owned(),
            submit: Time::ZERO,
            run,
            is_guess,
            processors: processors(columns, cells)?,
            requested,
            started: start.map(Time::from_seconds),
            is_alive: waits || runs,
            end: LoggedEnd::of_slurm(state).filter(|_| !waits && !runs),
            ..LogRecord::default()
        },
    ))
}

/// Returns the first positive number in the columns of processors.
pub(super) fn processors(columns: &SacctColumns, cells: &[&str]) -> Result<u32, Anomaly> {
    let mut missing = Anomaly::NoProcessors;
    for &column in &columns.processors {
        match count(cells[column]) {
            Ok(Some(count)) if count > 0 => return Ok(u32::try_from(count).unwrap_or(u32::MAX)),
            Ok(_) => {}
            Err(_) => missing = Anomaly::BrokenProcessors,
        }
    }
    Err(missing)
}

/// Returns the seconds between start and end, or `None` for a job that never started or never ended.
///
/// # Errors
/// An error if a job ran, but its run time is missing or unreadable.
fn run(columns: &SacctColumns, cells: &[&str], odd: &mut Vec<Anomaly>) -> Result<Option<i64>, String> {
    let at = |column: Option<usize>| column.map(|column| instant(cells[column]));
    let (start, end) = (at(columns.start), at(columns.end));
    // If the column of starts or ends exists but contains no instant, the job did not start or end.
    if start == Some(Ok(None)) || end == Some(Ok(None)) {
        return Ok(None);
    }
    let between = || match (start, end) {
        (Some(Ok(Some(start))), Some(Ok(Some(end)))) if end >= start => Some(end - start),
        _ => None,
    };
    match run_of(columns, cells) {
        Ok(Some(seconds)) => Ok(Some(seconds)),
        Ok(None) => between().map(Some).ok_or_else(String::new),
        Err(problem) => {
            let seconds = between().ok_or(problem)?;
            odd.push(Anomaly::BrokenField);
            Ok(Some(seconds))
        }
    }
}

/// Returns the run time in seconds, if the dump states a run time.
pub(super) fn run_of(columns: &SacctColumns, cells: &[&str]) -> Result<Option<i64>, String> {
    if let Some(seconds) = columns.elapsed_raw.map_or(Ok(None), |column| count(cells[column]))? {
        return Ok(Some(seconds));
    }
    columns.elapsed.map_or(Ok(None), |column| duration(cells[column]))
}

/// Returns the time limit, or an error if the limit is unreadable or above 292 years.
fn limit(columns: &SacctColumns, cells: &[&str]) -> Result<Option<Time>, String> {
    let minutes = columns.limit_raw.map_or(Ok(None), |column| count(cells[column]))?;
    let seconds = match minutes {
        Some(minutes) => Some(minutes * 60),
        None => columns.limit.map_or(Ok(None), |column| duration(cells[column]))?,
    };
    seconds.filter(|&seconds| seconds > 0).map(time_of).transpose()
}

/// Converts seconds to a time, or returns an error if the time is above 292 years.
fn time_of(seconds: i64) -> Result<Time, String> {
    let ticks = seconds.checked_mul(Time::TICKS_PER_SECOND);
    ticks.map(Time::from_ticks).ok_or_else(|| format!("{seconds} s are above 292 years"))
}
