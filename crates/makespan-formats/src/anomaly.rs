//! What is odd in a log, counted by kind, with the place of the first.

use std::fmt;

use crate::error::{FormatError, Place};

/// What can be odd about a record of a log. The first ones cost the record, the others are put right as they say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Anomaly {
    /// The job number is missing or not a whole number. Skipped.
    NoNumber,
    /// The name or job number was used before. Skipped: names are unique, and the first is kept.
    RepeatedNumber,
    /// The submit time is missing. Skipped.
    NoSubmitTime,
    /// Missing run time, because the job never started or never ended. The record is skipped.
    NoRunTime,
    /// Run time of zero, because the job was shorter than the resolution of the log. The run time is read as one tick.
    ZeroRunTime,
    /// Missing or impossible run time of a job that ran. A guess replaces the run time.
    GuessedRunTime,
    /// Time limit that is invalid or above 292 years. The job has no limit.
    BrokenLimit,
    /// Unreadable instant or number. The field counts as missing.
    BrokenField,
    /// Truncated task list of an array. The tasks after the truncation are not read.
    CutArray,
    /// Task list of an array, if the list is unreadable or too long. The array counts as one job.
    UnreadArray,
    /// Dependency on another job. The dependency is ignored.
    Precedence,
    /// Both the allocated and the requested processors are missing or zero. Skipped.
    NoProcessors,
    /// The number of processors is not whole, such as 2.5. Skipped.
    BrokenProcessors,
    /// It is wider than the platform. Skipped.
    TooWide,
    /// It needs more of a resource than the platform has. Skipped.
    NoRoom,
    /// The job had not ended when the log was written, and no time limit says how long it may take. Skipped.
    NotEnded,
    /// The job ran when the log was written; its time limit stands in for its run time.
    StillRuns,
    /// The job waited when the log was written; its time limit stands in for its run time.
    StillWaits,
    /// The record has more fields than the header names. Skipped: which of them is meant is unknown.
    LongRecord,
    /// The record ends before its last field; the missing fields are read as missing.
    ShortRecord,
    /// It was submitted before the record that precedes it; jobs are sorted by submit time.
    OutOfOrder,
    /// No requested time, where the user's estimates are asked for: the run time stands in.
    NoEstimate,
    /// The run time is longer than the requested time; the job keeps both.
    Overrun,
    /// The profile communicates, which takes no time here.
    Communication,
    /// One component of a heterogeneous job; it is a job of its own here.
    Component,
    /// The user is not a whole number below 2^32; the job has no user.
    BrokenUser,
    /// What it needs of a resource cannot be read; the job needs nothing of it.
    BrokenNeeds,
}

impl Anomaly {
    /// Whether such a record becomes no job.
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

    /// Whether a strict reading refuses it. Jobs that outlive their request are usual in logs, and nothing is changed
    /// about them.
    pub const fn is_refused(self) -> bool {
        !matches!(self, Self::Overrun)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNumber => "no job number or name",
            Self::RepeatedNumber => "repeated job number or name",
            Self::NoSubmitTime => "no submit time that can be read",
            Self::NoRunTime => "no run time",
            Self::ZeroRunTime => "run time 0; one nanosecond is used instead",
            Self::GuessedRunTime => "the run time is missing or impossible; a guess is used instead",
            Self::BrokenLimit => "the time limit is invalid or above 292 years; the job has no limit",
            Self::BrokenField => "a field cannot be read; it counts as missing",
            Self::CutArray => {
                "Slurm has cut the list of an array's tasks, and at least one task is missing; set SLURM_BITSTR_LEN=0 for sacct and \
                 squeue"
            }
            Self::UnreadArray => {
                "the list of an array's tasks cannot be read, or the array has more than 100,000 tasks, or all arrays together more than 1,000,000; \
                 the array counts as one job"
            }
            Self::Precedence => "the job waits for a preceding job (`dependencies` in Batsim, fields 17 and 18 in SWF), and this dependency is ignored",
            Self::NoProcessors => "no positive number of processors",
            Self::BrokenProcessors => "the number of processors is not whole",
            Self::TooWide => "more processors than the platform has",
            Self::NoRoom => "needs more of a resource than the platform has",
            Self::NotEnded => "not ended when the log was written",
            Self::StillRuns => "running when the log was written; the time limit stands in for the run time",
            Self::StillWaits => "waiting when the log was written; the time limit stands in for the run time",
            Self::LongRecord => "more fields than the header names",
            Self::ShortRecord => "fields are missing at the end",
            Self::OutOfOrder => "submitted before the record above; the jobs are sorted by submit time",
            Self::NoEstimate => "no requested time; the run time is the estimate",
            Self::Overrun => "the run time is longer than the requested time; both are kept",
            Self::Communication => "the profile communicates, which takes no time here",
            Self::Component => "component of a heterogeneous job; it is a job of its own here",
            Self::BrokenUser => "the user is not a whole number below 2^32; the job has no user",
            Self::BrokenNeeds => "what it needs of a resource is no amount; the job needs nothing of it",
        })
    }
}

