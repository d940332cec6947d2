//! The experiments of the paper that introduced DEMT, run again.
//!
//! P.-F. Dutot, L. Eyraud, G. Mounié and D. Trystram, "Bi-criteria algorithm for scheduling jobs on cluster platforms"
//! (SPAA 2004, DOI 10.1145/1007912.1007932), section 4: four families of moldable jobs, 25 to 400 of them on 200
//! processors, 40 runs a point, and every algorithm measured against a lower bound on each criterion.
//!
//! A run is one drawn instance with the values of every algorithm on it. Finished runs are kept in a journal in the
//! output folder, so an interrupted campaign goes on where it stopped. What is written follows from the seed alone,
//! but for `times.csv` and what is made of it.

mod claims;
mod figures;
mod options;
mod points;
mod prototype;
mod report;
mod run;
mod tables;

use makespan_core::{Context, Instance, Schedule};

pub use options::{Options, algorithm};
pub use points::{Criterion, Point, Points};
pub use prototype::Comparison;
pub use run::{Outcome, Run};

pub use crate::campaign::{Claim, Verdict};

use crate::LabError;
use crate::campaign::{Finished, Progress, Work, finish, write};

/// Schedules an instance by the algorithm that a spec names, with a seed, or says why not.
pub type Solve<'a> = dyn Fn(&Instance, &str, u64) -> Result<Schedule, String> + Sync + 'a;

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The figures of each algorithm at each point.
    pub points: Points,
    /// The paper's claims beside what was measured.
    pub claims: Vec<Claim>,
    /// What an independent prototype measured beside what was measured here.
    pub comparisons: Vec<Comparison>,
    /// Runs in the results.
    pub runs: usize,
    /// Runs among them that an earlier campaign had finished.
    pub reused: usize,
    /// The claims and comparisons as text tables.
    pub text: String,
}

/// Runs the experiments with the algorithms of the catalogue; writes what [`reproduce_with`] writes.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a scheduler or bound turns out wrong.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    for spec in &options.algorithms {
        makespan_algos::scheduler(spec).map_err(|error| LabError::Algorithm(error.to_string()))?;
    }
    let solve = |instance: &Instance, spec: &str, seed| {
        let scheduler = makespan_algos::scheduler(spec).map_err(|error| error.to_string())?;
        let plan = scheduler.schedule(instance, &mut Context::with_seed(seed)).map_err(|error| error.to_string())?;
        plan.into_schedule().ok_or_else(|| "it plans no placements".to_owned())
    };
    reproduce_with(options, &solve, progress)
}

/// Runs the experiments with these algorithms' implementations, and writes `results.csv`, `summary.csv`, `times.csv`,
/// `figure2.svg` to `figure7.svg`, `claims.md` and `claims.txt` to the output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a scheduler or bound turns out wrong.
pub fn reproduce_with(options: &Options, solve: &Solve<'_>, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    let work =
        Work { folder: &options.output, version: options.version(), keys: options.keys(), threads: options.threads };
    let Finished { runs, reused } = finish(&work, |key| run::execute(options, key, solve), progress)?;
    let points = Points::of(&runs);
    let claims = claims::all(&points);
    let comparisons = prototype::compare(&points);
    let text = report::text(&claims, &comparisons);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &tables::results(&runs))?;
    write("times.csv", &tables::times(&runs))?;
    write("summary.csv", &tables::summary(&points))?;
    write("claims.md", report::markdown(options, &claims, &comparisons).as_bytes())?;
    write("claims.txt", text.as_bytes())?;
    write("figure2.svg", &figures::principle(options.instances.seed, solve)?)?;
    for (name, svg) in figures::all(&points)? {
        write(&name, &svg)?;
    }
    Ok(Summary { points, claims, comparisons, runs: runs.len(), reused, text })
}

#[cfg(test)]
mod tests;
