//! Anomalies in a log, counted by kind, with the place of the first anomaly of each kind.

use std::fmt;

use crate::error::{FilePlace, FormatError};

/// Kind of anomaly in a record of a log. The comment of each kind states whether a record of this kind is skipped, or
/// else how the record is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// Missing job number, or a job number that is not whole. The record is skipped.
    NoNumber,
    /// Name or job number that an earlier record already has. The record is skipped, because names are unique.
    RepeatedNumber,
    /// Missing submit time. The record is skipped.
    NoSubmitTime,
    /// Missing run time, because the job never started or never ended. The record is skipped.
    NoRunTime,
    /// Run time of zero, because the job was shorter than the resolution of the log. The run time is read as one tick.
    ZeroRunTime,
    /// Missing or impossible run time of a job that ran. A guess replaces the run time.
    GuessedRunTime,
    /// Time limit that is invalid or above 292 years. The job is read without a limit.
    BrokenLimit,
    /// Unreadable instant or number. The field is treated as missing.
    BrokenField,
    /// Truncated task list of a job array. The tasks after the truncation are not read.
    CutArray,
    /// Unreadable or too long task list of a job array. The array is read as one job.
    UnreadArray,
    /// Dependency on another job. The dependency is ignored.
    Precedence,
    /// No positive number of allocated or requested processors. The record is skipped.
    NoProcessors,
    /// Number of processors that is not whole, such as 2.5. The record is skipped.
    BrokenProcessors,
    /// More processors than the platform has. The record is skipped.
    TooWide,
    /// Need that exceeds the platform's amount of a resource. The record is skipped.
    NoRoom,
    /// Job that had not ended when the log was written, and has no time limit. The run time is unknown, so the record
    /// is skipped.
    NotEnded,
    /// Job that was running when the log was written. The time limit is used as the run time.
    StillRuns,
    /// Job that was waiting when the log was written. The time limit is used as the run time.
    StillWaits,
    /// More fields than the header has. The record is skipped, because its fields cannot be assigned to columns.
    LongRecord,
    /// Record without its last fields. The absent fields are treated as missing.
    ShortRecord,
    /// Submit time earlier than the submit time of the preceding record. The jobs are sorted by submit time
    /// afterwards.
    OutOfOrder,
    /// Missing requested run time. This is an anomaly only if the caller uses requested run times as estimates. The
    /// actual run time is then used as the estimate.
    NoEstimate,
    /// Run time longer than the requested run time. The job keeps both times.
    Overrun,
    /// Batsim profile with communication. Communication is assumed to take no time.
    Communication,
    /// Component of a heterogeneous job. The component becomes a separate job.
    Component,
    /// User that is not a whole number below 2^32. The job has no user.
    BrokenUser,
    /// Unreadable need for a resource. The job has no need for this resource.
    BrokenNeeds,
}

impl Anomaly {
    /// Returns whether a record with this anomaly is skipped.
    pub const fn skips(self) -> bool {
        matches!(
            self,
            Self::NoNumber
                | Self::RepeatedNumber
                | Self::NoSubmitTime
                | Self::NoRunTime
                | Self::NoProcessors
                | Self::BrokenProcessors
                | Self::TooWide
                | Self::NoRoom
                | Self::NotEnded
                | Self::LongRecord
        )
    }

    /// Returns whether a strict reading refuses a log with this anomaly. A strict reading accepts overruns, because
    /// overruns are common in logs and do not change the record.
    pub const fn is_refused(self) -> bool {
        !matches!(self, Self::Overrun)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNumber => "no job number or name",
            Self::RepeatedNumber => "the job number or name occurs twice",
            Self::NoSubmitTime => "no readable submit time",
            Self::NoRunTime => "no run time",
            Self::ZeroRunTime => "run time 0; one nanosecond is used instead",
            Self::GuessedRunTime => "the run time is missing or impossible; a guessed run time is used instead",
            Self::BrokenLimit => "the time limit is invalid or above 292 years; the job has no limit",
            Self::BrokenField => "a field cannot be read; it is treated as missing",
            Self::CutArray => {
                "Slurm has cut off the list of an array's tasks, so at least one task is missing; set \
                 SLURM_BITSTR_LEN=0 in the environment, and save the output of sacct or squeue again"
            }
            Self::UnreadArray => {
                "the list of an array's tasks cannot be read, or is too long (more than 100,000 tasks in one array, \
                 or 1,000,000 in all arrays); the array is read as one job"
            }
            Self::Precedence => {
                "the job waits for a preceding job (`dependencies` in Batsim, fields 17 and 18 in SWF); this \
                 dependency is ignored"
            }
            Self::NoProcessors => "the number of processors is missing or not positive",
            Self::BrokenProcessors => "the number of processors is not whole",
            Self::TooWide => "needs more processors than the platform has",
            Self::NoRoom => "needs more of a resource than the platform has",
            Self::NotEnded => "not ended when the log was written",
            Self::StillRuns => "running when the log was written; the time limit is used as its run time",
            Self::StillWaits => "waiting when the log was written; the time limit is used as its run time",
            Self::LongRecord => "the record has more fields than the header",
            Self::ShortRecord => "fields are missing at the end",
            Self::OutOfOrder => "submitted before the job of the preceding record; the jobs are sorted by submit time",
            Self::NoEstimate => "no requested run time; the actual run time is used as the expected run time",
            Self::Overrun => "the actual run time is longer than the requested run time; both are kept",
            Self::Communication => "the profile communicates, but its communication is assumed to take no time",
            Self::Component => "component of a heterogeneous job; it becomes a separate job",
            Self::BrokenUser => "the user is not a whole number below 2^32; the job has no user",
            Self::BrokenNeeds => "the need for a resource is not an amount; the job has no need for this resource",
        })
    }
}

