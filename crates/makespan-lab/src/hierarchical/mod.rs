//! Clusters of SMPs: the paper's algorithm beside the general ones, its guarantee, and its figures.
//!
//! P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks" (SPAA 2001, pages 199-208, HAL
//! inria-00001082). The paper has no experiments; these are ours. Jobs of the generator's families and adversarial ones
//! are planned on m SMPs of k processors, every job in its best placement, and makespans are measured against verified
//! bounds. The guarantee, 2 - 2/k or 3/2 for k = 2, is checked for every guess that the construction accepts, and a
//! certificate is verified for every guess that it refuses. The figures that show the construction are drawn from plans.
//!
//! Finished instances are kept in a journal in the output folder, so an interrupted campaign goes on where it stopped.

mod claims;
mod constructions;
mod guesses;
mod options;
mod plots;
mod points;
mod population;
mod prototype;
mod report;
mod run;
mod tables;

pub use constructions::Drawing;
pub use guesses::Guesses;
pub use options::Options;
pub use points::{Figures, Gathered, Points};
pub use population::{Population, Shape};
pub use prototype::Comparison;
pub use run::{Key, Outcome, Run};

use std::collections::BTreeMap;

use crate::LabError;
use crate::campaign::{Claim, Finished, Progress, Work, finish, write};

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Ratios and times by group of instances and position of the algorithm in [`Options::algorithms`].
    pub points: Points,
    /// What became of the guesses, by k.
    pub guesses: BTreeMap<u32, Guesses>,
    /// What the paper claims, and what is aimed at, with verdicts.
    pub claims: Vec<Claim>,
    /// What an independent prototype measured beside what was measured here.
    pub comparisons: Vec<Comparison>,
    /// The paper's figures.
    pub drawings: Vec<Drawing>,
    /// Instances in the results.
    pub runs: usize,
    /// Instances among them that an earlier campaign had finished.
    pub reused: usize,
    /// All this as text.
    pub text: String,
}

/// Runs the campaign and writes `results.csv`, `summary.csv`, `guesses.csv`, `report.txt`, the paper's figures as
/// `figure2.svg` and its like, `ratio-families.svg` and `ratio-adversarial.svg` to the output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a plan or bound turns out wrong.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    for spec in options.algorithms() {
        makespan::scheduler(&spec).map_err(|error| LabError::Algorithm(error.to_string()))?;
    }
    let work = Work {
        folder: &options.output,
        version: options.version()?,
        keys: options.keys(),
        threads: Some(options.at_once),
    };
    let Finished { runs, reused } = finish(&work, |key| run::execute(options, key), progress)?;
    let points = points::points(&runs);
    let guesses = points::guesses(&runs);
    let claims = claims::all(options, &runs, &points, &guesses);
    let comparisons = prototype::compare(options, &points);
    let drawings = constructions::all()?;
    let text = report::text(&report::Contents {
        options,
        runs: &runs,
        points: &points,
        guesses: &guesses,
        claims: &claims,
        comparisons: &comparisons,
        drawings: &drawings,
    });
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &tables::results(&runs))?;
    write("summary.csv", &tables::summary(&runs))?;
    write("guesses.csv", &tables::guesses(&runs))?;
    write("report.txt", text.as_bytes())?;
    for (name, svg) in plots::all(options, &points)? {
        write(&name, &svg)?;
    }
    for Drawing { figure, svg, .. } in &drawings {
        if let Some(svg) = svg {
            write(&format!("figure{figure}.svg"), svg)?;
        }
    }
    Ok(Summary { points, guesses, claims, comparisons, drawings, runs: runs.len(), reused, text })
}

#[cfg(test)]
mod tests;
