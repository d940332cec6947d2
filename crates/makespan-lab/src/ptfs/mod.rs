//! Flows of independent tasks on nodes of different speeds: the dynamic scheduling cycle beside regular intervals, immediate mode and
//! `flow`.
//!
//! W. Sun, Y. Zhang, Y. Wu and Y. Inoguchi, "Practical Task Flow Scheduling for High Throughput Computational Grid", section 5:
//! 4000 tasks of mean size 5000 or 50000 on ten nodes, the six schedulers of Table 2, against the mean rate of arrival. Not in
//! the paper, and our choice: capacities 1000, 2000 .. 10000, a communication cost of 0.05 s, sizes uniform, level rates and such that swing
//! by half of their mean. Makespans stand beside [`makespan_core::release_area_bound`].

mod claims;
mod figures;
mod options;
mod points;
mod report;
mod run;
#[cfg(test)]
mod tests;

pub use options::{Options, SCHEDULERS, Scheduler};
pub use points::{Group, Point, Points, Row};
pub use run::{Key, Outcome, Run};

use crate::LabError;
use crate::campaign::{Campaign, Report, positive, refuse};

/// Writes `results.csv` and the figures, `figure9.svg` to `figure12.svg`.
impl Campaign for Options {
    const NAME: &'static str = "ptfs";
    const PAPER: &'static str =
        "Sun, Zhang, Wu, Inoguchi: practical task flow scheduling for high throughput computational grid";
    const UNIT: &'static str = "flows";
    type Key = Key;
    type Run = Run;
    type Points = Points;

    fn check(&self) -> Result<(), LabError> {
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            refuse("sizes", format!("{:?}", self.sizes), "give at least one mean size, each positive")?;
        }
        if self.rates.is_empty() || !self.rates.iter().all(|rate| (1e-3..=1e3).contains(rate)) {
            refuse("rates", format!("{:?}", self.rates), "give at least one, each from 0.001 to 1000")?;
        }
        if self.swings.is_empty() || !self.swings.iter().all(|swing| (0.0..=1.0).contains(swing)) {
            refuse("swings", format!("{:?}", self.swings), "give at least one, each from 0 to 1")?;
        }
        positive(&[("tasks", self.tasks), ("runs", self.runs as usize)])
    }

    fn version(&self) -> String {
        format!("seed {}; {} tasks", self.seed, self.tasks)
    }

    fn threads(&self) -> Option<usize> {
        self.threads
    }

    fn keys(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for &mean_size in &self.sizes {
            for &swing in &self.swings {
                let swing = (swing * 1e6).round() as u32;
                for &rate in &self.rates {
                    let rate = (rate * 1e6).round() as u64;
                    keys.extend((0..self.runs).map(|run| Key { mean_size, swing, rate, run }));
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
        let points = Points::of(runs);
        let mut files = figures::all(&points)?;
        files.push(report::results(runs));
        Ok(Report { claims: claims::all(&points), text: report::text(self, &points), points, files })
    }
}
