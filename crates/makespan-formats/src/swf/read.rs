//! Reads a log.

use std::cmp::Ordering;
use std::io::BufRead;
use std::sync::Arc;

use makespan_core::{Need, Needs, Resource, Submission, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{COUNT, SwfFields, count, kibibytes, split, time, whole};
use super::header::Header;
use super::log::{Log, SwfLogOptions};
use crate::anomaly::{Anomaly, LogStatistics, Unit};
use crate::error::{FilePlace, FormatError};
use crate::lines::each;
use crate::replay::LoggedEnd;
use crate::replay::record::{LogContent, LogRecord, guessed_run, planned};

/// Lines that are read as records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Lines with exactly 18 fields. Any other number of fields is an error.
    Whole,
    /// Lines with up to 18 fields. Missing fields have no value.
    Short,
}

/// Reads a decompressed log as an instance for planning. `file` is the file name for errors.
///
/// # Errors
/// [`FormatError`] with the line and the field.
pub fn read_swf(file: &str, input: &mut dyn BufRead, options: &SwfLogOptions) -> Result<Log, FormatError> {
    planned(file, records(file, input, Lines::Whole)?, options, None)
}

/// Reads the records of a decompressed log.
pub(crate) fn records(file: &str, input: &mut dyn BufRead, lines: Lines) -> Result<LogContent, FormatError> {
    let (header, numbers, report) = (Header::default(), FxHashSet::default(), LogStatistics::by(Unit::Line));
    let mut reader =
        Reader { file, lines, header, numbers, report, needs: FxHashMap::default(), submissions: FxHashMap::default() };
    let records = reader.records(input)?;
    let Reader { header, report, .. } = reader;
    let untold = "the header states neither MaxProcs nor MaxNodes";
    let (clock, unknown) = header.clock();
    let remarks = header.remarks().chain(unknown).collect();
    let week = header.week();
    let (processors, plan_remarks) = (header.processors(), Vec::new());
    Ok(LogContent { records, report, processors, untold, remarks, plan_remarks, week, clock, now: None })
}

struct Reader<'a> {
    file: &'a str,
    lines: Lines,
    header: Header,
    numbers: FxHashSet<u64>,
    report: LogStatistics,
    /// Needs for each amount of memory per processor.
    needs: FxHashMap<u64, Needs>,
    /// Submissions for each user, group and partition.
    submissions: FxHashMap<[Option<u64>; 3], Arc<Submission>>,
}

