//! How near to a proven bound the optimiser comes, and how fast.
//!
//! Instances of the four families that the demt campaign draws, planned for each objective under each time limit. A
//! plan is measured as its user meets it: from the instance to the schedule with its bounds. The measurement of record has
//! 10 instances a point, 1 s for both objectives and 10 s for weighted completion, two searches, one instance at a time.

mod figures;
mod measurement;
mod options;
mod points;
mod report;
mod tables;
mod targets;

pub use measurement::{Key, Measurement};
pub use options::{Options, PlanOf};
pub use points::Point;

use clap::{Args, Command};

use crate::LabError;
use crate::campaign::{Campaign, Report, refuse};

/// Writes `results.csv`, `summary.csv` and a figure for each setting.
impl Campaign for Options {
    const NAME: &'static str = "optimiser";
    const PAPER: &'static str =
        "How near to its proven bounds the optimiser comes, and how fast, on the instances of demt";
    const UNIT: &'static str = "plans";
    const MEASURES_TIME: bool = true;
    type Key = Key;
    type Run = Measurement;
    type Points = Vec<Point>;

    fn arguments(command: Command) -> Command {
        let limits = "Time limits such as 500ms, or steps=500; the makespan is planned under the first alone";
        Self::augment_args(command).mut_arg("limits", |arg| arg.help(limits))
    }

    fn check(&self) -> Result<(), LabError> {
        self.instances.check()?;
        if self.search.limits.0.is_empty() {
            refuse("limits", "empty", "give at least one")?;
        }
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} processors; {}", self.instances.seed, self.instances.processors, self.search)
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<Key> {
        let of = |setting| self.instances.keys().map(move |instance| Key { setting, instance });
        self.settings().into_iter().flat_map(of).collect()
    }

    fn key(run: &Measurement) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Measurement, LabError> {
        measurement::measure(self, key)
    }

    fn report(&self, runs: &[Measurement]) -> Result<Report<Vec<Point>>, LabError> {
        let points = points::points(runs);
        let mut files = figures::all(&points)?;
        files.extend([tables::results(runs), tables::summary(&points)]);
        Ok(Report { claims: targets::claims(&points), text: report::text(self, &points), points, files })
    }
}

#[cfg(test)]
mod tests;
