//! The mapping heuristics on the benchmark of Braun et al., beside what has been published about it.
//!
//! Independent tasks on unrelated machines: the files of the benchmark, where they are present, and matrices drawn in
//! its twelve classes, by every heuristic, both genetic algorithms and `optimise`. A gap is to a bound whose certificate
//! has been verified. The measurement of record has the files and one matrix of each class.
//!
//! Source: T. D. Braun et al., "A comparison of eleven static heuristics for mapping a class of independent tasks onto
//! heterogeneous distributed computing systems", JPDC 61, 2001, DOI 10.1006/jpdc.2000.1714.

mod claims;
mod class;
mod key;
mod options;
mod points;
mod published;
mod report;
mod run;
mod tables;

pub use class::Class;
pub use key::Key;
pub use options::{HEURISTICS, Options};
pub use points::{Group, Point};
pub use published::{FILES, Published};
pub use run::{Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv` and `summary.csv`.
impl Campaign for Options {
    const NAME: &'static str = "mapping";
    const PAPER: &'static str = "Braun et al.: eleven static heuristics for independent tasks on machines that differ \
                                 (JPDC 2001), beside `optimise`";
    const UNIT: &'static str = "matrices";
    const MEASURES_TIME: bool = true;
    type Key = Key;
    type Run = Run;
    type Points = Vec<Point>;

    fn check(&self) -> Result<(), LabError> {
        if let Some(folder) = self.data.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("data", folder.display().to_string(), "name a folder, that of the benchmark's files")?;
        }
        self.search.check()?;
        positive(&[("tasks", self.tasks), ("seeds", self.seeds as usize)])?;
        if self.keys().is_empty() {
            refuse("classes", "empty", "name at least one, or a folder that has files of the benchmark")?;
        }
        Ok(())
    }

    fn version(&self) -> String {
        let Self { search, seed, tasks, machines, .. } = self;
        format!("data {:?}; seed {seed}; {tasks} x {machines}; {search}", self.folder())
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<Key> {
        let files = (0..FILES.len()).filter(|&file| self.path(file).is_some()).map(Key::File);
        let drawn = self.classes().into_iter();
        files.chain(drawn.flat_map(|class| (0..self.seeds).map(move |run| Key::Drawn { class, run }))).collect()
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::measure(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Vec<Point>>, LabError> {
        let points = points::points(&self.algorithms(), runs);
        let claims = claims::all(self, runs, &points);
        let files = vec![tables::results(runs), tables::summary(&points)];
        Ok(Report { text: report::text(self, runs, &points), claims, points, files })
    }
}

#[cfg(test)]
mod tests;
