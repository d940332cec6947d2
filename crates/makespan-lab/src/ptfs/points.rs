//! Runs summed up by mean size, swing, rate and scheduler.

use std::collections::BTreeMap;

use super::{Outcome, Run, SCHEDULERS};

/// A scheduler on the flows of one mean size, swing and rate: means over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Maxspan over its bound, less 1.
    pub gap: f64,
    /// Maxspan in seconds.
    pub makespan: f64,
    /// The paper's utilisation.
    pub utilisation: f64,
    /// Nodes counted with their speed.
    pub utilisation_by_speed: f64,
    /// Mean time from release to end, in seconds.
    pub flow_time: f64,
    /// Parts of the time in saturation, the slide region and starvation.
    pub phases: [f64; 3],
}

/// The schedulers on the flows of one mean size, swing and rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// One for each of [`SCHEDULERS`].
    pub points: Vec<Point>,
    /// For each flow by how much the makespan of the best other scheduler of Table 2 exceeds that of PTFS, relatively.
    pub advantages: Vec<f64>,
    /// The same of the utilisation: how much lower the best other one is, absolutely.
    pub more_used: Vec<f64>,
}

/// Flows of one mean size and one swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// The mean size of a task.
    pub mean_size: u32,
    /// By which part of its mean the rate swings.
    pub swing: f64,
}

/// The rows by mean size, swing in millionths, and rate in millionths of the balance line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points(BTreeMap<(u32, u32, u64), Row>);

impl Points {
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut groups: BTreeMap<(u32, u32, u64), Vec<&Run>> = BTreeMap::new();
        for run in runs {
            groups.entry((run.key.mean_size, run.key.swing, run.key.rate)).or_default().push(run);
        }
        let row = |group: &Vec<&Run>| Row {
            points: (0..SCHEDULERS.len()).map(|at| point(group, at)).collect(),
            advantages: group.iter().map(|run| advantage(&run.outcomes)).collect(),
            more_used: group.iter().map(|run| more_used(&run.outcomes)).collect(),
        };
        Self(groups.iter().map(|(&key, group)| (key, row(group))).collect())
    }

    #[cfg(test)]
    pub(super) fn synthetic(rows: BTreeMap<(u32, u32, u64), Row>) -> Self {
        Self(rows)
    }

    /// All groups of flows.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<(u32, u32)> = self.0.keys().map(|&(size, swing, _)| (size, swing)).collect();
        groups.dedup();
        groups.into_iter().map(|(mean_size, swing)| Group { mean_size, swing: f64::from(swing) / 1e6 }).collect()
    }

    /// The rows of a group, with their rates.
    pub fn of_group(&self, group: Group) -> impl Iterator<Item = (f64, &Row)> {
        let wanted = (group.mean_size, (group.swing * 1e6).round() as u32);
        let rows = self.0.iter().filter(move |((size, swing, _), _)| (*size, *swing) == wanted);
        rows.map(|((_, _, rate), row)| (*rate as f64 / 1e6, row))
    }
}

/// The outcomes of the schedulers of Table 2 but PTFS.
fn others(outcomes: &[Outcome]) -> impl Iterator<Item = &Outcome> {
    outcomes.iter().zip(&SCHEDULERS).skip(1).filter(|(_, scheduler)| scheduler.printed).map(|(outcome, _)| outcome)
}

fn advantage(outcomes: &[Outcome]) -> f64 {
    let best = others(outcomes).map(|outcome| outcome.makespan.seconds()).fold(f64::INFINITY, f64::min);
    best / outcomes[0].makespan.seconds() - 1.0
}

fn more_used(outcomes: &[Outcome]) -> f64 {
    outcomes[0].utilisation - others(outcomes).map(|outcome| outcome.utilisation).fold(0.0, f64::max)
}

fn point(group: &[&Run], at: usize) -> Point {
    let mean = |of: &dyn Fn(&Run, &Outcome) -> f64| {
        group.iter().map(|run| of(run, &run.outcomes[at])).sum::<f64>() / group.len() as f64
    };
    Point {
        gap: mean(&|run, outcome| outcome.makespan.seconds() / run.bound.seconds() - 1.0),
        makespan: mean(&|_, outcome| outcome.makespan.seconds()),
        utilisation: mean(&|_, outcome| outcome.utilisation),
        utilisation_by_speed: mean(&|_, outcome| outcome.utilisation_by_speed),
        flow_time: mean(&|_, outcome| outcome.flow_time),
        phases: [0, 1, 2].map(|phase| mean(&|_, outcome| outcome.phases[phase])),
    }
}
