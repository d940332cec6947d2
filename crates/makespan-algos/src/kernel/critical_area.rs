//! Allotments of graphs of moldable tasks by their critical path and their area: the first phase of CPA.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::packing::{Packing, Row};

/// Where the first phase of CPA ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many times as long tasks take as on the fastest processors.
    pub slower: f64,
    /// The area is divided by so many processors; the phase ends when the critical path is no longer than that.
    pub processors: f64,
    /// No task gets more.
    pub most: u32,
    /// All tasks of one precedence level together get at most so many, once each has its fewest.
    pub of_level: Option<u64>,
}

/// Choices for all rows. Each begins with its fewest processors. While the critical path is longer than the mean area, the task on
/// it grows that gains most: `t(p) / p - t(q) / q` is largest, where `q` is its next allotment above `p`.
///
/// Source: A. Radulescu, A. van Gemund, ICPP 2001, DOI 10.1109/ICPP.2001.952048, section 3; the limit on levels is that of
/// S. Bansal, P. Kumar, K. Singh, Parallel Computing 32, 2006, DOI 10.1016/j.parco.2006.08.004.
/// O(n + e) for each allotment that grows, of n tasks with e edges, and less where few come before a task.
pub fn allotments(packing: &Packing<'_>, limits: &Limits) -> Vec<u32> {
    let mut growing = Growing::new(packing, limits.slower);
    let depths = depths(packing);
    let mut in_levels = vec![0; 1 + depths.iter().copied().max().unwrap_or(0) as usize];
    for row in packing.rows() {
        in_levels[depths[row.index()] as usize] += growing.processors(row, growing.choices[row.index()]);
    }
    let mut area: f64 = packing.rows().map(|row| growing.area(row, growing.choices[row.index()])).sum();
    while let Some(first) = growing.longest() {
        if growing.levels[first.index()] <= area / limits.processors {
            break;
        }
        let fits = |growing: &Growing<'_, '_>, row: Row, next: u32| {
            let more = growing.processors(row, next) - growing.processors(row, growing.choices[row.index()]);
            let in_level = in_levels[depths[row.index()] as usize];
            packing.choice(next).processors <= limits.most && limits.of_level.is_none_or(|most| in_level + more <= most)
        };
        let Some(row) = growing.best_on_path(first, fits) else { break };
        let old = growing.choices[row.index()];
        in_levels[depths[row.index()] as usize] += growing.processors(row, old + 1) - growing.processors(row, old);
        area += growing.area(row, old + 1) - growing.area(row, old);
        growing.grow(row);
    }
    growing.choices
}

/// For each row how many tasks come before it on the path that has most of them.
fn depths(packing: &Packing<'_>) -> Vec<u32> {
    let instance = packing.instance();
    let mut depths = vec![0; packing.rows().len()];
    for &row in packing.order() {
        let before = instance.incoming(packing.first_of(row)).map(|edge| depths[packing.row_of(edge.from).index()] + 1);
        depths[row.index()] = before.max().unwrap_or(0);
    }
    depths
}

/// Allotments that grow, with the longest paths kept up to date.
struct Growing<'p, 'a> {
    packing: &'p Packing<'a>,
    slower: f64,
    choices: Vec<u32>,
    /// For each row its bottom level: the longest path from its start, with the mean times of data on their way.
    levels: Vec<f64>,
    /// For each row its place in the order.
    places: Vec<u32>,
    /// The rows that wait for nothing by falling bottom level, which may have fallen since.
    first: BinaryHeap<(Level, Reverse<Row>)>,
    /// Places whose levels may have changed.
    changed: BinaryHeap<u32>,
}

/// A bottom level in the order of its bits, which for numbers from zero on is that of the numbers.
type Level = u64;

