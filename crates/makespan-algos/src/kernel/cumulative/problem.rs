//! An instance of pools in flat arrays. A pool is a resource of which only the amount matters.

use std::ops::Range;

use makespan_core::Instance;

use super::free::Base;
use super::word::{Fields, Word};
use crate::kernel::packing::Row;

/// One way to run a task: an allotment and its demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// Number of processors.
    pub processors: u32,
    /// Time, in units of the problem.
    pub time: i64,
    /// The demands for all scarce resources, in the fields of a word ([`super::word`]).
    pub(super) demand: u128,
    /// The index of the allotment among the allotments of the packing ([`crate::kernel::packing::Packing::choice`]).
    pub choice: u32,
}

/// Tasks and their demands. Every resource is one pool. [`CumulativeProblem::new`] creates a problem from a packing.
///
/// Tasks are numbered as in the instance. The tasks of a bag share one [`Row`]. Times are counted from the first
/// release. The unit of time is the greatest common divisor of all times in ticks.
#[derive(Clone, Debug)]
pub struct CumulativeProblem<'a> {
    pub(super) instance: &'a Instance,
    /// The number of ticks of a unit of time.
    pub(super) unit: i64,
    /// The instant 0, in ticks.
    pub(super) origin: i64,
    pub(super) fields: Fields,
    /// The free amounts of an empty schedule, from each instant on.
    pub(super) base: Vec<(i64, u128)>,
    /// For each task, the row of equal tasks that contains the task.
    pub(super) row_of: Vec<Row>,
    pub(super) rows: Vec<RowData>,
    /// The index of the first mode of each row of equal tasks, and finally the number of modes.
    pub(super) mode_begins: Vec<u32>,
    pub(super) modes: Vec<Mode>,
    /// The mode of each allotment of the packing. For an omitted allotment, this is a mode that is at least as good.
    pub(super) mode_of: Vec<Option<u32>>,
    /// The amounts of consumables that each mode uses up.
    pub(super) used_up: Vec<u64>,
    /// The available amount of each consumable.
    pub(super) stocks: Vec<u64>,
    pub(super) before: Adjacency,
    pub(super) behind: Adjacency,
    /// The rows of equal tasks in topological order.
    pub(super) order: Vec<Row>,
    /// For each row of equal tasks, the minimum time from the end of one of its tasks to the end of all successors.
    pub(super) tails: Vec<i64>,
    /// Upper bound on the makespan of every list.
    pub(super) horizon: i64,
}

/// The data of the equal tasks of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowData {
    /// The index of the first task of the row of equal tasks.
    pub first: u32,
    /// The number of tasks of the row of equal tasks.
    pub count: u32,
    pub release: i64,
}

/// The predecessors or successors of each row of equal tasks, in compressed form.
#[derive(Clone, Debug, Default)]
pub(super) struct Adjacency {
    pub begins: Vec<u32>,
    pub rows: Vec<Row>,
}

impl Adjacency {
    #[inline]
    pub fn of(&self, row: Row) -> &[Row] {
        &self.rows[self.begins[row.index()] as usize..self.begins[row.index() + 1] as usize]
    }
}

impl<'a> CumulativeProblem<'a> {
    /// Returns the instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// Returns the number of tasks. Each task of a bag is counted.
    pub fn tasks(&self) -> usize {
        self.row_of.len()
    }

