//! Bags of tasks on trees: decentralised heuristics beside the best steady state.
//!
//! O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert, "Centralized versus distributed schedulers
//! for multiple bag-of-task applications" (IPDPS 2006, DOI 10.1109/IPDPS.2006.1639262), section 5: trees of 5 to 100 nodes
//! and at most 2, 5 or 15 children, applications up to a largest ratio of communication to computation, 200 tasks of
//! each. Every heuristic of the paper and back-pressure are played; the fair throughput measured stands beside a bound
//! that is proved for the steady state. What the paper does not print is a [`Reading`]; the statements of its section 5.2 are
//! judged under one of them in full, and under all of them in short runs.

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

use options::{DEGREES, NODES, RATIOS};
use statements::Evidence;

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv`, `summary.csv` and the figures, `figure2-*.svg` and `figure3-*.svg`.
impl Campaign for Options {
    const NAME: &'static str = "trees";
    const PAPER: &'static str = "Beaumont, Carter, Ferrante, Legrand, Marchal, Robert: schedulers for bags of tasks on trees \
                                 (IPDPS 2006)";
    const UNIT: &'static str = "instances";
    type Key = Key;
    type Run = Run;
    type Points = Points;

    fn check(&self) -> Result<(), LabError> {
        let Reading { applications, data, .. } = self.reading;
        positive(&[("applications", applications), ("data", data as usize), ("trees", self.trees as usize)])?;
        if !(10..=1_000_000).contains(&self.tasks) {
            refuse("tasks", self.tasks.to_string(), "give a number from 10 to 1000000")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        format!("seed {}; {} tasks; in full: {}", self.seed, self.tasks, self.reading)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for reading in self.readings() {
            for nodes in NODES.into_iter().rev() {
                for degree in DEGREES {
                    let trees = (0..self.trees).flat_map(|tree| RATIOS.map(|ratio| (tree, ratio)));
                    keys.extend(trees.map(|(tree, ratio)| Key { reading, nodes, degree, tree, ratio }));
                }
            }
        }
        keys
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::execute(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Points>, LabError> {
        let points = points::points(runs);
        let evidence = self.readings().into_iter().map(|reading| Evidence::new(reading, runs, &points));
        let evidence: Vec<Evidence<'_>> = evidence.collect();
        let claims = evidence.first().map(claims::all).unwrap_or_default();
        let text = report::text(self, &evidence);
        let mut files = figures::all(self, runs)?;
        files.extend([tables::results(runs), tables::summary(&points)]);
        Ok(Report { points, text, claims, files })
    }
}

#[cfg(test)]
mod tests;