impl Reader<'_> {
    fn records(&mut self, input: &mut dyn BufRead) -> Result<Vec<LogRecord>, FormatError> {
        // The header's `MaxJobs` may be wrong and huge, so it is not used as a capacity.
        let mut records = Vec::new();
        each(self.file, input, |line, content| {
            if content.starts_with(b";") {
                if let Err(stated) = self.header.take(content) {
                    self.report.add_machine(FilePlace::line(line), stated);
                }
            } else {
                records.extend(self.record(line, content)?);
            }
            Ok(())
        })?;
        Ok(records)
    }

    fn record(&mut self, line: usize, content: &[u8]) -> Result<Option<LogRecord>, FormatError> {
        let Some(SwfFields { texts: fields, is_broken, .. }) = self.fields(line, content)? else { return Ok(None) };
        let mut skip = |anomaly| {
            self.report.add(anomaly, line);
            Ok(None)
        };
        let Some(number) = whole(fields[0]) else { return skip(Anomaly::NoNumber) };
        let Ok(Some(submit)) = time(fields[1]) else { return skip(Anomaly::NoSubmitTime) };
        let requested = time(fields[8]).map(|requested| requested.filter(|&requested| requested > Time::ZERO));
        let Some((run, odd)) = run_time(&fields, requested.unwrap_or_default()) else {
            return skip(Anomaly::NoRunTime);
        };
        let processors = match (count(fields[4]), count(fields[7])) {
            (Err(()), _) | (Ok(None), Err(())) => return skip(Anomaly::BrokenProcessors),
            (Ok(Some(processors)), _) | (Ok(None), Ok(Some(processors))) => processors,
            (Ok(None), Ok(None)) => return skip(Anomaly::NoProcessors),
        };
        if !self.numbers.insert(number) {
            return skip(Anomaly::RepeatedNumber);
        }
        let user = match count(fields[11]) {
            // In some logs, users are numbered from 0. In other logs, users are numbered from 1.
            Ok(None) => whole(fields[11]).map(|_| 0),
            Ok(Some(user)) => u32::try_from(user).ok(),
            Err(()) => None,
        };
        if user.is_none() && !fields[11].starts_with(b"-") {
            self.report.add(Anomaly::BrokenUser, line);
        }
        let wait = time(fields[2]);
        let waits = [fields[16], fields[17]].into_iter().any(|field| matches!(count(field), Ok(Some(_)) | Err(())));
        let found = [
            (is_broken || wait.is_err(), Anomaly::BrokenField),
            (requested.is_err(), Anomaly::BrokenLimit),
            (waits, Anomaly::Precedence),
        ];
        let found = found.into_iter().filter_map(|(is_found, anomaly)| is_found.then_some(anomaly));
        found.chain(odd).for_each(|anomaly| self.report.add(anomaly, line));
        let submission = self.submission_of([11, 12, 15].map(|field| whole(fields[field])));
        let (requested_memory, used_memory) = (kibibytes(fields[9]), kibibytes(fields[6]));
        let memory = requested_memory.or(used_memory);
        Ok(Some(LogRecord {
            at: line,
            name: number.to_string(),
            submit,
            run,
            is_guess: odd == Some(Anomaly::GuessedRunTime),
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
            requested: requested.unwrap_or_default(),
            // Few users read this field, so an invalid value is not an error.
            efficiency: time(fields[5])
                .unwrap_or_default()
                .filter(|&busy| busy > Time::ZERO)
                .map(|busy| busy.ticks() as f64 / run.ticks() as f64),
            user,
            queue: whole(fields[14]).and_then(|queue| u32::try_from(queue).ok()),
            measured: requested_memory.is_none() && memory.is_some(),
            needs: memory.map_or(Needs::NONE, |bytes| self.needs_of(bytes)),
            started: wait.unwrap_or_default().map(|wait| submit + wait),
            submission,
            is_alive: false,
            end: LoggedEnd::of_swf(whole(fields[10]), requested.unwrap_or_default().is_some_and(|limit| run >= limit)),
        }))
    }

    /// Returns the submission for a user, a group and a partition, which SWF states as numbers. Returns `None` if the
    /// log states none of these numbers.
    fn submission_of(&mut self, numbers: [Option<u64>; 3]) -> Option<Arc<Submission>> {
        if numbers == [None; 3] {
            return None;
        }
        let made = || {
            let [user, account, partition] = numbers.map(|number| number.map(|number| number.to_string().into()));
            Arc::new(Submission { user, account, partitions: partition.into_iter().collect(), ..Submission::default() })
        };
        Some(self.submissions.entry(numbers).or_insert_with(made).clone())
    }

    /// Returns the need for `bytes` of memory per processor. Jobs with equal needs share one object, which saves
    /// memory.
    fn needs_of(&mut self, bytes: u64) -> Needs {
        let needs = || Needs::new([(Resource::MEMORY, Need::per_processor(bytes))]).unwrap_or_default();
        self.needs.entry(bytes).or_insert_with(needs).clone()
    }

    /// Returns the fields of a record. If `lines` is `Lines::Short`, a record may have too few fields, and the result
    /// for a record with too many fields is `None`. Otherwise, a wrong number of fields is an error.
    fn fields<'b>(&mut self, line: usize, content: &'b [u8]) -> Result<Option<SwfFields<'b>>, FormatError> {
        let fields = split(content);
        match fields.count.cmp(&COUNT) {
            Ordering::Equal => Ok(Some(fields)),
            Ordering::Less if self.lines == Lines::Short => {
                self.report.add(Anomaly::ShortRecord, line);
                Ok(Some(fields))
            }
            Ordering::Greater if self.lines == Lines::Short => {
                self.report.add(Anomaly::LongRecord, line);
                Ok(None)
            }
            _ => {
                let problem = format!("the record has {} fields; it must have {COUNT}", fields.count);
                Err(self.wrong(line, None, &problem))
            }
        }
    }

    fn wrong(&self, line: usize, field: Option<&str>, problem: &str) -> FormatError {
        let place = FilePlace { line: Some(line), column: None, field: field.map(str::to_owned) };
        FormatError::content(self.file, place, problem)
    }
}

/// Returns the run time of a record, or `None` if the job never started. If the run time is zero, missing or
/// unreadable, returns a replacement and the kind of anomaly. A job never started if its status is 5 (cancelled) and
/// its run time is missing. A cancelled job with run time 0 and without processors did not start either.
fn run_time(fields: &[&[u8]; COUNT], requested: Option<Time>) -> Option<(Time, Option<Anomaly>)> {
    let is_cancelled = fields[10] == b"5";
    let has_processors = matches!(count(fields[4]), Ok(Some(_)));
    match time(fields[3]) {
        Ok(Some(Time::ZERO)) if is_cancelled && !has_processors => None,
        Ok(Some(Time::ZERO)) => Some((Time::TICK, Some(Anomaly::ZeroRunTime))),
        Ok(Some(run)) => Some((run, None)),
        Ok(None) if is_cancelled => None,
        Ok(None) | Err(()) => Some((guessed_run(requested), Some(Anomaly::GuessedRunTime))),
    }
}
