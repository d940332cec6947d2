//! Reads the output of Slurm's `sacct --parsable2`. The output consists of a header line of column names and a line
//! for each job. Cells are separated by `|`.
//!
//! Required columns are `JobID`, `Submit`, processors (`AllocCPUS`, `NCPUS` or `ReqCPUS`) and the run time
//! (`ElapsedRaw`, `Elapsed`, or `Start` and `End`). Other columns are optional. `User` (or `UID`), `TimelimitRaw` or
//! `Timelimit`, and `State` describe the job. `AllocTRES`, `ReqTRES` and `ReqMem` state its needs. `Account`,
//! `Partition`, `QOS`, `Constraints` and `Reservation` state how the job was submitted. `Eligible` is the instant from
//! which the job could start. `Reason` and `NodeList` are only counted.
//!
//! If a job was running or waiting when this output (the dump) was written, its final run time is unknown. The reader
//! uses its time limit instead.

mod cells;
mod columns;
mod needs;
mod read;
mod submitted;
#[cfg(test)]
mod tests;
mod usage;
mod values;

use crate::format::head::Head;

pub(crate) use read::read_sacct;
pub use usage::{SacctMemory, SacctMemoryTable, parse_sacct_memory, read_sacct_memory};

/// Returns whether a file begins like a dump: the first line contains `|` and the name of the column of job ids.
pub(crate) fn is_dump(head: &Head<'_>) -> bool {
    let line = head.first_line();
    head.first != b'{'
        && line.contains(&b'|')
        && line.split(|&byte| byte == b'|').any(|name| {
            let name = name.trim_ascii();
            name.eq_ignore_ascii_case(b"JobID") || name.eq_ignore_ascii_case(b"JobIDRaw")
        })
}
