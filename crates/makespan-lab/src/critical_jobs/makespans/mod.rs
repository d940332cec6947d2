//! Makespans beside HEFT's: layered graphs and shapes of workflows on 8 processors, and standard task graphs beside their
//! known optima.
//!
//! A part of the campaign with a folder of its own, since what searches for a time must have the cores for itself.

mod report;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use clap::{Args, Command};

pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Report, Search, positive, refuse, table};

/// Where the standard task graphs are looked for.
const STANDARD: &str = "../shared/data/stg";

/// What is planned.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Options {
    /// Graphs of each of 6 shapes, of 20 to 100 tasks, whose makespans are compared
    #[arg(id = "makespan_graphs", long = "makespan-graphs", default_value_t = 16, value_name = "GRAPHS")]
    pub graphs: u32,
    /// How long the optimiser searches.
    #[command(flatten)]
    pub search: Search,
    /// Folder of standard task graphs, such as `rand0000.stg` [default: ../shared/data/stg where it exists]
    #[arg(long = "data", value_name = "DIR")]
    pub standard: Option<PathBuf>,
    /// The seed of the campaign.
    #[arg(skip)]
    pub seed: u64,
}

impl Options {
    pub(super) fn usual_search(command: Command) -> Command {
        command.mut_arg("limits", |arg| arg.default_value("300ms,1s"))
    }

    /// The standard graphs that are planned.
    fn files(&self) -> Result<Vec<PathBuf>, LabError> {
        let usual = Some(Path::new(STANDARD)).filter(|folder| folder.is_dir());
        run::files(self.standard.as_deref().or(usual))
    }
}

/// Writes `results.csv`.
impl Campaign for Options {
    const NAME: &'static str = "makespans";
    const PAPER: &'static str = "Makespans of graphs of tasks beside HEFT's";
    const UNIT: &'static str = "graphs";
    type Key = Key;
    type Run = Run;
    type Points = ();

    fn arguments(command: Command) -> Command {
        Self::usual_search(Self::augment_args(command))
    }

    fn check(&self) -> Result<(), LabError> {
        positive(&[("makespan graphs", self.graphs as usize)])?;
        if let Some(folder) = self.standard.as_ref().filter(|folder| !folder.is_dir()) {
            refuse("data", folder.display().to_string(), "name a folder, that of the standard task graphs")?;
        }
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {}; files {:?}", self.seed, self.search, self.files().ok())
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<Key> {
        run::keys(self.graphs, &self.files().unwrap_or_default())
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::execute(self, &self.files()?, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<()>, LabError> {
        let files = self.files()?;
        let rows = runs.iter().flat_map(|run| run.rows(&files));
        let results = table("results.csv", "group,run,tasks,processors,reference,algorithm,makespan,found", rows);
        let report = report::Report { options: self, runs, files: &files };
        Ok(Report { points: (), text: report.text(), claims: report.claims(), files: vec![results] })
    }
}
