//! Means over the runs, for each combination of mean size, swing, rate and scheduler.

use std::collections::BTreeMap;

use super::{PtfsOutcome, Run, SCHEDULERS};
use crate::campaign::{GridCell, cells};

/// The means of a scheduler over the flows with one mean size, swing and rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// The makespan divided by its bound, minus 1.
    pub gap: f64,
    /// The makespan ("maxspan" in the paper), in seconds.
    pub makespan: f64,
    /// The utilisation as defined in the paper: the mean utilisation of the nodes.
    pub utilisation: f64,
    /// The mean utilisation of the nodes, with each node weighted by its speed.
    pub utilisation_by_speed: f64,
    /// The mean time from release to end, in seconds.
    pub flow_time: f64,
    /// The fractions of the time in the three phases of the paper: saturation, slide region and starvation.
    pub phases: [f64; 3],
}

/// The results of all schedulers on the flows with one mean size, swing and rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    /// The means of each scheduler, in the order of [`SCHEDULERS`].
    pub points: Vec<Point>,
    /// For each flow, the advantage of PTFS, which is a / b - 1. Here, a is the shortest makespan of the other
    /// schedulers of Table 2, and b is the makespan of PTFS.
    pub advantages: Vec<f64>,
    /// For each flow, the utilisation of PTFS minus the highest utilisation of the other schedulers of Table 2.
    pub more_used: Vec<f64>,
}

/// A group of flows: all flows with one mean size of tasks and one swing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Group {
    /// The mean size of a task.
    pub mean_size: u32,
    /// The swing as a fraction of the mean rate.
    pub swing: f64,
}

/// The rows. A key consists of mean size, swing (in millionths) and rate (in millionths of the balance line).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Points(pub BTreeMap<(u32, u32, u64), Row>);

impl Points {
    pub fn of(runs: &[Run]) -> Self {
        let cells = cells(runs, |run| vec![(run.key.mean_size, run.key.swing, run.key.rate)]);
        let row = |group: &[GridCell<'_, (u32, u32, u64), Run>]| Row {
            points: group.iter().map(point).collect(),
            advantages: group[0].sample(|(run, ..)| Some(advantage(&run.outcomes))),
            more_used: group[0].sample(|(run, ..)| Some(more_used(&run.outcomes))),
        };
        Self(cells.chunk_by(|a, b| a.group == b.group).map(|group| (group[0].group, row(group))).collect())
    }

    /// Returns all groups of flows.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<(u32, u32)> = self.0.keys().map(|&(size, swing, _)| (size, swing)).collect();
        groups.dedup();
        groups.into_iter().map(|(mean_size, swing)| Group { mean_size, swing: f64::from(swing) / 1e6 }).collect()
    }

    /// Returns the rows of a group, with their rates.
    pub fn of_group(&self, group: Group) -> impl Iterator<Item = (f64, &Row)> {
        let wanted = (group.mean_size, (group.swing * 1e6).round() as u32);
        let rows = self.0.iter().filter(move |((size, swing, _), _)| (*size, *swing) == wanted);
        rows.map(|((_, _, rate), row)| (*rate as f64 / 1e6, row))
    }
}

/// Returns the outcomes of the schedulers of Table 2 except PTFS.
fn others(outcomes: &[(String, PtfsOutcome)]) -> impl Iterator<Item = &PtfsOutcome> {
    outcomes.iter().zip(&SCHEDULERS).skip(1).filter(|(_, scheduler)| scheduler.printed).map(|((_, outcome), _)| outcome)
}

fn advantage(outcomes: &[(String, PtfsOutcome)]) -> f64 {
    let best = others(outcomes).map(|outcome| outcome.makespan.seconds()).fold(f64::INFINITY, f64::min);
    best / outcomes[0].1.makespan.seconds() - 1.0
}

fn more_used(outcomes: &[(String, PtfsOutcome)]) -> f64 {
    outcomes[0].1.utilisation - others(outcomes).map(|outcome| outcome.utilisation).fold(0.0, f64::max)
}

fn point(cell: &GridCell<'_, (u32, u32, u64), Run>) -> Point {
    Point {
        gap: cell.mean(|(run, _, outcome)| outcome.makespan.seconds() / run.facts.seconds() - 1.0),
        makespan: cell.mean(|(.., outcome)| outcome.makespan.seconds()),
        utilisation: cell.mean(|(.., outcome)| outcome.utilisation),
        utilisation_by_speed: cell.mean(|(.., outcome)| outcome.utilisation_by_speed),
        flow_time: cell.mean(|(.., outcome)| outcome.flow_time),
        phases: [0, 1, 2].map(|phase| cell.mean(|(.., outcome)| outcome.phases[phase])),
    }
}
