//! Speed-up laws of runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use makespan_core::SpeedupLaw;

use super::bounded::bounded;
use super::size::SizeModel;
use crate::law::{Sample, best};
use crate::robust::median;
use crate::store::RecalledRun;

/// The speed-up that runs show.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Speedup {
    /// The runs show this law. `allotments` is the range of measured allotments.
    Known { law: SpeedupLaw, allotments: RangeInclusive<u32> },
    /// The runs show no speed-up.
    Unknown {
        /// The most frequent allotment. If several allotments are equally frequent, this is the largest of them.
        most_often: u32,
    },
}

/// Logarithms of median times by allotment, of one command or of all commands.
type Times = BTreeMap<u32, f64>;

/// Relative error that medians of a few runs have by chance.
const NOISE: f64 = 0.05;

/// Minimum number of runs of an allotment. Allotments with fewer runs are not compared across commands.
const ENOUGH: usize = 3;

impl Speedup {
    /// Fits the best law through the times of commands that ran on several allotments. If there is no such command, compares the
    /// medians of all commands at each allotment, after removing the effect of the input sizes.
    pub fn of(runs: &[&RecalledRun], size: &SizeModel) -> Self {
        let times = within_commands(runs).or_else(|| between_commands(runs, size)).unwrap_or_default();
        let sample = |(&processors, logarithm): (&u32, &f64)| Sample { processors, time: bounded(logarithm.exp()) };
        let samples: Vec<Sample> = times.iter().map(sample).collect();
        let ends = times.first_key_value().zip(times.last_key_value());
        match (best(&samples, NOISE), ends) {
            (Some(fit), Some((fewest, most))) => Self::Known { law: fit.law, allotments: *fewest.0..=*most.0 },
            _ => Self::Unknown { most_often: most_often(runs) },
        }
    }

    pub fn law(&self) -> Option<SpeedupLaw> {
        match self {
            Self::Known { law, .. } => Some(*law),
            Self::Unknown { .. } => None,
        }
    }
}

fn most_often(runs: &[&RecalledRun]) -> u32 {
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for run in runs {
        *counts.entry(run.processors).or_default() += 1;
    }
    counts.into_iter().max_by_key(|&(processors, count)| (count, processors)).map_or(1, |(processors, _)| processors)
}

/// Returns the relative times at several allotments, from the commands that ran on several allotments. The time of a
/// command is modelled as a product of two factors: one for the command and one for the allotment. Sweeps of medians
/// separate the two factors.
///
/// J. W. Tukey, "Exploratory Data Analysis", Addison-Wesley, 1977, chapter 11 (median polish).
fn within_commands(runs: &[&RecalledRun]) -> Option<Times> {
    const SWEEPS: usize = 20;
    let mut by_command: BTreeMap<i64, Vec<&RecalledRun>> = BTreeMap::new();
    for run in runs {
        by_command.entry(run.command).or_default().push(run);
    }
    let commands: Vec<Times> = by_command.values().map(|runs| times(runs)).filter(|times| times.len() > 1).collect();
    let allotments: BTreeSet<u32> = commands.iter().flat_map(|times| times.keys().copied()).collect();
    let mut effects: Times = allotments.iter().map(|&processors| (processors, 0.0)).collect();
    for _ in 0..SWEEPS {
        let factor = |times: &Times| median(times.iter().map(|(processors, time)| time - effects[processors]));
        let factors: Vec<f64> = commands.iter().map(|times| factor(times).unwrap_or(0.0)).collect();
        let effect = |processors: u32| {
            let of = commands.iter().zip(&factors).filter_map(|(times, factor)| Some(times.get(&processors)? - factor));
            median(of).unwrap_or(0.0)
        };
        effects = allotments.iter().map(|&processors| (processors, effect(processors))).collect();
    }
    (effects.len() > 1).then_some(effects)
}

/// Returns the times of one command by allotment. If the command never ran on one processor, its CPU time is used as
/// its sequential time. So a command that mostly waits shows no gain from more processors.
fn times(runs: &[&RecalledRun]) -> Times {
    let mut by_allotment: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in runs {
        by_allotment.entry(run.processors).or_default().push(run.seconds);
    }
    let on_one = |run: &&RecalledRun| Some(run.cpu?.clamp(run.seconds, run.seconds * f64::from(run.processors)));
    let alone = if by_allotment.contains_key(&1) { None } else { median(runs.iter().filter_map(on_one)) };
    let measured = by_allotment.into_iter().filter_map(|(processors, times)| Some((processors, median(times)?)));
    measured.chain(alone.map(|seconds| (1, seconds))).map(|(processors, seconds)| (processors, seconds.ln())).collect()
}

/// Returns the median times by allotment over all commands, for the allotments with enough runs.
fn between_commands(runs: &[&RecalledRun], size: &SizeModel) -> Option<Times> {
    let mut by_allotment: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for run in runs {
        by_allotment.entry(run.processors).or_default().push(run.seconds / size.factor(run.inputs));
    }
    let enough = by_allotment.into_iter().filter(|(_, times)| times.len() >= ENOUGH);
    let times: Times = enough.filter_map(|(processors, times)| Some((processors, median(times)?.ln()))).collect();
    (times.len() > 1).then_some(times)
}
