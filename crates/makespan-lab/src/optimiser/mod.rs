//! How near to a proven bound the optimiser comes, and how fast.
//!
//! Instances of the four families that the demt campaign draws, planned for each objective under each time limit. A
//! plan is measured as its user meets it: from the instance to the schedule with its bounds. Finished plans are kept in a
//! journal in the output folder, so an interrupted campaign goes on where it stopped.

mod figures;
mod measurement;
mod options;
mod points;
mod report;
mod setting;
mod tables;
mod targets;

use makespan::Planned;
use makespan_core::Instance;

pub use measurement::{Key, Measurement};
pub use options::Options;
pub use points::Point;
pub use setting::{Limit, Setting};
pub use targets::{Figure, Verdict};

use crate::LabError;
use crate::campaign::{Finished, Progress, Work, finish, write};

/// Plans an instance by the algorithm that a spec names, with a seed, or says why not.
pub type Planner<'a> = dyn Fn(&Instance, &str, u64) -> Result<Planned, String> + Sync + 'a;

/// What a campaign found.
#[derive(Clone, Debug)]
pub struct Summary {
    /// By setting, family and number of jobs.
    pub points: Vec<Point>,
    /// The figures that have targets.
    pub verdicts: Vec<Verdict>,
    /// Plans in the results.
    pub runs: usize,
    /// Plans among them that an earlier campaign had made.
    pub reused: usize,
    /// Points and verdicts as text tables.
    pub text: String,
}

/// Measures the optimiser of the catalogue; writes what [`reproduce_with`] writes.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a plan or bound turns out wrong.
pub fn reproduce(options: &Options, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    for setting in options.settings() {
        let spec = setting.spec(options.searches);
        makespan::scheduler(&spec).map_err(|error| LabError::Algorithm(error.to_string()))?;
    }
    let plan =
        |instance: &Instance, spec: &str, seed| makespan::plan(instance, spec, seed).map_err(|error| error.to_string());
    reproduce_with(options, &plan, progress)
}

/// Measures this planner, which is asked by the specs of the settings, and writes `results.csv`, `summary.csv`,
/// `report.txt` and a figure for each setting to the output folder.
///
/// # Errors
/// [`LabError`] when an option is unusable, a file cannot be written, or a plan or bound turns out wrong.
pub fn reproduce_with(options: &Options, plan: &Planner<'_>, progress: &mut dyn Progress) -> Result<Summary, LabError> {
    options.check()?;
    let work = Work {
        folder: &options.output,
        version: options.version()?,
        keys: options.keys(),
        threads: Some(options.at_once),
    };
    let Finished { runs, reused } = finish(&work, |key| measurement::measure(options, key, plan), progress)?;
    let points = points::points(&runs);
    let verdicts = targets::verdicts(&points);
    let text = report::text(options, &points, &verdicts);
    let write = |name: &str, contents: &[u8]| write(&options.output, name, contents);
    write("results.csv", &tables::results(&runs))?;
    write("summary.csv", &tables::summary(&points))?;
    write("report.txt", text.as_bytes())?;
    for (name, svg) in figures::all(&points)? {
        write(&name, &svg)?;
    }
    Ok(Summary { points, verdicts, runs: runs.len(), reused, text })
}

#[cfg(test)]
mod tests;
