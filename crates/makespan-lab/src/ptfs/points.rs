//! Runs summed up by mean size, rate and scheduler.

use std::collections::BTreeMap;

use super::{Outcome, Run, SCHEDULERS};

/// A scheduler on the flows of one mean size and rate: means over them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Maxspan over its bound, less 1.
    pub gap: f64,
    /// Maxspan in seconds.
    pub maxspan: f64,
    /// The paper's utilisation.
    pub utilisation: f64,
    /// Nodes counted with their speed.
    pub utilisation_by_speed: f64,
    /// Mean time from release to end, in seconds.
    pub flow_time: f64,
    /// Parts of the time in saturation, the slide region and starvation.
    pub phases: [f64; 3],
}

/// The points by mean size, rate in millionths of the balance line, and position in [`SCHEDULERS`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points(BTreeMap<(u32, u64), Vec<Point>>);

impl Points {
    pub(super) fn of(runs: &[Run]) -> Self {
        let mut groups: BTreeMap<(u32, u64), Vec<&Run>> = BTreeMap::new();
        for run in runs {
            groups.entry((run.key.mean_size, run.key.rate)).or_default().push(run);
        }
        let all = |group: &Vec<&Run>| (0..SCHEDULERS.len()).map(|at| point(group, at)).collect();
        Self(groups.iter().map(|(&key, group)| (key, all(group))).collect())
    }

    #[cfg(test)]
    pub(super) fn synthetic(points: BTreeMap<(u32, u64), Vec<Point>>) -> Self {
        Self(points)
    }

    /// The mean sizes.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes: Vec<u32> = self.0.keys().map(|&(size, _)| size).collect();
        sizes.dedup();
        sizes
    }

    /// The points of one mean size: rate, and a point for each of [`SCHEDULERS`].
    pub fn of_size(&self, size: u32) -> impl Iterator<Item = (f64, &[Point])> {
        let rows = self.0.iter().filter(move |((at, _), _)| *at == size);
        rows.map(|((_, rate), points)| (*rate as f64 / 1e6, points.as_slice()))
    }
}

fn point(group: &[&Run], at: usize) -> Point {
    let mean = |of: &dyn Fn(&Run, &Outcome) -> f64| {
        group.iter().map(|run| of(run, &run.outcomes[at])).sum::<f64>() / group.len() as f64
    };
    Point {
        gap: mean(&|run, outcome| outcome.maxspan.seconds() / run.bound.seconds() - 1.0),
        maxspan: mean(&|_, outcome| outcome.maxspan.seconds()),
        utilisation: mean(&|_, outcome| outcome.utilisation),
        utilisation_by_speed: mean(&|_, outcome| outcome.utilisation_by_speed),
        flow_time: mean(&|_, outcome| outcome.flow_time),
        phases: [0, 1, 2].map(|phase| mean(&|_, outcome| outcome.phases[phase])),
    }
}
