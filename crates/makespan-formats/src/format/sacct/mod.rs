//! What Slurm's `sacct --parsable2` prints: a header line of column names and a line a job, separated by `|`.
//!
//! Needed are `JobID`, `Submit`, processors (`AllocCPUS`, `NCPUS` or `ReqCPUS`) and a run time (`ElapsedRaw`, `Elapsed`, or
//! `Start` and `End`). `User` (or `UID`), `TimelimitRaw` or `Timelimit`, and `State` are used where they are there, and so are `AllocTRES`, `ReqTRES` and
//! `ReqMem` for what jobs need. `Account`, `Partition`, `QOS`, `Constraints` and `Reservation` say how a job was submitted, `Eligible` from when
//! on it could start, and `Reason` and `NodeList` are counted. Jobs that ran or waited when the dump was written are the present: their
//! time limits stand in for their run times.

mod cells;
mod columns;
mod needs;
mod read;
mod submitted;
#[cfg(test)]
mod tests;
mod values;

use crate::format::head::Head;

pub(crate) use read::read_sacct;
pub(crate) use submitted::hosts;

/// Whether a file begins like a dump: a first line with `|` that names the column of job ids.
pub(crate) fn is_dump(head: &Head<'_>) -> bool {
    let line = head.first_line();
    head.first != b'{'
        && line.contains(&b'|')
        && line.split(|&byte| byte == b'|').any(|name| {
            let name = name.trim_ascii();
            name.eq_ignore_ascii_case(b"JobID") || name.eq_ignore_ascii_case(b"JobIDRaw")
        })
}
