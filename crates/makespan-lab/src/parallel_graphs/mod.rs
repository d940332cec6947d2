//! Graphs of moldable tasks: `optimise` beside the algorithms of the literature, and all beside a verified bound.
//!
//! Layers, series-parallel graphs, fork-joins, factorisations and workflows, whose tasks follow Amdahl's or Downey's law, on 16, 64 and
//! 256 equal processors without transfers. The measurement of record has one graph for each family, law, size and platform, 1 s
//! and 10 s, two searches, one graph at a time.

mod claims;
mod family;
mod figures;
mod key;
mod options;
mod points;
mod report;
mod run;
mod tables;

pub use family::Family;
pub use key::Key;
pub use options::{ALGORITHMS, Options};
pub use points::{Group, Point};
pub use run::{Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv`, `summary.csv` and two figures.
impl Campaign for Options {
    const NAME: &'static str = "parallel-graphs";
    const PAPER: &'static str = "Graphs of moldable tasks: `optimise` beside CPA, MCPA, HCPA, M-HEFT and rounding of the linear \
                                 programme, over proven bounds";
    const UNIT: &'static str = "graphs";
    const MEASURES_TIME: bool = true;
    type Key = Key;
    type Run = Run;
    type Points = Vec<Point>;

    fn check(&self) -> Result<(), LabError> {
        for (name, is_empty) in [
            ("families", self.families.is_empty()),
            ("laws", self.laws.is_empty()),
            ("tasks", self.tasks.is_empty() || self.tasks.contains(&0)),
            ("processors", self.processors.is_empty() || self.processors.contains(&0)),
        ] {
            if is_empty {
                refuse(name, "empty or 0", "give at least one, each positive")?;
            }
        }
        self.search.check()?;
        positive(&[("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        format!("seed {}; {}", self.seed, self.search)
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for &processors in &self.processors {
            for &family in &self.families {
                for &law in &self.laws {
                    let of = |tasks| (0..self.runs).map(move |run| Key { processors, family, law, tasks, run });
                    keys.extend(self.tasks.iter().flat_map(|&tasks| of(tasks)));
                }
            }
        }
        keys
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::measure(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Vec<Point>>, LabError> {
        let algorithms = self.algorithms();
        let points = points::points(&algorithms, runs);
        let claims = claims::all(self, &points);
        let mut files = figures::all(self, runs, &points)?;
        files.extend([tables::results(runs), tables::summary(&points)]);
        Ok(Report { text: report::text(self, runs, &points), claims, points, files })
    }
}

#[cfg(test)]
mod tests;
