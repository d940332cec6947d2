//! Makespans beside HEFT's: layered graphs and shapes of workflows on 8 processors, and standard task graphs beside their
//! known optima.
//!
//! A part of the campaign with a journal of its own, since what searches for a time must have the cores for itself.

mod report;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Claim, Finished, Progress, Work, build, csv_table, finish, write};
use crate::optimiser::Limit;

/// What is planned.
#[derive(Clone, Debug)]
pub struct Options {
    /// Graphs of each of the six shapes, of 20 to 100 tasks.
    pub graphs: u32,
    /// How long `optimise` may search; it runs once for each.
    pub limits: Vec<Limit>,
    /// Independent searches of `optimise`, a thread each.
    pub searches: usize,
    /// How many instances are planned at the same time. More than the cores can carry distorts what is found in a time.
    pub at_once: usize,
    /// The folder of the standard task graphs, `rand0000.stg` and others; none of them is planned without it.
    pub standard: Option<PathBuf>,
}

impl Options {
    /// The measurement of record: 96 graphs, 0.3 s and 1 s.
    pub fn record(standard: Option<PathBuf>) -> Self {
        let limits = [300, 1000].map(|ms| Limit::Time(makespan_core::Time::from_ticks(ms * 1_000_000)));
        Self { graphs: 16, limits: limits.to_vec(), searches: 2, at_once: 1, standard }
    }

    fn check(&self) -> Result<(), LabError> {
        let counts = [("graphs", self.graphs as usize), ("searches", self.searches), ("at once", self.at_once)];
        if let Some((name, _)) = counts.into_iter().find(|&(_, count)| count == 0) {
            return Err(LabError::Option { name, value: "0".into(), expected: "it must be at least 1" });
        }
        match self.standard.as_ref().filter(|folder| !folder.is_dir()) {
            Some(folder) => Err(LabError::Option {
                name: "data",
                value: folder.display().to_string(),
                expected: "name a folder, that of the standard task graphs",
            }),
            None => Ok(()),
        }
    }
}

/// What this part found.
pub(super) struct Part {
    pub(super) claims: Vec<Claim>,
    pub(super) text: String,
    pub(super) runs: usize,
    pub(super) reused: usize,
}

/// Plans everything and writes `makespans.csv` to the output folder; the journal is in `makespans` there.
pub(super) fn reproduce(
    options: &Options,
    (output, seed): (&Path, u64),
    progress: &mut dyn Progress,
) -> Result<Part, LabError> {
    options.check()?;
    let files = run::files(options.standard.as_deref())?;
    let limits: Vec<String> = options.limits.iter().map(ToString::to_string).collect();
    let version = format!(
        "build {:016x}; seed {seed}; limits {}; {} searches; {} at once; files {files:?}",
        build()?,
        limits.join(","),
        options.searches,
        options.at_once
    );
    let keys = run::keys(options.graphs, &files);
    let work = Work { folder: &output.join("makespans"), version, keys, threads: Some(options.at_once) };
    let plan = run::Planning { options, seed, files: &files };
    let Finished { runs, reused } = finish(&work, |key| plan.execute(key), progress)?;
    let rows = runs.iter().flat_map(|run| run.rows(&files));
    write(output, "makespans.csv", &csv_table("group,run,tasks,processors,reference,algorithm,makespan,found", rows))?;
    let report = report::Report { options, runs: &runs, files: &files };
    Ok(Part { claims: report.claims(), text: report.text(), runs: runs.len(), reused })
}
