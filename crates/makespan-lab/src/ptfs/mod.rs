//! Flows of independent tasks on nodes of different speeds: the dynamic scheduling cycle beside regular intervals, immediate mode and
//! `flow`.
//!
//! W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput Computational Grid", section 5:
//! 4000 tasks of mean size 5000 or 50000 on ten nodes, the six schedulers of Table 2, against the mean rate of arrival. Not in
//! the paper, and our choice: capacities 1000, 2000 .. 10000, a communication cost of 0.05 s, sizes uniform, level rates and such that swing
//! by half of their mean. Maxspans stand beside [`makespan_core::release_area_bound`].
//!
//! Finished runs are kept in a journal in the output folder, so an interrupted campaign goes on where it stopped.

mod claims;
mod figures;
mod options;
mod points;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub use options::{Options, SCHEDULERS, Scheduler};
pub use points::{Point, Points, Row};
pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Finished, Progress, Work, finish, write};

/// Figures of each scheduler by mean size, swing and rate, with claims.
pub type Summary = crate::campaign::Summary<Points>;

/// Runs the campaign and writes `results.csv`, `report.txt` and the figures, `figure9.svg` to `figure12.svg`, to the output
/// folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a scheduler fails.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    let work =
        Work { folder: &options.output, version: options.version()?, keys: options.keys(), threads: options.threads };
    let Finished { runs, reused } = finish(&work, |key| run::execute(options, key), progress)?;
    let points = Points::of(&runs);
    let claims = claims::all(&points);
    let text = report::text(options, &points, &claims);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &report::results(&runs))?;
    write("report.txt", text.as_bytes())?;
    for (name, svg) in figures::all(&points)? {
        write(&name, &svg)?;
    }
    Ok(Summary { points, claims, runs: runs.len(), reused, text })
}
