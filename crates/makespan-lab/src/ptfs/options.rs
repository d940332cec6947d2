//! What to run.

use std::path::PathBuf;

use super::Key;
use crate::LabError;
use crate::campaign::build;

/// A scheduler by its name in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduler {
    /// As the paper calls it.
    pub name: &'static str,
    /// The spec of the policy.
    pub spec: &'static str,
    /// Whether it is in the paper's Table 2.
    pub printed: bool,
}

const fn printed(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: true }
}

const fn ours(name: &'static str, spec: &'static str) -> Scheduler {
    Scheduler { name, spec, printed: false }
}

/// Those of Table 2, then ours. The genetic algorithms take the printed time for a mapping, the heuristics none.
pub const SCHEDULERS: [Scheduler; 9] = [
    printed("PTFS", "ptfs[communication=0.05s]"),
    printed("GA_1", "interval[mapper=ga,scheduling-time=paper,communication=0.05s]"),
    printed("GA_2", "interval[mapper=braun-ga,scheduling-time=paper,communication=0.05s]"),
    printed("Max-min", "interval[mapper=max-min,communication=0.05s]"),
    printed("Min-min", "interval[mapper=min-min,communication=0.05s]"),
    printed("Sufferage", "interval[mapper=sufferage,communication=0.05s]"),
    ours("PTFS by events", "ptfs[cycle=event,scheduling-time=zero,communication=0.05s]"),
    ours("immediate MCT", "immediate[communication=0.05s]"),
    ours("flow", "flow[communication=0.05s]"),
];

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// The same seed gives the same flows.
    pub seed: u64,
    /// Tasks of a flow.
    pub tasks: usize,
    /// Mean sizes.
    pub sizes: Vec<u32>,
    /// Mean rates of arrival, as multiples of the balance line.
    pub rates: Vec<f64>,
    /// By which parts of their mean the rates swing to either side: without a swing first.
    pub swings: Vec<f64>,
    /// Flows at each point.
    pub runs: u32,
    /// How many run at the same time; one a core without it.
    pub threads: Option<usize>,
}

impl Options {
    /// The paper's flows, from an eighth of the balance line to sixteen times, at level rates and swinging by half of them.
    pub fn paper(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            seed: 1,
            tasks: 4000,
            sizes: vec![50_000, 5000],
            rates: vec![0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0],
            swings: vec![0.0, 0.5],
            runs: 5,
            threads: None,
        }
    }

    pub(super) fn keys(&self) -> Vec<Key> {
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

    /// What a run depends on besides its key, the program among it.
    pub(super) fn version(&self) -> Result<String, LabError> {
        Ok(format!("build {:016x}; journal 2; seed {}; {} tasks", build()?, self.seed, self.tasks))
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: String, expected| Err(LabError::Option { name, value, expected });
        if self.sizes.is_empty() || self.sizes.contains(&0) {
            return refuse("sizes", format!("{:?}", self.sizes), "give at least one mean size, each positive");
        }
        if self.rates.is_empty() || !self.rates.iter().all(|rate| (1e-3..=1e3).contains(rate)) {
            return refuse("rates", format!("{:?}", self.rates), "give at least one, each from 0.001 to 1000");
        }
        if self.swings.is_empty() || !self.swings.iter().all(|swing| (0.0..=1.0).contains(swing)) {
            return refuse("swings", format!("{:?}", self.swings), "give at least one, each from 0 to 1");
        }
        if self.tasks == 0 || self.runs == 0 {
            return refuse("tasks or runs", "0".into(), "both must be at least 1");
        }
        if self.threads == Some(0) {
            return refuse("threads", "0".into(), "it must be at least 1");
        }
        Ok(())
    }
}
