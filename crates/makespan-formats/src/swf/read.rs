//! Reads a log.

use std::io::BufRead;
use std::sync::Arc;

use makespan_core::{Instance, Need, Needs, Resource, Submission, Time};
use rustc_hash::{FxHashMap, FxHashSet};

use super::fields::{COUNT, NAMES, Wrong, count, kibibytes, split, time, whole};
use super::header::Header;
use crate::SpeedupSpec;
use crate::anomaly::{Anomaly, Report, Unit};
use crate::error::{FormatError, Place};
use crate::lines::each;
use crate::replay::record::{Logged, Record, planned};

/// How a log is read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Options {
    /// Processors of the platform, instead of the header's.
    pub processors: Option<u32>,
    /// Makes the jobs moldable.
    pub speedup: Option<SpeedupSpec>,
    /// Of `downey:random`.
    pub seed: u64,
    /// Refuses a log of which any record would be skipped.
    pub strict: bool,
}

/// A log as an instance.
#[derive(Clone, Debug)]
pub struct Log {
    /// Its jobs.
    pub instance: Instance,
    /// What was skipped.
    pub report: Report,
    /// What else its user should know.
    pub remarks: Vec<String>,
}

/// Which lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lines {
    /// Those of exactly 18 fields; any other is an error.
    Whole,
    /// Also shorter ones, whose last fields are then missing.
    Short,
}

/// Reads a decompressed log as an instance to plan; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with the line and the field.
pub fn read_swf(file: &str, input: &mut dyn BufRead, options: &Options) -> Result<Log, FormatError> {
    planned(file, records(file, input, Lines::Whole)?, options, None)
}

/// Reads the records of a decompressed log.
pub(crate) fn records(file: &str, input: &mut dyn BufRead, lines: Lines) -> Result<Logged, FormatError> {
    let (header, numbers, report) = (Header::default(), FxHashSet::default(), Report::by(Unit::Line));
    let mut reader =
        Reader { file, lines, header, numbers, report, needs: FxHashMap::default(), submissions: FxHashMap::default() };
    let records = reader.records(input)?;
    let Reader { header, report, .. } = reader;
    let untold = "the header names neither MaxProcs nor MaxNodes";
    let (clock, unknown) = header.clock();
    let remarks = header.remarks().chain(unknown).collect();
    let week = header.week();
    Ok(Logged { records, report, processors: header.processors(), untold, remarks, week, clock, now: None })
}

struct Reader<'a> {
    file: &'a str,
    lines: Lines,
    header: Header,
    numbers: FxHashSet<u64>,
    report: Report,
    /// For each amount of memory a processor.
    needs: FxHashMap<u64, Needs>,
    /// For each user, group and partition.
    submissions: FxHashMap<[Option<u64>; 3], Arc<Submission>>,
}

