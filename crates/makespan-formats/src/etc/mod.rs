//! ETC matrices: the expected time to compute of every task on every machine.
//!
//! The form of the benchmark of Braun et al. (Journal of Parallel and Distributed Computing 61, 2001,
//! DOI 10.1006/jpdc.2000.1714): numbers in seconds, task by task, with or without a first line `tasks machines` or
//! `tasks machines class`. Tasks are named t0, t1 .. and machines n0, n1 ..; `inf` says that a machine cannot run a task.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{Options, read_etc};
pub use write::write_etc;

/// How a machine that cannot run a task is written.
const CANNOT: &str = "inf";

/// Whether text that begins with a digit is a matrix rather than a log in the Standard Workload Format, whose records
/// have 18 numbers that begin with a whole one. `first` is the first line, or as much of it as is there.
pub(crate) fn is_matrix(first: &[u8]) -> bool {
    let mut fields = tokens(first);
    let whole = fields.next().is_some_and(|field| field.iter().all(u8::is_ascii_digit));
    !(whole && fields.count() == 17)
}

/// The numbers of a line: apart by spaces, tabs or commas.
fn tokens(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|byte| byte.is_ascii_whitespace() || *byte == b',').filter(|token| !token.is_empty())
}