/// Records of one anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What is odd.
    pub anomaly: Anomaly,
    /// How many records.
    pub count: usize,
    /// Where the first is, counted as [`Report::unit`] says.
    pub first: usize,
    /// How `first` is counted.
    pub unit: Unit,
}

/// How the records of a file are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// By lines, from 1.
    #[default]
    Line,
    /// By positions in the list of jobs, from 0.
    Job,
}

impl Unit {
    /// The place of a record.
    pub fn place(self, at: usize) -> Place {
        match self {
            Self::Line => Place::line(at),
            Self::Job => Place::field(format!("jobs[{at}]")),
        }
    }

    /// The place of a record within a sentence.
    pub(crate) fn told(self, at: usize) -> String {
        match self {
            Self::Line => format!("line {at}"),
            Self::Job => format!("jobs[{at}]"),
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.count == 1 { "record" } else { "records" };
        let what = if self.anomaly.skips() { " skipped" } else { "" };
        let first = self.unit.told(self.first);
        write!(f, "{} {records}{what}: {} (first at {first})", self.count, self.anomaly)
    }
}

/// Unreadable statements in a log about the number of processors of its machine. These statements are ignored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenMachine {
    /// The number of statements.
    pub count: usize,
    /// The place of the first.
    pub place: Place,
    /// The text of the first statement, such as `MaxProcs: abc`.
    pub stated: String,
}

impl BrokenMachine {
    fn problem(&self) -> String {
        format!("the number of processors of the machine is no number: `{}`", self.stated)
    }
}

impl fmt::Display for BrokenMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem())?;
        if let Some(line) = self.place.line {
            write!(f, " (line {line})")?;
        }
        match self.count {
            1 => write!(f, "; it is ignored"),
            count => write!(f, " and {} more; they are ignored", count - 1),
        }
    }
}

/// What a log held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records that became jobs.
    pub jobs: usize,
    /// What was odd, by kind, in the order in which the kinds were met.
    pub found: Vec<Found>,
    /// How records are counted.
    pub unit: Unit,
    /// Unreadable statements about the machine of the log, if there are any.
    pub broken_machine: Option<BrokenMachine>,
}

impl Report {
    /// An empty report.
    pub(crate) fn by(unit: Unit) -> Self {
        Self { unit, ..Self::default() }
    }

    /// Counts one more.
    pub(crate) fn add(&mut self, anomaly: Anomaly, at: usize) {
        match self.found.iter_mut().find(|found| found.anomaly == anomaly) {
            Some(found) => {
                found.count += 1;
                found.first = found.first.min(at);
            }
            None => self.found.push(Found { anomaly, count: 1, first: at, unit: self.unit }),
        }
    }

    /// Counts an unreadable statement about the number of processors of the machine.
    pub(crate) fn add_machine(&mut self, place: Place, stated: String) {
        self.broken_machine.get_or_insert(BrokenMachine { count: 0, place, stated }).count += 1;
    }

    /// Counts none of these any more.
    pub(crate) fn forget(&mut self, anomalies: &[Anomaly]) {
        self.found.retain(|found| !anomalies.contains(&found.anomaly));
    }

    /// How many records became no job.
    pub fn skipped(&self) -> usize {
        self.found.iter().filter(|found| found.anomaly.skips()).map(|found| found.count).sum()
    }

    /// Returns one sentence for each kind of anomaly. If statements about the machine are unreadable, another sentence
    /// precedes them.
    pub fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        let machine = self.broken_machine.iter().map(ToString::to_string);
        machine.chain(self.found.iter().map(ToString::to_string))
    }

    /// Returns an error if a strict reading refuses the log. The error names the unreadable number of processors of the
    /// machine, or else the first record with an anomaly that a strict reading refuses.
    pub(crate) fn refuse(&self, file: &str) -> Result<(), FormatError> {
        if let Some(machine) = &self.broken_machine {
            return Err(FormatError::content(file, machine.place.clone(), machine.problem()));
        }
        let refused = self.found.iter().filter(|found| found.anomaly.is_refused());
        match refused.min_by_key(|found| found.first) {
            Some(found) => {
                let problem = format!("a record is refused: {}", found.anomaly);
                Err(FormatError::content(file, self.unit.place(found.first), problem))
            }
            None => Ok(()),
        }
    }
}
