//! The allotments that the search tries, in flat arrays.

use std::ops::Range;

use makespan_core::{Job, Profile};

/// Figures of the jobs as floats.
pub(super) struct Jobs {
    pub(super) weights: Vec<f64>,
    /// How many tasks each of them stands for.
    pub(super) tasks: Vec<f64>,
    pub(super) releases: Vec<f64>,
    /// Processors and time of each allotment of each job.
    pub(super) shapes: Vec<(f64, f64)>,
    /// Where the allotments of each job begin; one more than jobs.
    starts: Vec<usize>,
    /// The allotments of each job that are tried until the next refresh.
    active: Vec<Range<usize>>,
    /// Costs of one job's allotments, while it is refreshed.
    pub(super) costs: Vec<f64>,
}

/// Allotments within this of the least cost stay active.
const NEAR: f64 = 1.02;

impl Jobs {
    /// At most about `most` allotments a job, of geometric progression where there are more.
    pub(super) fn new<'a>(jobs: impl Iterator<Item = (&'a Job, f64)>, most: usize) -> Self {
        let mut figures = Self {
            weights: Vec::new(),
            tasks: Vec::new(),
            releases: Vec::new(),
            shapes: Vec::new(),
            starts: vec![0],
            active: Vec::new(),
            costs: Vec::new(),
        };
        for (job, tasks) in jobs {
            let start = figures.shapes.len();
            figures.weights.push(job.task_weight().millionths() as f64);
            figures.tasks.push(tasks);
            figures.releases.push(job.release.ticks() as f64);
            figures.shapes.extend(shapes(job.profile(), most));
            let end = figures.shapes.len();
            figures.starts.push(end);
            figures.active.push(start..end);
            figures.costs.resize(figures.costs.len().max(end - start), 0.0);
        }
        figures
    }

    pub(super) fn count(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn all(&self, job: usize) -> Range<usize> {
        self.starts[job]..self.starts[job + 1]
    }

    pub(super) fn active(&self, job: usize) -> Range<usize> {
        self.active[job].clone()
    }

    /// Keeps the range of allotments whose costs, just computed, are near the least.
    pub(super) fn activate(&mut self, job: usize, least: f64) {
        let range = self.all(job);
        let costs = &self.costs[..range.len()];
        let near = |cost: &f64| *cost <= least * NEAR;
        let first = costs.iter().position(near).unwrap_or(0);
        let last = costs.iter().rposition(near).unwrap_or(costs.len() - 1);
        self.active[job] = range.start + first..range.start + last + 1;
    }
}

/// Processors and times of allotments of which none has both fewer and a shorter time, nor less work and a shorter time.
fn shapes(profile: &Profile, most: usize) -> Vec<(f64, f64)> {
    let (first, last) = (profile.min_processors(), profile.max_processors());
    let ratio = (f64::from(last) / f64::from(first)).powf(1.0 / most.max(2) as f64);
    let all = (last - first) as usize <= most;
    let mut shapes: Vec<(f64, f64)> = Vec::new();
    let mut from = first;
    loop {
        let shape = (f64::from(from), profile.time(from).ticks() as f64);
        if shapes.last().is_none_or(|&(_, time)| shape.1 < time) {
            // Dominated by less work in less time.
            while shapes.last().is_some_and(|&(processors, time)| processors * time >= shape.0 * shape.1) {
                shapes.pop();
            }
            shapes.push(shape);
        }
        if from == last {
            return shapes;
        }
        let next = if all { from + 1 } else { (from + 1).max((f64::from(from) * ratio) as u32) };
        from = next.min(last);
    }
}