    /// Returns all rows. The equal tasks of a bag share one row.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone + use<> {
        Row::first(self.rows.len())
    }

    /// Returns the row of equal tasks that contains a task.
    #[inline]
    pub fn row_of(&self, task: u32) -> Row {
        self.row_of[task as usize]
    }

    /// Returns the tasks of a row of equal tasks.
    pub fn tasks_of(&self, row: Row) -> Range<u32> {
        let row = &self.rows[row.index()];
        row.first..row.first + row.count
    }

    /// Returns the rows of equal tasks in topological order.
    pub fn order(&self) -> &[Row] {
        &self.order
    }

    /// Returns the predecessors of a row of equal tasks.
    #[inline]
    pub fn before(&self, row: Row) -> &[Row] {
        self.before.of(row)
    }

    /// Returns the successors of a row of equal tasks.
    #[inline]
    pub fn behind(&self, row: Row) -> &[Row] {
        self.behind.of(row)
    }

    /// Returns the release of the tasks of a row of equal tasks.
    #[inline]
    pub fn release(&self, row: Row) -> i64 {
        self.rows[row.index()].release
    }

    /// Returns the indices of the modes of a row of equal tasks, by increasing number of processors.
    #[inline]
    pub fn modes_of(&self, row: Row) -> Range<u32> {
        self.mode_begins[row.index()]..self.mode_begins[row.index() + 1]
    }

    /// Returns the mode with this index.
    #[inline]
    pub fn mode(&self, mode: u32) -> &Mode {
        &self.modes[mode as usize]
    }

    /// Returns the mode of an allotment of the packing. If the allotment was omitted, returns a mode that is at least
    /// as good. If the allotment never fits, for example because it uses up too much of a consumable, returns the first
    /// mode of the row of equal tasks.
    pub fn mode_of(&self, row: Row, choice: u32) -> u32 {
        self.mode_of[choice as usize].unwrap_or(self.mode_begins[row.index()])
    }

    /// Returns the number of modes of all tasks. Equal tasks share their modes.
    pub fn modes(&self) -> usize {
        self.modes.len()
    }

    /// Returns, for a row of equal tasks, the minimum time from the end of one of the tasks to the end of all
    /// successors.
    #[inline]
    pub fn tail(&self, row: Row) -> i64 {
        self.tails[row.index()]
    }

    /// Returns the amounts of consumables that a mode uses up.
    #[inline]
    pub fn used_up(&self, mode: u32) -> &[u64] {
        let kinds = self.stocks.len();
        &self.used_up[mode as usize * kinds..(mode as usize + 1) * kinds]
    }

    /// Returns the available amount of each consumable.
    pub fn stocks(&self) -> &[u64] {
        &self.stocks
    }

    /// Converts an instant of this problem to ticks.
    pub fn ticks(&self, at: i64) -> i64 {
        self.origin + at * self.unit
    }

    /// Returns the last instant of this problem that is not after `ticks`, or 0 if there is none.
    pub fn instant(&self, ticks: i64) -> i64 {
        (ticks.saturating_sub(self.origin) / self.unit).max(0)
    }

    /// Returns an upper bound on the makespan of every list.
    pub fn horizon(&self) -> i64 {
        self.horizon
    }

    /// Returns the largest fraction of a scarce resource that a mode holds, from 0 to 1.
    pub fn share(&self, mode: u32) -> f64 {
        let (demand, all) = (self.modes[mode as usize].demand, self.base[self.base.len() - 1].1);
        let share = |field| self.fields.amount(demand, field) as f64 / self.fields.amount(all, field).max(1) as f64;
        (0..self.fields.len()).map(share).fold(0.0, f64::max)
    }

    /// Returns whether the amounts of all resources fit into a word of 64 bits.
    pub(super) fn is_narrow(&self) -> bool {
        self.fields.bits() <= u64::BITS
    }

    /// Returns whether the times are short enough for one word of free amounts for each unit of time (`slots`).
    pub(super) fn is_short(&self) -> bool {
        /// Maximum mean number of slots for each task, and maximum number of slots in total.
        const MEAN: i64 = 64;
        const ALL: i64 = 1 << 16;
        let tasks = self.tasks().max(1) as i64;
        let latest = self.base[self.base.len() - 1].0;
        self.horizon <= ALL && (self.horizon - latest) / tasks <= MEAN
    }

    pub(super) fn base<W: Word>(&self) -> Base<W> {
        let guard = self.fields.guard();
        let steps = self.base.iter().map(|&(from, free)| (from, W::of(free | guard)));
        Base { steps: steps.collect(), guard: W::of(guard) }
    }

    pub(super) fn demands<W: Word>(&self) -> Vec<W> {
        self.modes.iter().map(|mode| W::of(mode.demand)).collect()
    }
}
