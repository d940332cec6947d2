//! The free processors of a platform that only counts processors. Plans on such a platform reserve processors instead
//! of whole nodes.

use super::request::PartitionRequest;
use super::usage::{Hold, RunningUsage};
use crate::free_time::Rows;

/// Processors that are available in the same periods.
#[derive(Clone, Debug)]
pub struct ProcessorCell {
    /// Number of processors.
    pub processors: u32,
    /// The start and the end of each period in which the processors are unavailable.
    pub closed: Vec<(i64, i64)>,
}

/// The free processors over time.
#[derive(Clone, Debug)]
pub(super) struct ProcessorCounts {
    /// Number of processors of each cell.
    cells: Vec<u32>,
    /// The free processors of each cell, and then the free amounts of each resource. Running jobs end as assumed.
    rows: Rows<i64>,
    /// `rows` without the processors that the plans of the current cycle reserve.
    plan: Rows<i64>,
    known: KnownStarts,
}

/// Starts that were found earlier in a cycle. During a cycle, jobs are only added to the plan. So a job that requests at
/// least as much as an earlier job cannot start before the earlier job.
#[derive(Clone, Debug, Default)]
struct KnownStarts(Vec<KnownStart>);

/// A request for a number of processors during a time, and its first start.
#[derive(Clone, Copy, Debug)]
struct KnownStart {
    set: usize,
    cpus: u64,
    lasts: i64,
    start: i64,
}

impl KnownStarts {
    /// Returns true if the number of processors and the time determine a request completely.
    fn is_plain(shape: &PartitionRequest) -> bool {
        !shape.whole && shape.shares.is_empty() && shape.gres.is_empty()
    }

    /// Returns an instant before which a job cannot start.
    fn start(&self, shape: &PartitionRequest) -> i64 {
        let less = |one: &&KnownStart| one.cpus <= shape.cpus && one.lasts <= shape.lasts && one.set == shape.set;
        let all = if Self::is_plain(shape) { &self.0[..] } else { &[] };
        all.iter().filter(less).map(|one| one.start).max().unwrap_or(i64::MIN)
    }

    fn learn(&mut self, shape: &PartitionRequest, start: i64) {
        let &PartitionRequest { set, cpus, lasts, .. } = shape;
        if Self::is_plain(shape) {
            self.0.retain(|one| one.cpus < cpus || one.lasts < lasts || one.start > start || one.set != set);
            self.0.push(KnownStart { set, cpus, lasts, start });
        }
    }
}

impl ProcessorCounts {
    pub fn new(cells: &[ProcessorCell], resources: &[u64], from: i64) -> Self {
        let sizes: Vec<u32> = cells.iter().map(|cell| cell.processors).collect();
        let amounts = resources.iter().map(|&amount| i64::try_from(amount).unwrap_or(i64::MAX));
        let mut rows = Rows::new(from, sizes.iter().map(|&size| i64::from(size)).chain(amounts).collect(), 0);
        for (at, cell) in cells.iter().enumerate() {
            for &(start, end) in &cell.closed {
                rows.change(start, end, |left| left[at] -= i64::from(cell.processors));
            }
        }
        Self { cells: sizes, plan: rows.clone(), rows, known: KnownStarts::default() }
    }

    /// Discards the past.
    pub fn forget(&mut self, now: i64) {
        self.rows.forget(now);
    }

    /// Begins a cycle without plans.
    pub fn begin_plans(&mut self) {
        self.plan.clone_from(&self.rows);
        self.known = KnownStarts::default();
    }

    /// Returns the number of free processors at an instant.
    pub fn free(&self, now: i64) -> u64 {
        let row = self.rows.row(self.rows.step_at(now));
        row[..self.cells.len()].iter().map(|&count| count.max(0) as u64).sum()
    }

    /// Returns the number of processors that a job may use if these amounts are free.
    fn room(&self, shape: &PartitionRequest, row: &[i64]) -> u32 {
        let free: i64 = row[..self.cells.len()].iter().map(|&count| count.max(0)).sum();
        let all = u32::try_from(shape.cpus).unwrap_or(u32::MAX).max(1);
        if shape.whole && free < self.cells.iter().map(|&size| i64::from(size)).sum() {
            return 0;
        }
        let room = u32::try_from(free).unwrap_or(u32::MAX).min(all);
        shape.with_shares(room, |kind| row[self.cells.len() + kind].max(0) as u64)
    }

    fn fits(&self, shape: &PartitionRequest, row: &[i64]) -> bool {
        u64::from(self.room(shape, row)) >= shape.cpus.max(1)
    }

