//! The worst case slack rule. The keys of this rule depend on the running tasks.

use makespan_core::{Demand, ResourceKind};

use super::latest_finish;
use crate::kernel::packing::{Packing, Row};

/// Schedules tasks by the worst case slack rule. Returns the start of each task, indexed by task, or `None` if a task
/// never fits.
///
/// A task is a candidate if all its predecessors have ended and it fits now. Whenever a task ends or is released,
/// candidates start until there are none. The candidate with the least worst case slack starts first. If another
/// candidate D starts now, a candidate C may have to wait until some instant. Let t be the latest of these instants
/// over all D. The worst case slack of C is its latest start minus t.
///
/// Source: R. Kolisch, "Efficient priority rules for the resource-constrained project scheduling problem", J.
/// Operations Management 14, 1996, DOI 10.1016/0272-6963(95)00032-1. If slacks are equal, the candidate with the
/// earliest latest start comes first, and then the first candidate in the instance. Every resource must be one pool
/// that is never closed. Complexity: O(n w^2 k r) for n tasks, r resources, at most w candidates at a time, and at most
/// k running tasks.
pub fn worst_case_slack(packing: &Packing<'_>, choices: &[u32]) -> Option<Vec<i64>> {
    WorstCaseRun::new(packing, choices).run()
}

/// A running task: its end and its row of equal tasks.
type Running = (i64, Row);

struct WorstCaseRun<'p, 'a> {
    packing: &'p Packing<'a>,
    choices: &'p [u32],
    /// For each row (the equal tasks of a bag, or one task), the amount of each resource that a task holds. The first
    /// amount is the number of processors.
    held: Vec<Vec<u64>>,
    free: Vec<u64>,
    /// Whether each resource is returned at the end of a task. Consumables are not returned.
    comes_back: Vec<bool>,
    latest_start: Vec<f64>,
    /// For each row of equal tasks, the number of predecessors that have not ended.
    missing: Vec<u64>,
    /// For each row of equal tasks, the number of its tasks that have not started.
    waiting: Vec<u32>,
    running: Vec<Running>,
    starts: Vec<i64>,
    now: i64,
}

impl<'p, 'a> WorstCaseRun<'p, 'a> {
    fn new(packing: &'p Packing<'a>, choices: &'p [u32]) -> Self {
        let instance = packing.instance();
        let platform = instance.platform();
        let mut free = vec![u64::from(instance.processors())];
        let ids = (0..platform.resources().len()).map(|at| makespan_core::ResourceId(at as u16));
        free.extend(ids.map(|id| match platform.resource_of(id).kind {
            ResourceKind::OfNodes => u64::try_from(platform.total(id)).unwrap_or(u64::MAX),
            _ => packing.machines().ever_left(id),
        }));
        let kinds = platform.resources().iter().map(|resource| resource.kind != ResourceKind::Consumable);
        let held = |row: Row| {
            let processors = packing.choice(choices[row.index()]).processors;
            let mut held = vec![0; free.len()];
            held[0] = processors.into();
            for Demand { resource, need, .. } in packing.demands_of(row) {
                held[1 + resource.index()] = need.total(processors);
            }
            held
        };
        let finish = latest_finish(packing, choices);
        let start = |row: Row| finish[row.index()] - packing.fastest(choices[row.index()]) as f64;
        let waits = |row: Row| {
            let before = instance.incoming(packing.first_of(row));
            before.map(|edge| instance.equal_tasks(edge.from).len() as u64).sum()
        };
        Self {
            packing,
            choices,
            held: packing.rows().map(held).collect(),
            comes_back: [true].into_iter().chain(kinds).collect(),
            latest_start: packing.rows().map(start).collect(),
            missing: packing.rows().map(waits).collect(),
            waiting: packing.rows().map(|row| packing.count_of(row)).collect(),
            running: Vec::new(),
            starts: vec![0; instance.tasks() as usize],
            now: instance.first_release().ticks(),
            free,
        }
    }

