//! Comparisons of heuristics with LP, summed over the runs, and tables of these comparisons.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use super::{PaperReading, Run, Setting, TreeKey, outcome};
use crate::campaign::{File, GridRow, record, rows, table, texts};

/// Consider the logarithm of LP's throughput divided by a heuristic's throughput. If it is at least this value, the
/// throughput of the heuristic is treated as near zero. The paper ends its histograms at this value.
pub(super) const NEAR_ZERO: f64 = 8.0;
/// The smallest number of nodes of a large tree.
const LARGE: usize = 50;

/// A group of instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TreeGroup {
    /// All trees.
    All,
    /// Trees of 50 and 100 nodes.
    Large,
    /// Trees of 5, 10 and 20 nodes.
    Small,
    /// Instances with this largest ratio of communication to computation, in millionths.
    Ratio(u32),
}

/// A comparison of LP with a heuristic on a group of instances.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ratios {
    /// The number of instances on which the fair throughputs of LP and of the heuristic were both positive and not near
    /// zero.
    pub compared: usize,
    /// The number of instances on which the fair throughput of the heuristic was near zero (see [`NEAR_ZERO`]).
    pub near_zero: usize,
    /// The number of instances on which the fair throughput of LP was zero.
    pub without: usize,
    /// The sum, over the compared instances, of the logarithms of LP's throughput divided by the heuristic's
    /// throughput.
    pub logarithms: f64,
    /// The maximum, over the compared instances, of LP's throughput divided by the heuristic's throughput.
    pub max: f64,
    /// The minimum, over the compared instances, of LP's throughput divided by the heuristic's throughput.
    pub min: f64,
    /// The sum and the number of the deviations. A deviation is the fraction by which the measured throughput is below
    /// the theoretical throughput.
    pub deviations: (f64, usize),
}

/// The comparisons. A key consists of the interpretation of the paper, the setting, the group and the heuristic.
pub(super) type Points = BTreeMap<(PaperReading, Setting, TreeGroup, String), Ratios>;

impl Ratios {
    /// Returns the geometric mean of a ratio: the throughput of LP divided by the throughput of the heuristic.
    pub fn geometric_mean(&self) -> Option<f64> {
        (self.compared > 0).then(|| (self.logarithms / self.compared as f64).exp())
    }

    /// Returns the share of instances on which the fair throughput of the heuristic was near zero.
    pub fn starved(&self) -> f64 {
        self.near_zero as f64 / (self.compared + self.near_zero).max(1) as f64
    }

    /// Returns the mean deviation from the theoretical throughput.
    pub fn deviation(&self) -> Option<f64> {
        (self.deviations.1 > 0).then(|| self.deviations.0 / self.deviations.1 as f64)
    }

    fn add(&mut self, lp: f64, fair: f64, deviation: Option<f64>) {
        if let Some(deviation) = deviation {
            self.deviations.0 += deviation;
            self.deviations.1 += 1;
        }
        match logarithm(lp, fair) {
            None => self.without += 1,
            Some(logarithm) if logarithm >= NEAR_ZERO => self.near_zero += 1,
            Some(logarithm) => {
                let ratio = logarithm.exp();
                self.min = if self.compared == 0 { ratio } else { self.min.min(ratio) };
                self.max = self.max.max(ratio);
                self.compared += 1;
                self.logarithms += logarithm;
            }
        }
    }
}

/// Returns the natural logarithm of LP's throughput divided by a heuristic's throughput, at most [`NEAR_ZERO`].
/// Returns `None` if LP's throughput is zero.
pub(super) fn logarithm(lp: f64, fair: f64) -> Option<f64> {
    match (lp > 0.0, fair > 0.0) {
        (false, _) => None,
        (true, false) => Some(NEAR_ZERO),
        (true, true) => Some((lp / fair).ln().min(NEAR_ZERO)),
    }
}

/// Compares every heuristic with LP in each run. Adds up the comparisons for each key of [`Points`].
pub(super) fn points(runs: &[Run]) -> Points {
    let mut points = Points::new();
    for run in runs {
        let size = if run.key.nodes >= LARGE { TreeGroup::Large } else { TreeGroup::Small };
        for (heuristic, played) in &run.outcomes {
            let Some(lp) = outcome(run, "lp", played.setting) else { continue };
            for group in [TreeGroup::All, size, TreeGroup::Ratio(run.key.ratio)] {
                let key = (run.key.reading, played.setting, group, heuristic.clone());
                points.entry(key).or_default().add(lp.fair, played.fair, played.deviation());
            }
        }
    }
    points
}

/// Returns a table with a row for each simulation. Throughputs are in tasks per second.
pub(super) fn results(runs: &[Run]) -> File {
    let header = "applications,unit,latency,data,nodes,degree,tree,largest_ratio,instance_seed,bound,heuristic,setting,fair,theory";
    let row = |(run, heuristic, outcome): GridRow<'_, Run>| {
        let TreeKey { reading, nodes, degree, tree, ratio } = run.key;
        let (largest, bound) = (f64::from(ratio) / 1e6, format!("{:e}", run.facts));
        let theory = outcome.theory.map_or_else(String::new, |theory| format!("{theory:e}"));
        let tree = texts(&[&nodes, &degree, &tree, &largest, &run.seed, &bound]);
        let figures = texts(&[&heuristic, &outcome.setting, &format!("{:e}", outcome.fair), &theory]);
        [cells(reading), tree, figures].concat()
    };
    table("results.csv", header, rows(runs).map(row))
}

/// Returns a table with a row for each element of `points`.
pub(super) fn summary(points: &Points) -> File {
    let header = "applications,unit,latency,data,setting,group,heuristic,compared,near_zero,lp_zero,geometric_mean,min,max,mean_deviation";
    let row =
        |((reading, setting, group, heuristic), ratios): (&(PaperReading, Setting, TreeGroup, String), &Ratios)| {
            let Ratios { compared, near_zero, without, min, max, .. } = ratios;
            let figures = [ratios.geometric_mean(), Some(*min), Some(*max), ratios.deviation()];
            let counts: [&dyn Display; 6] = [setting, group, heuristic, compared, near_zero, without];
            [cells(*reading), record(&counts, figures)].concat()
        };
    table("summary.csv", header, points.iter().map(row))
}

fn cells(PaperReading { applications, unit, latency, data }: PaperReading) -> Vec<String> {
    texts(&[&applications, &unit, &latency, &data])
}

/// Formats a group as `all`, `large` or `small`, or as the largest ratio in the group.
impl fmt::Display for TreeGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.pad("all"),
            Self::Large => f.pad("large"),
            Self::Small => f.pad("small"),
            Self::Ratio(ratio) => write!(f, "ratio {}", f64::from(*ratio) / 1e6),
        }
    }
}
