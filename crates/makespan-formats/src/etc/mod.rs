//! Reads and writes ETC matrices: the expected time to compute of each task on each machine.
//!
//! The format is from the benchmark of Braun et al. (Journal of Parallel and Distributed Computing 61, 2001, DOI
//! 10.1006/jpdc.2000.1714). A file contains times in seconds, task by task. A first line `tasks machines` or
//! `tasks machines class` is optional. The reader names the tasks t0, t1 and so on, and the machines n0, n1 and so on.
//! The time `inf` means that a machine cannot run a task.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::format::head::Head;
use crate::numbers;

pub use read::{EtcReadOptions, read_etc};
pub use write::write_etc;

/// Time of a task on a machine that cannot run it.
const CANNOT: &str = "inf";

/// Returns whether a file is a matrix. Either the file has the file extension of a matrix, or it begins with a row of
/// numbers that is not a log record.
pub(crate) fn is_matrix(head: &Head<'_>) -> bool {
    head.named || head.first != b'-' && numbers::is_row(head) && !numbers::is_record(head.first_line())
}