impl Reader<'_> {
    fn records(&mut self, input: &mut dyn BufRead) -> Result<Vec<Record>, FormatError> {
        // The header's MaxJobs is not trusted with memory.
        let mut records = Vec::new();
        each(self.file, input, |line, content| {
            if content.starts_with(b";") {
                self.header.take(content).map_err(|problem| self.wrong(line, Some("header"), &problem))?;
            } else {
                records.extend(self.record(line, content)?);
            }
            Ok(())
        })?;
        Ok(records)
    }

    fn record(&mut self, line: usize, content: &[u8]) -> Result<Option<Record>, FormatError> {
        let fields = self.fields(line, content)?;
        let instant =
            |field: usize| time(fields[field]).map_err(|problem| self.wrong(line, Some(&named(field)), &problem));
        let (submit, run, requested) = (instant(1)?, instant(3)?, instant(8)?);
        let mut skip = |anomaly| {
            self.report.add(anomaly, line);
            Ok(None)
        };
        let Some(number) = whole(fields[0]) else { return skip(Anomaly::NoNumber) };
        let Some(submit) = submit else { return skip(Anomaly::NoSubmitTime) };
        let Some(run) = run else { return skip(Anomaly::NoRunTime) };
        if run == Time::ZERO {
            return skip(Anomaly::ZeroRunTime);
        }
        let processors = match (count(fields[4]), count(fields[7])) {
            (Err(()), _) | (Ok(None), Err(())) => return skip(Anomaly::BrokenProcessors),
            (Ok(Some(processors)), _) | (Ok(None), Ok(Some(processors))) => processors,
            (Ok(None), Ok(None)) => return skip(Anomaly::NoProcessors),
        };
        if !self.numbers.insert(number) {
            return skip(Anomaly::RepeatedNumber);
        }
        let user = match count(fields[11]) {
            // Users are numbered from 0 or from 1.
            Ok(None) => whole(fields[11]).map(|_| 0),
            Ok(Some(user)) => u32::try_from(user).ok(),
            Err(()) => None,
        };
        if user.is_none() && !fields[11].starts_with(b"-") {
            self.report.add(Anomaly::BrokenUser, line);
        }
        let wait = time(fields[2]).map_err(|problem| self.wrong(line, Some(&named(2)), &problem))?;
        let submission = self.submission_of([11, 12, 15].map(|field| whole(fields[field])));
        let (requested_memory, used_memory) = (kibibytes(fields[9]), kibibytes(fields[6]));
        let memory = requested_memory.or(used_memory);
        Ok(Some(Record {
            at: line,
            name: number.to_string(),
            submit,
            run,
            processors: u32::try_from(processors).unwrap_or(u32::MAX),
            requested: requested.filter(|&requested| requested > Time::ZERO),
            // Read by few, so that a bad one is no error.
            efficiency: time(fields[5])
                .unwrap_or_default()
                .filter(|&busy| busy > Time::ZERO)
                .map(|busy| busy.ticks() as f64 / run.ticks() as f64),
            user,
            queue: whole(fields[14]).and_then(|queue| u32::try_from(queue).ok()),
            measured: requested_memory.is_none() && memory.is_some(),
            needs: memory.map_or(Needs::NONE, |bytes| self.needs_of(bytes)),
            started: wait.map(|wait| submit + wait),
            submission,
            is_alive: false,
        }))
    }

    /// By user, group and partition, which SWF tells by number; `None` where it tells none.
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

    /// So many bytes for each processor, and no name of a resource more for each job.
    fn needs_of(&mut self, bytes: u64) -> Needs {
        let needs = || Needs::new([(Resource::MEMORY, Need::per_processor(bytes))]).unwrap_or_default();
        self.needs.entry(bytes).or_insert_with(needs).clone()
    }

    fn fields<'b>(&mut self, line: usize, content: &'b [u8]) -> Result<[&'b [u8]; COUNT], FormatError> {
        match split(content) {
            Ok((fields, COUNT)) => Ok(fields),
            Ok((fields, _)) if self.lines == Lines::Short => {
                self.report.add(Anomaly::ShortRecord, line);
                Ok(fields)
            }
            Ok((_, count)) | Err(Wrong::Count(count)) => {
                Err(self.wrong(line, None, &format!("the record has {count} fields; it must have {COUNT}")))
            }
            Err(Wrong::Number(field)) => {
                let text = content.split(u8::is_ascii_whitespace).filter(|text| !text.is_empty()).nth(field);
                let text = String::from_utf8_lossy(text.unwrap_or_default());
                let problem = format!("`{text}` is not a number; write -1 where it is missing");
                Err(self.wrong(line, Some(&named(field)), &problem))
            }
        }
    }

    fn wrong(&self, line: usize, field: Option<&str>, problem: &str) -> FormatError {
        let place = Place { line: Some(line), column: None, field: field.map(str::to_owned) };
        FormatError::content(self.file, place, problem)
    }
}

fn named(field: usize) -> String {
    format!("field {} ({})", field + 1, NAMES[field])
}
