//! Clusters of SMPs: the paper's algorithm beside the general ones, its guarantee, and its figures.
//!
//! P.-F. Dutot, D. Trystram, "Scheduling on hierarchical clusters using malleable tasks" (SPAA 2001, pages 199-208, HAL
//! inria-00001082). The paper has no experiments; these are ours. Jobs of the generator's families and adversarial ones
//! are planned on m SMPs of k processors, every job in its best placement, and makespans are measured against verified
//! bounds. The guarantee, 2 - 2/k or 3/2 for k = 2, is checked for every guess that the construction accepts, and a
//! certificate is verified for every guess that it refuses. The figures that show the construction are drawn from plans.

mod claims;
mod constructions;
mod guesses;
mod key;
mod options;
mod plots;
mod points;
mod population;
mod report;
mod run;
mod tables;

use std::collections::BTreeSet;

use clap::{Args, Command};

pub use constructions::Drawing;
pub use guesses::Guesses;
pub use key::Key;
pub use options::Options;
pub use points::{Figures, Gathered, Points, Sums};
pub use population::{Population, Shape};
pub use run::{Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv`, `summary.csv`, `guesses.csv`, the paper's figures as `figure2.svg` and its like,
/// `ratio-families.svg` and `ratio-adversarial.svg`.
impl Campaign for Options {
    const NAME: &'static str = "hierarchical";
    const PAPER: &'static str = "Dutot, Trystram: scheduling on hierarchical clusters using malleable tasks (SPAA 2001), \
                                 beside general algorithms";
    const UNIT: &'static str = "instances";
    const MEASURES_TIME: bool = true;
    type Key = Key;
    type Run = Run;
    type Points = Sums;

    fn arguments(command: Command) -> Command {
        Self::augment_args(command).mut_arg("limits", |arg| arg.default_value("1s"))
    }

    fn check(&self) -> Result<(), LabError> {
        if self.populations.is_empty() {
            let expected = "name at least one of weak, high, mixed, cirne, linear, flat, steps, caps";
            refuse("families", "empty", expected)?;
        }
        // Wider tables than those of 65,536 processors are no use here.
        if self.each.is_empty() || self.each.iter().any(|each| !each.is_power_of_two() || !(2..=1024).contains(each)) {
            refuse("processors of an SMP", format!("{:?}", self.each), "give powers of two from 2 to 1024")?;
        }
        if self.nodes.is_empty() || self.nodes.iter().any(|nodes| !(1..=1024).contains(nodes)) {
            refuse("nodes", format!("{:?}", self.nodes), "give numbers from 1 to 1024")?;
        }
        let usable = |per_node: &f64| (0.0..=1000.0).contains(per_node) && *per_node > 0.0;
        if self.jobs_per_node.is_empty() || !self.jobs_per_node.iter().all(usable) {
            let value = format!("{:?}", self.jobs_per_node);
            refuse("jobs a node", value, "give positive numbers of at most 1000")?;
        }
        positive(&[("runs", self.runs as usize)])?;
        self.search.check()
    }

    fn version(&self) -> String {
        format!("seed {}; {} at once; {}", self.seed, self.search.at_once, self.algorithms().join(" "))
    }

    fn threads(&self) -> Option<usize> {
        Some(self.search.at_once)
    }

    fn processors(&self) -> usize {
        self.search.searches
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = BTreeSet::new();
        for &population in &self.populations {
            for (&each, &nodes) in self.each.iter().flat_map(|each| self.nodes.iter().map(move |nodes| (each, nodes))) {
                for per_node in &self.jobs_per_node {
                    let jobs = (per_node * f64::from(nodes)).round().max(1.0) as usize;
                    keys.extend((0..self.runs).map(|run| Key { population, each, nodes, jobs, run }));
                }
            }
        }
        keys.into_iter().collect()
    }

    fn key(run: &Run) -> Key {
        run.key
    }

    fn measure(&self, key: Key) -> Result<Run, LabError> {
        run::execute(self, key)
    }

    fn report(&self, runs: &[Run]) -> Result<Report<Sums>, LabError> {
        let sums = Sums { points: points::points(runs), guesses: points::guesses(runs) };
        let drawings = constructions::all()?;
        let text = report::text(self, runs, &sums, &drawings);
        let claims = claims::all(self, runs, &sums.points, &sums.guesses);
        let mut files = plots::all(self, &sums.points)?;
        files.extend([tables::results(runs), tables::summary(runs), tables::guesses(runs)]);
        files.extend(drawings.into_iter().map(|drawing| drawing.svg));
        Ok(Report { points: sums, text, claims, files })
    }
}

#[cfg(test)]
mod tests;