impl<'p, 'a> Growing<'p, 'a> {
    fn new(packing: &'p Packing<'a>, slower: f64) -> Self {
        let choices = packing.fewest();
        let levels = packing.ranks_by(|row| slower * packing.fastest(choices[row.index()]) as f64);
        let mut places = vec![0; levels.len()];
        packing.order().iter().zip(0..).for_each(|(row, place)| places[row.index()] = place);
        let waits = |row: &Row| packing.instance().incoming_edges(packing.first_of(*row)).is_empty();
        let first = packing.rows().filter(waits).map(|row| (levels[row.index()].to_bits(), Reverse(row))).collect();
        Self { packing, slower, choices, levels, places, first, changed: BinaryHeap::new() }
    }

    /// How long a choice takes.
    fn time(&self, choice: u32) -> f64 {
        self.slower * self.packing.fastest(choice) as f64
    }

    /// The processors that all tasks of a row have together.
    fn processors(&self, row: Row, choice: u32) -> u64 {
        u64::from(self.packing.choice(choice).processors) * u64::from(self.packing.count_of(row))
    }

    /// Processors times time of all tasks of a row.
    fn area(&self, row: Row, choice: u32) -> f64 {
        self.processors(row, choice) as f64 * self.time(choice)
    }

    /// The first row of a critical path.
    fn longest(&mut self) -> Option<Row> {
        while let Some(mut top) = self.first.peek_mut() {
            let (level, Reverse(row)) = *top;
            let present = self.levels[row.index()].to_bits();
            if level == present {
                return Some(row);
            }
            // Levels only fall, so that none is missed.
            *top = (present, Reverse(row));
        }
        None
    }

    /// The row of the critical path from here whose next allotment gains most, the first of several.
    fn best_on_path(&self, first: Row, fits: impl Fn(&Self, Row, u32) -> bool) -> Option<Row> {
        let packing = self.packing;
        let each = |choice: u32| self.time(choice) / f64::from(packing.choice(choice).processors);
        let mut best: Option<(f64, Row)> = None;
        let mut at = Some(first);
        while let Some(row) = at {
            let choice = self.choices[row.index()];
            if choice + 1 < packing.choices_of(row).end && fits(self, row, choice + 1) {
                let gain = each(choice) - each(choice + 1);
                if gain > 0.0 && best.is_none_or(|best| gain > best.0) {
                    best = Some((gain, row));
                }
            }
            at = None;
            let mut longest = f64::NEG_INFINITY;
            for (transfer, next) in self.behind(row) {
                if transfer + self.levels[next.index()] > longest {
                    (longest, at) = (transfer + self.levels[next.index()], Some(next));
                }
            }
        }
        best.map(|(_, row)| row)
    }

    /// What waits for a row, each with the mean time of the data on their way.
    fn behind(&self, row: Row) -> impl Iterator<Item = (f64, Row)> {
        let packing = self.packing;
        let instance = packing.instance();
        instance.outgoing_edges(packing.first_of(row)).iter().map(move |&edge| {
            let transfer = packing.transfers().map_or(0.0, |transfers| transfers.mean(edge));
            (transfer, packing.row_of(instance.edges()[edge as usize].to))
        })
    }

    /// Gives a row its next allotment.
    fn grow(&mut self, row: Row) {
        self.choices[row.index()] += 1;
        self.changed.push(self.places[row.index()]);
        while let Some(place) = self.changed.pop() {
            while self.changed.peek() == Some(&place) {
                self.changed.pop();
            }
            let row = self.packing.order()[place as usize];
            let behind = self.behind(row).map(|(transfer, next)| transfer + self.levels[next.index()]);
            let own = self.time(self.choices[row.index()]);
            let level = own + behind.fold(0.0, f64::max);
            if level.to_bits() != self.levels[row.index()].to_bits() {
                self.levels[row.index()] = level;
                let before = self.packing.instance().incoming(self.packing.first_of(row));
                self.changed.extend(before.map(|edge| self.places[self.packing.row_of(edge.from).index()]));
            }
        }
    }
}
