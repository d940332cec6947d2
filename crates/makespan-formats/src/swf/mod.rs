//! Reads and writes the Standard Workload Format of the Parallel Workloads Archive (version 2.2).
//!
//! A log has header lines `; Key: value`, and one line of 18 numbers for each job. The number -1 stands for a missing
//! value. Each record becomes a rigid job on the logged number of processors. With a [`crate::SpeedupSpec`], each
//! record becomes a moldable job that takes the logged time on the logged number of processors.

mod fields;
mod header;
mod log;
mod read;
#[cfg(test)]
mod tests;
mod trace;
mod write;

use crate::format::head::Head;
use crate::numbers;

pub use log::{Log, SwfLogOptions};
pub use read::read_swf;
pub(crate) use read::{Lines, records};
pub use trace::{write_swf_log, write_swf_trace};
pub use write::write_swf;

/// Returns whether a file begins with a header line or a record of a log, or has the file extension of a log.
pub(crate) fn is_log(head: &Head<'_>) -> bool {
    let is_record = || numbers::is_row(head) && (head.first == b'-' || numbers::is_record(head.first_line()));
    head.first == b';' || head.named || is_record()
}
