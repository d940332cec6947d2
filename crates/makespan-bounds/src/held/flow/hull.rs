//! The runs of a task that have the least cost at some prices of time and area.

use super::super::Holders;

/// For each distinct task, the runs that have the least cost at some prices of time and area. These runs form the
/// lower convex hull of the points (time, area).
pub(super) struct Hulls {
    /// For each task, the index of its first run. The last entry is the total number of runs.
    begins: Vec<usize>,
    /// The times of the runs, in ascending order for each task.
    times: Vec<f64>,
    /// The areas of the runs, in descending order for each task.
    areas: Vec<f64>,
    /// For each run, a quotient: the area that the next run of the task saves, divided by the additional time of the
    /// next run. The values of a task are in descending order. The value of the last run of a task is zero.
    savings: Vec<f64>,
}

/// The time and the area of a run.
#[derive(Clone, Copy)]
pub(super) struct HullPoint {
    pub(super) time: f64,
    pub(super) area: f64,
}

impl Hulls {
    /// Builds the hulls. Areas are divided by the capacity. The runs of each task must be sorted by time. Takes O(r)
    /// for r runs.
    pub(super) fn new(holders: &Holders) -> Self {
        let rate = holders.rate as f64;
        let mut hulls = Self { begins: vec![0], times: Vec::new(), areas: Vec::new(), savings: Vec::new() };
        for row in &holders.rows {
            let from = hulls.times.len();
            for way in &holders.runs[row.runs.clone()] {
                let (time, area) = (way.time as f64, way.time as f64 * way.rate as f64 / rate);
                hulls.push(from, time, area);
            }
            hulls.begins.push(hulls.times.len());
        }
        hulls
    }

    fn push(&mut self, from: usize, time: f64, area: f64) {
        if self.areas[from..].last().is_some_and(|&last| area >= last) {
            return;
        }
        while self.times.len() > from {
            let last = self.times.len() - 1;
            let saving = (self.areas[last] - area) / (time - self.times[last]);
            if last == from || saving < self.savings[last - 1] {
                self.savings[last] = saving;
                break;
            }
            self.times.pop();
            self.areas.pop();
            self.savings.pop();
        }
        self.times.push(time);
        self.areas.push(area);
        self.savings.push(0.0);
    }

    /// Returns the run of a task with the least `through * time + price * area`, or `None` if the task has no run.
    /// Takes O(log r) for r runs of the task.
    pub(super) fn choose(&self, row: usize, through: f64, price: f64) -> Option<HullPoint> {
        let ways = self.begins[row]..self.begins[row + 1];
        if ways.is_empty() {
            return None;
        }
        let steps = &self.savings[ways.start..ways.end - 1];
        let at = ways.start + steps.partition_point(|saving| saving * price > through);
        Some(HullPoint { time: self.times[at], area: self.areas[at] })
    }

    /// Returns the least area over the runs of a task.
    pub(super) fn least_area(&self, row: usize) -> f64 {
        if self.begins[row] < self.begins[row + 1] { self.areas[self.begins[row + 1] - 1] } else { 0.0 }
    }
}
