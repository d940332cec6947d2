//! The Standard Workload Format of the Parallel Workloads Archive (version 2.2).
//!
//! A log has header lines `; Key: value` and one line of 18 numbers a job, -1 for what is missing. Here a job becomes
//! a rigid one on its logged processors, or, with a [`SpeedupSpec`], a moldable one that takes its logged time there.

mod fields;
mod header;
mod read;
mod speedup;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

pub use read::{Log, Options, read_swf};
pub use speedup::{SpeedupSpec, SpeedupSpecError};
pub use write::write_swf;

/// Why a record was not made a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The job number is missing or not a whole number.
    NoNumber,
    /// The job number was used before.
    RepeatedNumber,
    /// The submit time is missing.
    NoSubmitTime,
    /// The run time is missing or zero.
    NoRunTime,
    /// Both the allocated and the requested processors are missing or zero.
    NoProcessors,
    /// It is wider than the platform.
    TooWide,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoNumber => "no job number",
            Self::RepeatedNumber => "repeated job number",
            Self::NoSubmitTime => "no submit time",
            Self::NoRunTime => "no positive run time",
            Self::NoProcessors => "no positive number of processors",
            Self::TooWide => "more processors than the platform has",
        })
    }
}

/// Records of one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Why they were skipped.
    pub reason: Reason,
    /// How many.
    pub count: usize,
    /// Line of the first, from 1.
    pub first_line: usize,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.count == 1 { "record" } else { "records" };
        write!(f, "{} {records} skipped: {} (first at line {})", self.count, self.reason, self.first_line)
    }
}

/// What a log held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records that became jobs.
    pub jobs: usize,
    /// The others, by reason.
    pub skipped: Vec<Skipped>,
}

impl Report {
    fn skip(&mut self, reason: Reason, line: usize) {
        match self.skipped.iter_mut().find(|skipped| skipped.reason == reason) {
            Some(skipped) => {
                skipped.count += 1;
                skipped.first_line = skipped.first_line.min(line);
            }
            None => self.skipped.push(Skipped { reason, count: 1, first_line: line }),
        }
    }
}
