//! The first phase of CPA (critical path and area): chooses allotments for graphs of moldable tasks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::packing::{Packing, Row};

/// The limits of the first phase of CPA.
#[derive(Clone, Copy, Debug)]
pub struct CpaLimits {
    /// Factor by which the phase multiplies the run times on the fastest processors.
    pub slower: f64,
    /// Number of processors by which the area is divided. The phase ends when the critical path is at most the
    /// quotient.
    pub processors: f64,
    /// Maximum number of processors of a task.
    pub most: u32,
    /// Maximum number of processors that all tasks of a precedence level use together. Tasks with their smallest
    /// allotments may exceed this maximum.
    pub of_level: Option<u64>,
}

/// Returns a choice (the index of an allotment) for each row. A row stands for one task or for the equal tasks of a
/// bag.
///
/// At first, each row has its smallest allotment. As long as the critical path is longer than the area divided by
/// `limits.processors`, one row on this path gets its next allotment. Let `p` be the allotment of a row, `q` its next
/// allotment, and `t` its run time. The gain of the row is `t(p) / p - t(q) / q`. The row with the largest gain is
/// chosen.
///
/// Source: A. Radulescu, A. van Gemund, ICPP 2001, DOI 10.1109/ICPP.2001.952048, section 3. The limit on levels is
/// from S. Bansal, P. Kumar, K. Singh, Parallel Computing 32, 2006, DOI 10.1016/j.parco.2006.08.004. Complexity: each
/// change of an allotment takes O(n + e) for n tasks with e edges, and less if the task has few predecessors.
pub fn allotments(packing: &Packing<'_>, limits: &CpaLimits) -> Vec<u32> {
    let mut growing = AllotmentState::new(packing, limits.slower);
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
        let fits = |growing: &AllotmentState<'_, '_>, row: Row, next: u32| {
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

/// Returns, for each row of equal tasks, the maximum number of tasks before the row on a path that ends at the row.
fn depths(packing: &Packing<'_>) -> Vec<u32> {
    let instance = packing.instance();
    let mut depths = vec![0; packing.rows().len()];
    for &row in packing.order() {
        let before = instance.incoming(packing.first_of(row)).map(|edge| depths[packing.row_of(edge.from).index()] + 1);
        depths[row.index()] = before.max().unwrap_or(0);
    }
    depths
}

/// The current allotments, and the longest paths for these allotments.
struct AllotmentState<'p, 'a> {
    packing: &'p Packing<'a>,
    slower: f64,
    choices: Vec<u32>,
    /// The bottom level of each row of equal tasks: the length of the longest path from the start of its task to the
    /// end of the graph, with mean transfer times.
    levels: Vec<f64>,
    /// The position of each row of equal tasks in the topological order.
    places: Vec<u32>,
    /// The rows of equal tasks without predecessors, by decreasing bottom level. A stored bottom level may be too
    /// large.
    first: BinaryHeap<(Level, Reverse<Row>)>,
    /// Positions of rows of equal tasks with bottom levels that may have changed.
    changed: BinaryHeap<u32>,
}

/// The bits of a bottom level. For nonnegative numbers, the bits sort like the numbers.
type Level = u64;

impl<'p, 'a> AllotmentState<'p, 'a> {
    fn new(packing: &'p Packing<'a>, slower: f64) -> Self {
        let choices = packing.fewest();
        let levels = packing.ranks_by(|row| slower * packing.fastest(choices[row.index()]) as f64);
        let mut places = vec![0; levels.len()];
        packing.order().iter().zip(0..).for_each(|(row, place)| places[row.index()] = place);
        let waits = |row: &Row| packing.instance().incoming_edges(packing.first_of(*row)).is_empty();
        let first = packing.rows().filter(waits).map(|row| (levels[row.index()].to_bits(), Reverse(row))).collect();
        Self { packing, slower, choices, levels, places, first, changed: BinaryHeap::new() }
    }

    /// Returns the time of a choice.
    fn time(&self, choice: u32) -> f64 {
        self.slower * self.packing.fastest(choice) as f64
    }

    /// Returns the number of processors that all tasks of a row of equal tasks use together.
    fn processors(&self, row: Row, choice: u32) -> u64 {
        u64::from(self.packing.choice(choice).processors) * u64::from(self.packing.count_of(row))
    }

    /// Returns the area of all tasks of a row of equal tasks: processors times time.
    fn area(&self, row: Row, choice: u32) -> f64 {
        self.processors(row, choice) as f64 * self.time(choice)
    }

    /// Returns the row of equal tasks with which a critical path begins.
    fn longest(&mut self) -> Option<Row> {
        while let Some(mut top) = self.first.peek_mut() {
            let (level, Reverse(row)) = *top;
            let present = self.levels[row.index()].to_bits();
            if level == present {
                return Some(row);
            }
            // Correct the entry at the top. Stored levels are never too small, so a correct entry at the top is the
            // largest.
            *top = (present, Reverse(row));
        }
        None
    }

    /// Returns the row of equal tasks with the largest gain on the critical path that begins with `first`. Among equal
    /// gains, the earliest row on the path is returned.
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

    /// Returns the successors of a row of equal tasks, each with the mean time of the transfer to it.
    fn behind(&self, row: Row) -> impl Iterator<Item = (f64, Row)> {
        let packing = self.packing;
        let instance = packing.instance();
        instance.outgoing_edges(packing.first_of(row)).iter().map(move |&edge| {
            let transfer = packing.transfers().map_or(0.0, |transfers| transfers.mean(edge));
            (transfer, packing.row_of(instance.edges()[edge as usize].to))
        })
    }

    /// Gives a row of equal tasks its next allotment, and updates the bottom levels.
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