    fn run(mut self) -> Option<Vec<i64>> {
        let mut left = self.starts.len();
        while left > 0 {
            while let Some(row) = self.chosen() {
                self.start(row);
                left -= 1;
            }
            if left > 0 {
                self.advance()?;
            }
        }
        Some(self.starts)
    }

    fn time(&self, row: Row) -> i64 {
        self.packing.fastest(self.choices[row.index()])
    }

    /// Returns whether the predecessors and the release of a row of equal tasks allow a task of the row to start.
    fn is_ready(&self, row: Row) -> bool {
        let at = row.index();
        self.missing[at] == 0 && self.waiting[at] > 0 && self.packing.release_of(row) <= self.now
    }

    fn fits(&self, row: Row, free: &[u64]) -> bool {
        self.held[row.index()].iter().zip(free).all(|(held, free)| held <= free)
    }

    /// Returns the row of equal tasks that contains the next candidate to start.
    fn chosen(&self) -> Option<Row> {
        let can = |row: &Row| self.is_ready(*row) && self.fits(*row, &self.free);
        let rows: Vec<Row> = self.packing.rows().filter(can).collect();
        let slack = |row: Row| {
            // If several tasks of a bag wait, they are separate candidates.
            let others = rows.iter().filter(|&&other| other != row || self.waiting[row.index()] > 1);
            let latest = others.map(|&other| self.earliest_beside(row, other)).max().unwrap_or(self.now);
            self.latest_start[row.index()] - latest as f64
        };
        let key = |row: Row| (slack(row), self.latest_start[row.index()], row);
        let keys = rows.iter().map(|&row| key(row));
        keys.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2))).map(|key| key.2)
    }

    /// Returns the first instant at which a task of `row` fits if a task of `other` starts now. If the task of `row`
    /// never fits, returns the end of all running tasks.
    fn earliest_beside(&self, row: Row, other: Row) -> i64 {
        let mut free: Vec<u64> =
            self.free.iter().zip(&self.held[other.index()]).map(|(free, held)| free - held).collect();
        if self.fits(row, &free) {
            return self.now;
        }
        let mut ends = self.running.clone();
        ends.push((self.now + self.time(other), other));
        ends.sort_unstable();
        for &(end, ended) in &ends {
            self.give_back(ended, &mut free);
            if self.fits(row, &free) {
                return end;
            }
        }
        ends.last().map_or(self.now, |last| last.0)
    }

    fn give_back(&self, row: Row, free: &mut [u64]) {
        for ((free, held), comes_back) in free.iter_mut().zip(&self.held[row.index()]).zip(&self.comes_back) {
            *free += if *comes_back { *held } else { 0 };
        }
    }

    fn start(&mut self, row: Row) {
        let at = row.index();
        self.free.iter_mut().zip(&self.held[at]).for_each(|(free, held)| *free -= held);
        let task = self.packing.first_of(row).index() + (self.packing.count_of(row) - self.waiting[at]) as usize;
        self.waiting[at] -= 1;
        self.starts[task] = self.now;
        self.running.push((self.now + self.time(row), row));
    }

    /// Advances to the next end or release.
    fn advance(&mut self) -> Option<()> {
        let packing = self.packing;
        let releases = packing.rows().filter(|row| self.waiting[row.index()] > 0).map(|row| packing.release_of(row));
        let instants = self.running.iter().map(|running| running.0).chain(releases);
        self.now = instants.filter(|&at| at > self.now).min()?;
        let (ended, runs): (Vec<Running>, Vec<Running>) =
            self.running.iter().partition(|running| running.0 <= self.now);
        self.running = runs;
        let mut free = std::mem::take(&mut self.free);
        for (_, row) in ended {
            self.give_back(row, &mut free);
            for edge in packing.instance().outgoing(packing.first_of(row)) {
                self.missing[packing.row_of(edge.to).index()] -= 1;
            }
        }
        self.free = free;
        Some(())
    }
}