/// All records with an anomaly of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnomalyRecords {
    /// Kind of the anomaly.
    pub anomaly: Anomaly,
    /// Number of records.
    pub count: usize,
    /// Position of the first record, counted in [`unit`](Self::unit).
    pub first: usize,
    /// Unit of `first`.
    pub unit: Unit,
}

/// Unit in which positions in a file are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Lines, from 1.
    #[default]
    Line,
    /// Entries of the list of jobs, from 0.
    Job,
}

impl Unit {
    /// Returns the place of a record in the file.
    pub fn place(self, at: usize) -> FilePlace {
        match self {
            Self::Line => FilePlace::line(at),
            Self::Job => FilePlace::field(format!("jobs[{at}]")),
        }
    }

    /// Returns the place of a record for a sentence, such as `line 3`.
    pub(crate) fn told(self, at: usize) -> String {
        match self {
            Self::Line => format!("line {at}"),
            Self::Job => format!("jobs[{at}]"),
        }
    }
}

impl fmt::Display for AnomalyRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.count == 1 { "record" } else { "records" };
        let what = if self.anomaly.skips() { " skipped" } else { "" };
        let first = self.unit.told(self.first);
        write!(f, "{} {records}{what}: {} (first at {first})", self.count, self.anomaly)
    }
}

/// Unreadable statements of a log about the number of processors. These statements are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenMachine {
    /// The number of statements.
    pub count: usize,
    /// Place of the first statement.
    pub place: FilePlace,
    /// The text of the first statement, such as `MaxProcs: abc`.
    pub stated: String,
}

impl BrokenMachine {
    fn problem(&self) -> String {
        format!("the log states an invalid number of processors of the machine: `{}`", self.stated)
    }
}

impl fmt::Display for BrokenMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem())?;
        if let Some(line) = self.place.line {
            write!(f, " (line {line})")?;
        }
        match self.count {
            1 => write!(f, "; this value is ignored"),
            count => write!(f, " and {} more; these values are ignored", count - 1),
        }
    }
}

/// Statistics of reading a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogStatistics {
    /// Number of records that became jobs.
    pub jobs: usize,
    /// Anomalies, one entry for each kind, in the order of the first record of each kind.
    pub found: Vec<AnomalyRecords>,
    /// Unit in which records are counted.
    pub unit: Unit,
    /// Unreadable statements about the machine of the log, if there are any.
    pub broken_machine: Option<BrokenMachine>,
}

impl LogStatistics {
    /// Returns an empty report that counts its records in `unit`.
    pub(crate) fn by(unit: Unit) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Counts one more record with this anomaly. `at` is the position of the record.
    pub(crate) fn add(&mut self, anomaly: Anomaly, at: usize) {
        match self.found.iter_mut().find(|found| found.anomaly == anomaly) {
            Some(found) => {
                found.count += 1;
                found.first = found.first.min(at);
            }
            None => self.found.push(AnomalyRecords { anomaly, count: 1, first: at, unit: self.unit }),
        }
    }

    /// Counts an unreadable statement about the number of processors of the machine.
    pub(crate) fn add_machine(&mut self, place: FilePlace, stated: String) {
        self.broken_machine.get_or_insert(BrokenMachine { count: 0, place, stated }).count += 1;
    }

    /// Removes the counts of the given kinds of anomalies.
    pub(crate) fn forget(&mut self, anomalies: &[Anomaly]) {
        self.found.retain(|found| !anomalies.contains(&found.anomaly));
    }

    /// Returns the number of records that were skipped.
    pub fn skipped(&self) -> usize {
        self.found.iter().filter(|found| found.anomaly.skips()).map(|found| found.count).sum()
    }

    /// Returns the warnings. The first warning is about unreadable statements about the machine, if there are any. The
    /// other warnings are one sentence for each kind of anomaly.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let machine = self.broken_machine.iter().map(ToString::to_string);
        machine.chain(self.found.iter().map(ToString::to_string))
    }

    /// Returns an error if a strict reading refuses the log. If a statement about processors is unreadable, the error
    /// names this statement. Otherwise, the error names the first record that a strict reading refuses.
    pub(crate) fn refuse(&self, file: &str) -> Result<(), FormatError> {
        if let Some(machine) = &self.broken_machine {
            return Err(FormatError::content(file, machine.place.clone(), machine.problem()));
        }
        let refused = self.found.iter().filter(|found| found.anomaly.is_refused());
        match refused.min_by_key(|found| found.first) {
            Some(found) => {
                let problem = format!("--strict does not allow this record: {}", found.anomaly);
                Err(FormatError::content(file, self.unit.place(found.first), problem))
            }
            None => Ok(()),
        }
    }
}
