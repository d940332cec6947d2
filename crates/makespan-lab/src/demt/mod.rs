//! The experiments of the paper that introduced DEMT, run again.
//!
//! P.-F. Dutot, L. Eyraud, G. Mounié and D. Trystram, "Bi-criteria algorithm for scheduling jobs on cluster platforms"
//! (SPAA 2004, DOI 10.1145/1007912.1007932), section 4: four families of moldable jobs, 25 to 400 of them on 200
//! processors, 40 runs a point, and every algorithm measured against a lower bound on each criterion.
//!
//! A run is one drawn instance with the values of every algorithm on it. What is written follows from the seed alone, but
//! for `times.csv` and what is made of it.

mod claims;
mod figures;
mod options;
mod points;
mod report;
mod run;
mod tables;

use std::collections::BTreeSet;

use clap::{Args, Command};

pub use options::{Options, Solve, algorithm};
pub use points::{Criterion, Point, Points};
pub use run::{Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Key, Report, refuse};

/// Writes `results.csv`, `summary.csv`, `times.csv` and `figure2.svg` to `figure7.svg`.
impl Campaign for Options {
    const NAME: &'static str = "demt";
    const PAPER: &'static str =
        "Dutot, Eyraud, Mounié, Trystram: bi-criteria algorithm for scheduling jobs on cluster platforms (SPAA 2004)";
    const UNIT: &'static str = "instances";
    const MEASURES_TIME: bool = true;
    type Key = Key;
    type Run = Run;
    type Points = Points;

    fn arguments(command: Command) -> Command {
        let runs = "Runs at each point; the paper has 40";
        Self::augment_args(command).mut_arg("runs", |arg| arg.default_value("40").help(runs))
    }

    fn check(&self) -> Result<(), LabError> {
        self.instances.check()?;
        let algorithms = self.algorithms();
        for spec in &algorithms {
            makespan_algos::scheduler(spec).map_err(|error| LabError::Algorithm(error.to_string()))?;
        }
        if algorithms.iter().collect::<BTreeSet<_>>().len() < algorithms.len() {
            refuse("algorithms", algorithms.join(" "), "name each only once")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        let (instances, algorithms) = (&self.instances, self.algorithms().join(" "));
        format!("seed {}; {} processors; {algorithms}", instances.seed, instances.processors)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    /// Large instances first: last they would leave cores idle at the end.
    fn keys(&self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.instances.keys().collect();
        keys.sort_by_key(|key| std::cmp::Reverse(key.jobs));
        keys
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::execute(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Points>, LabError> {
        let points = Points::of(runs);
        let mut files = figures::all(&points)?;
        files.push(figures::principle(self)?);
        files.extend([tables::results(runs), tables::times(runs), tables::summary(&points)]);
        Ok(Report { claims: claims::all(&points), text: report::text(self), points, files })
    }
}

#[cfg(test)]
mod tests;
