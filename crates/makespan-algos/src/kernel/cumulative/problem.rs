//! An instance in flat arrays.

use std::ops::Range;

use makespan_core::Instance;

use super::free::Base;
use super::word::{Fields, Word};
use crate::kernel::packing::Row;

/// One way to carry out a task: an allotment with what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// How many processors.
    pub processors: u32,
    /// In units of time of the problem.
    pub time: i64,
    /// What it holds of everything that can be scarce, in the fields of a word ([`super::word`]).
    pub(super) demand: u128,
    /// The position of the allotment among the choices of the packing ([`crate::kernel::packing::Packing::choice`]).
    pub choice: u32,
}

/// Tasks and what they hold, where every resource is one pool. Made by [`CumulativeProblem::new`].
///
/// Tasks are numbered as in the instance; those of a bag have one [`Row`]. Times are in units from the first release on, the
/// greatest common divisor of all times in ticks.
#[derive(Clone, Debug)]
pub struct CumulativeProblem<'a> {
    pub(super) instance: &'a Instance,
    /// Ticks a unit of time, and the instant 0 in ticks.
    pub(super) unit: i64,
    pub(super) origin: i64,
    pub(super) fields: Fields,
    /// Free amounts when nothing is placed, from each instant on.
    pub(super) base: Vec<(i64, u128)>,
    /// For each task its row.
    pub(super) row_of: Vec<Row>,
    pub(super) rows: Vec<RowData>,
    /// For each row where its modes begin; one more than rows.
    pub(super) mode_begins: Vec<u32>,
    pub(super) modes: Vec<Mode>,
    /// For each choice of the packing a mode that is as good in all respects, if there is one.
    pub(super) mode_of: Vec<Option<u32>>,
    /// What each mode uses up of each consumable, and what there is.
    pub(super) used_up: Vec<u64>,
    pub(super) stocks: Vec<u64>,
    pub(super) before: Adjacency,
    pub(super) behind: Adjacency,
    /// Rows, each after all that it waits for.
    pub(super) order: Vec<Row>,
    /// For each row the shortest time from the end of its tasks to the end of all that waits for it.
    pub(super) tails: Vec<i64>,
    /// No list takes longer.
    pub(super) horizon: i64,
}

/// What is the same for all equal tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowData {
    /// The number of the first task, and how many there are.
    pub first: u32,
    pub count: u32,
    pub release: i64,
}

/// For each row some others, in compressed form.
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
    /// The instance.
    pub fn instance(&self) -> &'a Instance {
        self.instance
    }

    /// How many tasks there are, those of bags counted.
    pub fn tasks(&self) -> usize {
        self.row_of.len()
    }

    /// All rows: the different tasks.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row> + ExactSizeIterator + Clone + use<> {
        Row::first(self.rows.len())
    }

    /// The row of a task.
    #[inline]
    pub fn row_of(&self, task: u32) -> Row {
        self.row_of[task as usize]
    }

    /// The tasks of a row.
    pub fn tasks_of(&self, row: Row) -> Range<u32> {
        let row = &self.rows[row.index()];
        row.first..row.first + row.count
    }

    /// Rows, each after all that it waits for.
    pub fn order(&self) -> &[Row] {
        &self.order
    }

    /// The rows that a row waits for.
    #[inline]
    pub fn before(&self, row: Row) -> &[Row] {
        self.before.of(row)
    }

    /// The rows that wait for a row.
    #[inline]
    pub fn behind(&self, row: Row) -> &[Row] {
        self.behind.of(row)
    }

    /// When the tasks of a row are released.
    #[inline]
    pub fn release(&self, row: Row) -> i64 {
        self.rows[row.index()].release
    }

    /// The numbers of the modes of a row, by rising processors.
    #[inline]
    pub fn modes_of(&self, row: Row) -> Range<u32> {
        self.mode_begins[row.index()]..self.mode_begins[row.index() + 1]
    }

    /// A mode, by its number.
    #[inline]
    pub fn mode(&self, mode: u32) -> &Mode {
        &self.modes[mode as usize]
    }

    /// The mode of a choice of the packing; of one that is left out a mode that is as good in all respects, or the first of the row
    /// where nothing that uses up as much can be part of a plan.
    pub fn mode_of(&self, row: Row, choice: u32) -> u32 {
        self.mode_of[choice as usize].unwrap_or(self.mode_begins[row.index()])
    }

    /// How many modes all rows have together.
    pub fn modes(&self) -> usize {
        self.modes.len()
    }

    /// The shortest time from the end of the tasks of a row to the end of all that waits for it.
    #[inline]
    pub fn tail(&self, row: Row) -> i64 {
        self.tails[row.index()]
    }

    /// What a mode uses up of each consumable.
    #[inline]
    pub fn used_up(&self, mode: u32) -> &[u64] {
        let kinds = self.stocks.len();
        &self.used_up[mode as usize * kinds..(mode as usize + 1) * kinds]
    }

    /// How much there is of each consumable.
    pub fn stocks(&self) -> &[u64] {
        &self.stocks
    }

    /// An instant in ticks.
    pub fn ticks(&self, at: i64) -> i64 {
        self.origin + at * self.unit
    }

    /// The last instant that is not after these ticks, at least 0.
    pub fn instant(&self, ticks: i64) -> i64 {
        (ticks.saturating_sub(self.origin) / self.unit).max(0)
    }

    /// No list takes longer than this.
    pub fn horizon(&self) -> i64 {
        self.horizon
    }

    /// The largest share of anything scarce that a mode holds, from 0 to 1.
    pub fn share(&self, mode: u32) -> f64 {
        let (demand, all) = (self.modes[mode as usize].demand, self.base[self.base.len() - 1].1);
        let share = |field| self.fields.amount(demand, field) as f64 / self.fields.amount(all, field).max(1) as f64;
        (0..self.fields.len()).map(share).fold(0.0, f64::max)
    }

    /// Whether amounts fit into words of 64 bits.
    pub(super) fn is_narrow(&self) -> bool {
        self.fields.bits() <= u64::BITS
    }

    /// Whether times are short enough for slots.
    pub(super) fn is_short(&self) -> bool {
        /// Slots that a task may hold on average, and all slots.
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