    /// Returns the amounts that a job of this shape can use from `now` on. If `heeds_plans` is true, plans reserve
    /// their processors.
    pub fn find(&self, shape: &PartitionRequest, now: i64, heeds_plans: bool) -> Option<Vec<Hold>> {
        if heeds_plans && self.known.start(shape) > now {
            return None;
        }
        let rows = if heeds_plans { &self.plan } else { &self.rows };
        let mut least = Vec::new();
        rows.least(rows.step_at(now), now.saturating_add(shape.lasts), &mut least);
        self.fits(shape, &least).then(|| vec![self.hold(shape, &least)])
    }

    /// Chooses the processors of a job. Cells with few free processors are used first.
    fn hold(&self, shape: &PartitionRequest, free: &[i64]) -> Hold {
        let own = u32::try_from(shape.cpus).unwrap_or(u32::MAX);
        let mut order: Vec<usize> = (0..self.cells.len()).collect();
        order.sort_by_key(|&cell| (free[cell], cell));
        let (mut cells, mut rest) = (vec![0; self.cells.len()], own);
        for cell in order {
            cells[cell] = rest.min(free[cell].max(0) as u32);
            rest -= cells[cell];
        }
        let gres = shape.shares.iter().map(|(kind, need)| (*kind as u16, need.share(own, own))).collect();
        let cpus = if shape.whole { self.cells.iter().sum() } else { own };
        Hold { site: 0, cpus, own, memory: 0, gres, cells }
    }

    /// Returns the amounts of each cell and of each resource.
    fn row(&self, hold: &Hold) -> Vec<i64> {
        let mut row = vec![0; self.rows.width()];
        let is_whole = hold.cpus > hold.own;
        for ((row, &size), &count) in row.iter_mut().zip(&self.cells).zip(&hold.cells) {
            *row = i64::from(if is_whole { size } else { count });
        }
        for &(kind, amount) in &hold.gres {
            row[self.cells.len() + usize::from(kind)] = i64::try_from(amount).unwrap_or(i64::MAX);
        }
        row
    }

    /// Subtracts the amounts that a running job holds.
    pub fn take(&mut self, running: &RunningUsage, now: i64) {
        let Some(hold) = running.holds.first() else { return };
        let row = self.row(hold);
        for rows in [&mut self.rows, &mut self.plan] {
            change(rows, (now, running.believed), &row, -1);
        }
    }

    /// Adds the amounts of a job that no longer runs.
    pub fn give_back(&mut self, running: &RunningUsage, now: i64) {
        if let Some(hold) = running.holds.first() {
            let row = self.row(hold);
            change(&mut self.rows, (now, running.believed), &row, 1);
        }
    }

    /// Returns the first instant from `from` to `latest` at which a job can start without delaying a plan.
    pub fn earliest(&mut self, shape: &PartitionRequest, from: i64, latest: i64) -> Option<i64> {
        let from = from.max(self.known.start(shape));
        if from > latest {
            return None;
        }
        let found = if let [_] = self.cells[..] {
            self.plan.earliest(from, shape.lasts, latest, |row| self.fits(shape, row))
        } else {
            let mut least = Vec::new();
            let mut is_start = |at: i64| {
                self.plan.least(self.plan.step_at(at), at.saturating_add(shape.lasts), &mut least);
                self.fits(shape, &least)
            };
            let later = self.plan.instants(from).take_while(|&at| at <= latest);
            std::iter::once(from).chain(later).find(|&at| is_start(at))
        };
        self.known.learn(shape, found.unwrap_or(i64::MAX));
        found
    }

    /// Reserves processors for a job.
    pub fn reserve(&mut self, shape: &PartitionRequest, from: i64, until: i64) {
        let mut least = Vec::new();
        self.plan.least(self.plan.step_at(from), from.saturating_add(shape.lasts), &mut least);
        let row = self.row(&self.hold(shape, &least));
        change(&mut self.plan, (from, until), &row, -1);
    }

    /// Returns the first instant after `from` at which a job with these amounts, which starts now, would delay another
    /// job or would lose a processor.
    pub fn free_until(&self, hold: &Hold, from: i64, heeds_plans: bool) -> i64 {
        let rows = if heeds_plans { &self.plan } else { &self.rows };
        let own = self.row(hold);
        let first = rows.step_at(from);
        let lacks = |step: &usize| rows.row(*step).iter().zip(&own).any(|(left, own)| *own > 0 && left < own);
        (first..rows.len()).find(lacks).map_or(i64::MAX, |step| if step == first { from } else { rows.begins(step) })
    }
}

fn change(rows: &mut Rows<i64>, (from, until): (i64, i64), row: &[i64], sign: i64) {
    rows.change(from, until, |left| left.iter_mut().zip(row).for_each(|(left, own)| *left += sign * own));
}
