//! Bags of tasks on trees: decentralised heuristics beside the best steady state.
//!
//! O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus distributed schedulers
//! for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 5: trees of 5 to 100 nodes
//! and at most 2, 5 or 15 children, applications up to a largest ratio of communication to computation, 200 tasks of
//! each. Every heuristic of the paper and back-pressure are played; the fair throughput measured stands beside a bound
//! that is proved for the steady state. What the paper does not print is a [`Reading`]; the statements of its section 5.2 are
//! judged under one of them in full, and under all of them in short runs.
//!
//! Finished instances are kept in a journal in the output folder, so an interrupted campaign goes on where it stopped.

mod claims;
mod figures;
mod options;
mod points;
mod reading;
mod report;
mod run;
mod statements;
mod tables;

pub use options::Options;
pub use points::{Group, Points, Ratios};
pub use reading::{LatencyReading, Reading};
pub use run::{Key, Outcome, Run, Setting};

use statements::Evidence;

use crate::LabError;
use crate::campaign::{Finished, Progress, Work, finish, write};

/// LP over each heuristic, by reading and group of instances, with claims.
pub type Summary = crate::campaign::Summary<Points>;

/// Runs the campaign and writes `results.csv`, `summary.csv`, `report.txt` and the figures, `figure2-*.svg` and
/// `figure3-*.svg`, to the output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a bound turns out wrong.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    let work =
        Work { folder: &options.output, version: options.version()?, keys: options.keys(), threads: options.threads };
    let Finished { runs, reused } = finish(&work, |key| run::execute(options, key), progress)?;
    let points = points::points(&runs);
    let evidence = options.readings().into_iter().map(|reading| Evidence::new(reading, &runs, &points));
    let evidence: Vec<Evidence<'_>> = evidence.collect();
    let claims = evidence.first().map(claims::all).unwrap_or_default();
    let text = report::text(options, &evidence, &claims);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &tables::results(&runs))?;
    write("summary.csv", &tables::summary(&points))?;
    write("report.txt", text.as_bytes())?;
    for (name, svg) in figures::all(options, &runs)? {
        write(&name, &svg)?;
    }
    Ok(Summary { points, claims, runs: runs.len(), reused, text })
}

#[cfg(test)]
mod tests;
