//! The mapping heuristics on the benchmark of Braun et al., beside what has been published about it.
//!
//! Independent tasks on unrelated machines: the files of the benchmark, where they are present, and matrices drawn in
//! its twelve classes, by every heuristic, both genetic algorithms and `optimise`. A gap is to a bound whose certificate
//! has been verified. Finished matrices are kept in a journal in the output folder, so an interrupted campaign goes on.
//!
//! Source: T. D. Braun et al., "A comparison of eleven static heuristics for mapping a class of independent tasks onto
//! heterogeneous distributed computing systems", JPDC 61, 2001, DOI 10.1006/jpdc.2000.1714.

mod claims;
mod class;
mod options;
mod points;
mod published;
mod report;
mod run;
mod tables;

pub use class::Class;
pub use options::{HEURISTICS, Options};
pub use points::{Group, Point};
pub use published::{FILES, PROTOTYPE, Published};
pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Finished, Progress, Work, claims_markdown, finish, write};

/// Figures by group of matrices and algorithm, with claims.
pub type Summary = crate::campaign::Summary<Vec<Point>>;

/// Plans every matrix by every algorithm and writes `results.csv`, `summary.csv`, `report.txt` and `claims.md` to the
/// output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be read or written, or a plan or bound turns out wrong.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    let work = Work {
        folder: &options.output,
        version: options.version()?,
        keys: options.keys(),
        threads: Some(options.at_once),
    };
    let Finished { runs, reused } = finish(&work, |key| run::measure(options, key), progress)?;
    let points = points::points(&options.algorithms(), &runs);
    let claims = claims::all(options, &runs, &points);
    let text = report::text(options, &runs, &points, &claims);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &tables::results(&runs))?;
    write("summary.csv", &tables::summary(&points))?;
    write("report.txt", text.as_bytes())?;
    write("claims.md", claims_markdown(&claims).as_bytes())?;
    Ok(Summary { points, claims, runs: runs.len(), reused, text })
}

#[cfg(test)]
mod tests;
