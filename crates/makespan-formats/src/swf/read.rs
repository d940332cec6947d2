//! Reads a log.

use std::io::{BufRead, Read};

use makespan_core::{Instance, Job, Platform, Profile, Time};
use rustc_hash::FxHashSet;

use super::fields::{COUNT, NAMES, Wrong, split, time, whole};
use super::header::Header;
use super::speedup::{Laws, SpeedupSpec, through};
use super::{Reason, Report};
use crate::error::{FormatError, Place};

/// No line of a log is longer.
const LONGEST_LINE: u64 = 1 << 16;

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
}

/// A record that can be a job, but for its width.
struct Record {
    line: usize,
    number: u64,
    submit: Time,
    run: Time,
    processors: u32,
    requested: Option<Time>,
}

/// Reads a decompressed log; `file` names it in errors.
///
/// # Errors
/// [`FormatError`] with the line and the field.
pub fn read_swf(file: &str, input: &mut dyn BufRead, options: &Options) -> Result<Log, FormatError> {
    let mut reader =
        Reader { file, header: Header::default(), numbers: FxHashSet::default(), report: Report::default() };
    let records = reader.records(input)?;
    let Reader { header, mut report, .. } = reader;
    let wrong = |problem: &dyn std::fmt::Display| FormatError::content(file, Place::default(), problem);
    let processors = options.processors.or(header.processors()).ok_or_else(|| {
        wrong(&"the header names neither MaxProcs nor MaxNodes; state the processors of the platform (--processors)")
    })?;
    let platform = Platform::flat(processors).map_err(|error| wrong(&error))?;
    let mut laws = options.speedup.map(|spec| Laws::new(spec, options.seed, processors));
    let mut jobs = Vec::with_capacity(records.len());
    for record in &records {
        if record.processors > processors {
            report.skip(Reason::TooWide, record.line);
        } else {
            let job = job(record, processors, laws.as_mut());
            jobs.push(job.map_err(|problem| FormatError::content(file, Place::line(record.line), problem))?);
        }
    }
    report.jobs = jobs.len();
    if let Some(first) = report.skipped.iter().min_by_key(|skipped| skipped.first_line).filter(|_| options.strict) {
        let problem = format!("a record is refused: {}", first.reason);
        return Err(FormatError::content(file, Place::line(first.first_line), problem));
    }
    if jobs.is_empty() {
        let skipped = report.skipped.first().map_or_else(String::new, |skipped| format!(" ({skipped})"));
        return Err(wrong(&format!("no record can be a job{skipped}; a log has a line of {COUNT} numbers a job")));
    }
    let instance = Instance::new(platform, jobs, Vec::new()).map_err(|error| wrong(&error))?;
    Ok(Log { instance, report })
}

struct Reader<'a> {
    file: &'a str,
    header: Header,
    numbers: FxHashSet<u64>,
    report: Report,
}

impl Reader<'_> {
    fn records(&mut self, input: &mut dyn BufRead) -> Result<Vec<Record>, FormatError> {
        // The header's MaxJobs is not trusted with memory.
        let mut records = Vec::new();
        let mut bytes = Vec::with_capacity(256);
        for line in 1.. {
            bytes.clear();
            let read = input.take(LONGEST_LINE).read_until(b'\n', &mut bytes);
            let read = read.map_err(|source| FormatError::io(self.file, "read", source))?;
            if read == 0 {
                break;
            }
            if read as u64 == LONGEST_LINE {
                return Err(self.wrong(line, None, &format!("the line is longer than {LONGEST_LINE} bytes")));
            }
            let content = if line == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes) } else { &bytes };
            let content = content.trim_ascii();
            if content.starts_with(b";") {
                self.header.take(content).map_err(|problem| self.wrong(line, Some("header"), &problem))?;
            } else if !content.is_empty() {
                records.extend(self.record(line, content)?);
            }
        }
        Ok(records)
    }

    fn record(&mut self, line: usize, content: &[u8]) -> Result<Option<Record>, FormatError> {
        let fields = split(content).map_err(|wrong| match wrong {
            Wrong::Count(count) => {
                self.wrong(line, None, &format!("the record has {count} fields; it must have {COUNT}"))
            }
            Wrong::Number(field) => {
                let text = content.split(u8::is_ascii_whitespace).filter(|text| !text.is_empty()).nth(field);
                let text = String::from_utf8_lossy(text.unwrap_or_default());
                self.wrong(
                    line,
                    Some(&named(field)),
                    &format!("`{text}` is not a number; write -1 where it is missing"),
                )
            }
        })?;
        let instant =
            |field: usize| time(fields[field]).map_err(|problem| self.wrong(line, Some(&named(field)), &problem));
        let (submit, run, requested) = (instant(1)?, instant(3)?, instant(8)?);
        let mut skip = |reason| {
            self.report.skip(reason, line);
            Ok(None)
        };
        let Some(number) = whole(fields[0]) else { return skip(Reason::NoNumber) };
        let Some(submit) = submit else { return skip(Reason::NoSubmitTime) };
        let Some(run) = run.filter(|&run| run > Time::ZERO) else { return skip(Reason::NoRunTime) };
        let positive = |field: usize| whole(fields[field]).filter(|&processors| processors > 0);
        let Some(processors) = positive(4).or_else(|| positive(7)) else { return skip(Reason::NoProcessors) };
        if !self.numbers.insert(number) {
            return skip(Reason::RepeatedNumber);
        }
        let processors = u32::try_from(processors).unwrap_or(u32::MAX);
        Ok(Some(Record { line, number, submit, run, processors, requested }))
    }

    fn wrong(&self, line: usize, field: Option<&str>, problem: &str) -> FormatError {
        let place = Place { line: Some(line), column: None, field: field.map(str::to_owned) };
        FormatError::content(self.file, place, problem)
    }
}

fn named(field: usize) -> String {
    format!("field {} ({})", field + 1, NAMES[field])
}

fn job(record: &Record, processors: u32, laws: Option<&mut Laws>) -> Result<Job, String> {
    let profile = match laws {
        None => Profile::rigid(record.processors, record.run).map_err(|error| error.to_string())?,
        Some(laws) => through(record.run, record.processors, laws.next(), processors)
            .ok_or("its sequential time by this speed-up is longer than 146 years")?,
    };
    let mut job = Job::new(record.number.to_string(), profile).with_release(record.submit);
    // A log keeps jobs that outlived their request; such a request is no walltime.
    job.walltime = record.requested.filter(|&requested| requested >= record.run);
    Ok(job)
}
