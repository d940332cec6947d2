//! Runs summed up by mean size, swing, rate and scheduler.

use std::collections::BTreeMap;

use super::{Outcome, Run, SCHEDULERS};
use crate::campaign::{Cell, cells};

/// A scheduler on the flows of one mean size, swing and rate: means over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// Makespan over its bound, less 1.
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
pub(super) struct Row {
    /// One for each of [`SCHEDULERS`].
    pub points: Vec<Point>,
    /// For each flow by how much the makespan of the best other scheduler of Table 2 exceeds that of PTFS, relatively.
    pub advantages: Vec<f64>,
    /// The same of the utilisation: how much lower the best other one is, absolutely.
    pub more_used: Vec<f64>,
}

/// Flows of one mean size and one swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Group {
    /// The mean size of a task.
    pub mean_size: u32,
    /// By which part of its mean the rate swings.
    pub swing: f64,
}

/// The rows by mean size, swing in millionths, and rate in millionths of the balance line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Points(pub BTreeMap<(u32, u32, u64), Row>);

impl Points {
    pub fn of(runs: &[Run]) -> Self {
        let cells = cells(runs, |run| vec![(run.key.mean_size, run.key.swing, run.key.rate)]);
        let row = |group: &[Cell<'_, (u32, u32, u64), Run>]| Row {
            points: group.iter().map(point).collect(),
            advantages: group[0].sample(|(run, ..)| Some(advantage(&run.outcomes))),
            more_used: group[0].sample(|(run, ..)| Some(more_used(&run.outcomes))),
        };
        Self(cells.chunk_by(|a, b| a.group == b.group).map(|group| (group[0].group, row(group))).collect())
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

/// Returns the outcomes of the schedulers of Table 2 except PTFS.
fn others(outcomes: &[(String, Outcome)]) -> impl Iterator<Item = &Outcome> {
    outcomes.iter().zip(&SCHEDULERS).skip(1).filter(|(_, scheduler)| scheduler.printed).map(|((_, outcome), _)| outcome)
}

fn advantage(outcomes: &[(String, Outcome)]) -> f64 {
    let best = others(outcomes).map(|outcome| outcome.makespan.seconds()).fold(f64::INFINITY, f64::min);
    best / outcomes[0].1.makespan.seconds() - 1.0
}

fn more_used(outcomes: &[(String, Outcome)]) -> f64 {
    outcomes[0].1.utilisation - others(outcomes).map(|outcome| outcome.utilisation).fold(0.0, f64::max)
}

fn point(cell: &Cell<'_, (u32, u32, u64), Run>) -> Point {
    Point {
        gap: cell.mean(|(run, _, outcome)| outcome.makespan.seconds() / run.facts.seconds() - 1.0),
        makespan: cell.mean(|(.., outcome)| outcome.makespan.seconds()),
        utilisation: cell.mean(|(.., outcome)| outcome.utilisation),
        utilisation_by_speed: cell.mean(|(.., outcome)| outcome.utilisation_by_speed),
        flow_time: cell.mean(|(.., outcome)| outcome.flow_time),
        phases: [0, 1, 2].map(|phase| cell.mean(|(.., outcome)| outcome.phases[phase])),
    }
}
