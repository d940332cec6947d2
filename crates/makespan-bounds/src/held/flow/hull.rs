//! What tasks would choose between a price of time and a price of area.

use super::super::Holders;

/// For each different task those ways to run it that are best at some prices: the lower convex hull of times and areas.
pub(super) struct Hulls {
    /// For each task where its ways begin, and where the last ones end.
    begins: Vec<usize>,
    /// Ascending times of a task.
    times: Vec<f64>,
    /// Descending areas of a task.
    areas: Vec<f64>,
    /// How much area a tick saves from each way to the next one of the task; descending, and zero after its last way.
    savings: Vec<f64>,
}

/// A way to run a task.
#[derive(Clone, Copy)]
pub(super) struct Chosen {
    pub(super) time: f64,
    pub(super) area: f64,
}

impl Hulls {
    /// Areas are over what there is in all. O(r) for r ways, which are in the order of their times.
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

    /// The way of least `through * time + price * area`; `None` where there is none. O(log r) for r ways of the task.
    pub(super) fn choose(&self, row: usize, through: f64, price: f64) -> Option<Chosen> {
        let ways = self.begins[row]..self.begins[row + 1];
        if ways.is_empty() {
            return None;
        }
        let steps = &self.savings[ways.start..ways.end - 1];
        let at = ways.start + steps.partition_point(|saving| saving * price > through);
        Some(Chosen { time: self.times[at], area: self.areas[at] })
    }

    /// The least area of a task.
    pub(super) fn least_area(&self, row: usize) -> f64 {
        if self.begins[row] < self.begins[row + 1] { self.areas[self.begins[row + 1] - 1] } else { 0.0 }
    }
}
