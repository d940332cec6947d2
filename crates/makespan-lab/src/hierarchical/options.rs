//! What to run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use makespan_core::{Objective, Time};

use super::{Key, Population};
use crate::LabError;
use crate::campaign::build;
use crate::optimiser::{Limit, Setting};

/// The paper's algorithm.
pub(super) const SHELVES: &str = "shelves";
/// The list sweep, without and with local search.
pub(super) const SWEEP: [&str; 2] = ["sweep[steps=0]", "sweep"];

/// A campaign.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder for the results; made when missing.
    pub output: PathBuf,
    /// The same seed gives the same instances.
    pub seed: u64,
    /// Which jobs.
    pub populations: Vec<Population>,
    /// Processors of an SMP: k.
    pub each: Vec<u32>,
    /// How many SMPs: m.
    pub nodes: Vec<u32>,
    /// How many jobs for each SMP; at least one job is drawn.
    pub jobs_per_node: Vec<f64>,
    /// Instances at each point.
    pub runs: u32,
    /// For the optimiser, which is left out without any.
    pub limits: Vec<Limit>,
    /// Independent searches of the optimiser, a thread each.
    pub searches: usize,
    /// How many instances are planned at the same time. More than the cores can carry distorts the times.
    pub at_once: usize,
}

impl Options {
    /// The measurement of record: every family and shape, k = 2, 4, 8, 16, m = 4, 16, 64, up to 800 jobs, the optimiser in
    /// 1 s with two searches.
    pub fn record(output: impl Into<PathBuf>) -> Self {
        Self {
            output: output.into(),
            seed: 1,
            populations: Population::ALL.to_vec(),
            each: vec![2, 4, 8, 16],
            nodes: vec![4, 16, 64],
            jobs_per_node: vec![0.5, 2.0, 12.5],
            runs: 1,
            limits: vec![Limit::Time(Time::from_seconds(1))],
            searches: 2,
            at_once: 1,
        }
    }

    /// Specs of the algorithms, in the order of the results: the paper's, the general ones, the optimiser.
    pub fn algorithms(&self) -> Vec<String> {
        let plain = [SHELVES, "list[order=shelf]", SWEEP[0], SWEEP[1]].map(String::from);
        let optimise = |&limit: &Limit| Setting { objective: Objective::Makespan, limit }.spec(self.searches);
        plain.into_iter().chain(self.limits.iter().map(optimise)).collect()
    }

    /// The instances, in the order in which they are planned.
    pub(super) fn keys(&self) -> Vec<Key> {
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

    /// What a run depends on besides its key. The program is part of it: the figures of another build are not taken for
    /// those of this one.
    pub(super) fn version(&self) -> Result<String, LabError> {
        let (algorithms, build) = (self.algorithms().join(" "), build()?);
        Ok(format!("build {build:016x}; journal 1; seed {}; {} at once; {algorithms}", self.seed, self.at_once))
    }

    pub(super) fn check(&self) -> Result<(), LabError> {
        let refuse = |name, value: String, expected| Err(LabError::Option { name, value, expected });
        if self.populations.is_empty() {
            return refuse(
                "families",
                "empty".into(),
                "name at least one of weak, high, mixed, cirne, linear, flat, \
                 steps, caps",
            );
        }
        // Wider tables than those of 65,536 processors are no use here.
        if self.each.is_empty() || self.each.iter().any(|each| !each.is_power_of_two() || !(2..=1024).contains(each)) {
            return refuse("processors of an SMP", format!("{:?}", self.each), "give powers of two from 2 to 1024");
        }
        if self.nodes.is_empty() || self.nodes.iter().any(|nodes| !(1..=1024).contains(nodes)) {
            return refuse("nodes", format!("{:?}", self.nodes), "give numbers from 1 to 1024");
        }
        let usable = |per_node: &f64| (0.0..=1000.0).contains(per_node) && *per_node > 0.0;
        if self.jobs_per_node.is_empty() || !self.jobs_per_node.iter().all(usable) {
            let value = format!("{:?}", self.jobs_per_node);
            return refuse("jobs a node", value, "give positive numbers of at most 1000");
        }
        if self.limits.iter().collect::<BTreeSet<_>>().len() < self.limits.len() {
            let given: Vec<String> = self.limits.iter().map(ToString::to_string).collect();
            return refuse("limits", format!("`{}`", given.join(",")), "give each only once");
        }
        for (name, value) in [("runs", self.runs as usize), ("searches", self.searches), ("at once", self.at_once)] {
            if value == 0 {
                return refuse(name, "0".into(), "it must be at least 1");
            }
        }
        Ok(())
    }
}
